"""What the house tests share: the packages of the house and the files that git would commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("overrun", "ingest", "analysis", "alerts", "sql")


def committed_files() -> list[Path]:
    """Return the files that git has or would add, relative to the root; skip outside a git work tree."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode != 0:
        pytest.skip("not a git work tree, so there is no telling what is ignored")
    names = (Path(name) for name in listing.stdout.split("\0") if name)
    return sorted(name for name in set(names) if (ROOT / name).is_file())


def package_files(suffix: str) -> list[Path]:
    """Return the committed files of the packages that end in `suffix`, relative to the root."""
    return [name for name in committed_files() if name.parts[0] in PACKAGES and name.suffix == suffix]
