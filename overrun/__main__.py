"""`python -m overrun`."""

from __future__ import annotations

import sys

from overrun.cli import main

sys.exit(main())
