"""Durable file operations: the only ones by which the product changes files that outlive a night.

Each is a waypoint. A file appears whole or not at all: it is written under a temporary name in the same
directory (`TEMPORARY_MARK` in it), synced, then renamed, then its directory is synced.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sql.copying import copy_whole
from sql.errors import DirectoryUnwritable, DiskFull, WarehouseError
from sql.waypoints import waypoint

TEMPORARY_MARK = ".overrun-tmp"
_FULL = {errno.ENOSPC, errno.EDQUOT}
_NO_LINKS = {errno.EPERM, errno.EXDEV, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST}


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into the errors of this layer, naming `path`."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFull(
                f"the disk is full while writing {path}", hint="free some space and run again; nothing was changed"
            ) from error
        if error.errno in _REFUSED:
            raise DirectoryUnwritable(
                f"{path} cannot be written ({error.strerror})",
                hint="check the owner and mode of that directory, or name another in the configuration",
            ) from error
        raise WarehouseError(f"{path}: {error.strerror or error}") from error


def temporary_beside(path: Path) -> Path:
    """Return the temporary name under which `path` is written before it is renamed."""
    return path.with_name(f".{path.name}{TEMPORARY_MARK}")


def make_directory(path: Path) -> None:
    """Create `path` and its parents where they are missing."""
    with waypoint("file", f"mkdir {path.name}"), file_errors(path):
        path.mkdir(parents=True, exist_ok=True)


def sync_directory(path: Path) -> None:
    """Make the names in `path` survive a power cut."""
    with waypoint("file", f"fsync {path.name}/"):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sync_file(path: Path) -> None:
    """Make the content of `path` survive a power cut."""
    with waypoint("file", f"fsync {path.name}"), file_errors(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def copy_file(source: Path, target: Path) -> None:
    """Copy `source` to `target`."""
    with waypoint("file", f"copy {source.name} -> {target.name}"), file_errors(target):
        copy_whole(source, target)


def link_file(source: Path, target: Path) -> None:
    """Give `source`, which nobody changes any more, a second name, or copy it where the file system cannot."""
    with waypoint("file", f"link {source.name} -> {target.name}"), file_errors(target):
        try:
            target.hardlink_to(source)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            copy_whole(source, target)


def write_pieces(target: Path, pieces: Iterable[bytes]) -> None:
    """Write `pieces` to a file that lasts no longer than its reader, so that it is not synced."""
    with waypoint("file", f"unpack {target.name}"), file_errors(target), target.open("wb") as stream:
        stream.writelines(pieces)


def rename(source: Path, target: Path) -> None:
    """Replace `target` by `source` in one step, and make that survive a power cut."""
    with waypoint("file", f"rename {source.name} -> {target.name}"), file_errors(target):
        source.replace(target)
    sync_directory(target.parent)


def remove(path: Path) -> None:
    """Remove the file `path` if it is there."""
    with waypoint("file", f"unlink {path.name}"), file_errors(path):
        path.unlink(missing_ok=True)


def remove_tree(path: Path) -> None:
    """Remove the directory `path` and all below it if it is there."""
    if path.is_dir():
        with waypoint("file", f"rmtree {path.name}"), file_errors(path):
            shutil.rmtree(path)


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` so that a reader sees the old content or the whole new one."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` so that a reader sees the old content or the whole new one."""
    temporary = temporary_beside(path)
    with waypoint("file", f"write {path.name}"), file_errors(path):
        temporary.write_bytes(content)
    sync_file(temporary)
    rename(temporary, path)
