"""The files below a source's location: hidden ones do not count, a folder that cannot be read is an error."""

from __future__ import annotations

import os
from pathlib import Path

from ingest.errors import SourceUnreadable


def list_files(location: Path) -> list[Path]:
    """Return every file that is not hidden, nor in a hidden folder, in order; `location` may be one file.

    Raises SourceUnreadable where a folder cannot be listed: a silent skip would lose charges.
    """
    if location.is_file():
        return [location]
    found: list[Path] = []
    for folder, folders, names in os.walk(location, onerror=_refuse, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(folder, name) for name in names if not name.startswith(".")]
    return sorted(path for path in found if path.is_file())


def _refuse(error: OSError) -> None:
    """Turn the operating system's refusal into the error of this layer."""
    raise SourceUnreadable(
        f"{error.filename} cannot be listed ({error.strerror})", hint="check the owner and mode of that folder"
    ) from error
