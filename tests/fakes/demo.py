"""The demo, made once for all tests that look at it, also where several processes run them."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[2]
LEFT = "left of a demo that was killed"


def demo_folder(factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds `demo/`, and in `shown.txt` what making it printed. Not to be changed by a test."""
    base = factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    folder = shared / "demo-of-all"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "shown.txt").exists():
            _leave_an_interrupted_demo(folder / "demo")
            done = subprocess.run(
                [sys.executable, "-m", "overrun", "demo"],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                check=True,
            )
            (folder / "shown.txt").write_text(done.stdout, encoding="utf-8")
    return folder


def _leave_an_interrupted_demo(folder: Path) -> None:
    """Leave what makes a demo fail that does not clear its own folder first, and a file of somebody's."""
    folder.mkdir(exist_ok=True)
    for name in (".overrun-demo", "state.sqlite", "warehouse.duckdb", "notes.txt"):
        (folder / name).write_text(LEFT, encoding="utf-8")
