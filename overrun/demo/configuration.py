"""The demo's configuration: what `overrun demo` writes as `demo/overrun.toml`, above its `exports/`.

It has no channel and no route, so that nothing leaves the machine and each demo night ends without an undelivered
message. The limits are set against the spend that `exports` makes up: on the morning of 19 November 2026 `vision`
and `nlp` are past 80 %, and one day later `vision` is past 100 %.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from sql.files import make_directory, write_text

if TYPE_CHECKING:
    from pathlib import Path

EXPORTS = PurePosixPath("exports")
"""Where the configuration expects the exports, relative to its own folder."""

CONFIGURATION = """\
# Acme, an invented company that trains and serves models on AWS and GCP. `overrun demo` writes this file.
# Where money goes that no rule, tag or account assigns is shown as "unattributed".

[[source]]
name = "aws-main"
kind = "aws-export"                       # a CUR 2.0 data export with its manifests
location = "exports/aws/acme"

[[source]]
name = "gcp-main"
kind = "gcp-export"                       # the detailed usage cost export, one NDJSON file per invoice month
location = "exports/gcp/detailed"

[attribution]
project_tags = ["project"]
team_tags = ["team"]
# Nothing is tagged in these; whatever runs there belongs to one project.
accounts = { "555555555555" = "data-lake", "acme-robotics-sim" = "simulator" }

# Experiments carry a project tag of their own.
[[attribution.rule]]
project = "detector"
match = { tag = { project = "detector-*" } }

[[attribution.rule]]
project = "simulator"
match = { tag = { app = ["gazebo", "isaac-*"] } }

# What runs for everybody in the shared account is platform's, whoever started it.
[[attribution.rule]]
team = "platform"
match = { tag = { environment = "shared" }, account = "6666*" }

[[team]]
name = "vision"
projects = ["detector", "segmenter"]

[[team]]
name = "nlp"
projects = ["chat-assistant", "embeddings", "ranker"]

[[team]]
name = "robotics"
projects = ["grasping", "simulator"]

[[team]]
name = "platform"
projects = ["data-lake", "monitoring"]

[[budget]]
id = "vision-monthly"
measure = "cost"
limit = { amount = "30000", currency = "USD" }
scope = { team = ["vision"] }
period = { every = "month" }
thresholds = ["80%", "100%"]

[[budget]]
id = "nlp-monthly"
measure = "cost"
limit = { amount = "46000", currency = "USD" }
scope = { team = ["nlp"] }
period = { every = "month" }
thresholds = ["80%", "100%"]

[[budget]]
id = "robotics-monthly"
measure = "cost"
limit = { amount = "38000", currency = "USD" }
scope = { team = ["robotics"] }
period = { every = "month" }
thresholds = ["80%", "100%"]

[[budget]]
id = "platform-monthly"
measure = "cost"
limit = { amount = "30000", currency = "USD" }
scope = { team = ["platform"] }
period = { every = "month" }
thresholds = ["80%", "100%"]

[[budget]]
id = "chat-assistant-monthly"
measure = "cost"
limit = { amount = "35000", currency = "USD" }
scope = { project = ["chat-assistant"] }
period = { every = "month" }
thresholds = ["80%", "100%"]
"""


def write_configuration(path: Path) -> None:
    """Write the demo's configuration to `path`, replacing what stands there."""
    make_directory(path.parent)
    write_text(path, CONFIGURATION)
