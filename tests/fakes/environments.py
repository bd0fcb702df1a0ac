"""Tools of others that need an interpreter or packages of their own, installed apart below `.cache/`, once.

Called by `tests/conformance`; the network is used only to install, through pip as it is set up.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Unavailable(Exception):
    """A tool cannot be had on this machine; the text says why."""


def site_packages(lock: Path) -> Path:
    """Return the site-packages of an environment with just what `lock` pins, made where it is missing.

    Raises Unavailable without Python 3.12 or newer, or where pip cannot install.
    """
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    place = ROOT / ".cache" / f"{lock.stem}-{digest}"
    if not (place / "installed").is_file():
        _install(lock, place)
    return next((place / "lib").glob("python*/site-packages"))


def program(packages: Path, name: str) -> Path:
    """Return a program of the environment that `packages` belongs to."""
    return packages.parents[2] / "bin" / name


def _install(lock: Path, place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(exist_ok=True)
    commands: tuple[list[str | Path], ...] = (
        [_interpreter(), "-m", "venv", place],
        [place / "bin" / "python", "-m", "pip", "install", "-q", "--no-deps", "--require-hashes", "-r", lock],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip() or "no reason given").splitlines()[-1]
            raise Unavailable(f"{lock.stem} cannot be installed: {last}")
    (place / "installed").touch()


def _interpreter() -> Path:
    """Return the first Python 3.12 or newer that starts."""
    for candidate in _candidates():
        check: list[str | Path] = [candidate, "-c", "import sys, venv; sys.exit(sys.version_info < (3, 12))"]
        if subprocess.run(check, capture_output=True, check=False).returncode == 0:
            return candidate
    raise Unavailable("there is no Python 3.12 or newer; PYTHON312=/path/to/python3.12 names one")


def _candidates() -> Iterator[Path]:
    if "PYTHON312" in os.environ:
        yield Path(os.environ["PYTHON312"])
    names = ("python3.12", "python3.13", "python3.14")
    yield from (Path(found) for name in names if (found := shutil.which(name)))
    # A shim of pyenv on the PATH starts only the versions that are switched on; the others lie beside them.
    shims = (Path(found) for name in names if (found := shutil.which(name)) and Path(found).parent.name == "shims")
    for shim in shims:
        yield from sorted((shim.parent.parent / "versions").glob(f"{shim.name.removeprefix('python')}.*/bin/python"))
