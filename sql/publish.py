"""Publishing: the copy for people replaced by rename, so that a reader sees the whole old state or the whole new one.

DuckDB lets one process write or many read, and a colleague's open shell would break the night; so people never open the
warehouse. To be called with the warehouse closed: opening it as a plain file while DuckDB has it open, and closing that
descriptor, would release DuckDB's lock.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sql.errors import DiskFull, WarehouseError
from sql.files import copy_file, file_errors, make_directory, remove, rename, sync_file, temporary_beside
from sql.state import PublishedFile, StateStore
from sql.waypoints import waypoint

READ_ONLY_MODE = 0o444
_FLOCK = "hhqqixxxx"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishReport:
    """What was done, and who may spoil it."""

    path: Path
    is_new: bool
    writer_pid: int | None
    """A process that has the replaced file open for writing: what it writes from now on is lost."""


def publish(warehouse: Path, target: Path, build_id: str, state: StateStore, *, force: bool = False) -> PublishReport:
    """Replace `target` by a copy of the closed `warehouse`, where that is newer; see to a stale log in any case."""
    if log_of(warehouse).exists():
        raise WarehouseError(f"{warehouse} has a log that is not written into it yet", hint="run again")

    def copy(temporary: Path) -> None:
        _see_to_space(warehouse, target)
        copy_file(warehouse, temporary)

    return replace_copy(target, build_id, state, copy, force=force)


def replace_copy(
    target: Path, content_id: str, state: StateStore, make: Callable[[Path], None], *, force: bool = False
) -> PublishReport:
    """Replace `target` by what `make` writes to the path that it is given, unless it holds `content_id` already."""
    writer = find_writer(target)
    # A file that is open for writing is locked for everybody else: a new copy is free again.
    if not force and writer is None and _is_current(target, content_id, state):
        remove_log(target)
        return PublishReport(path=target, is_new=False, writer_pid=None)
    make_directory(target.parent)
    temporary = temporary_beside(target)
    leftovers = (temporary, log_of(temporary))
    for leftover in leftovers:
        remove(leftover)
    try:
        make(temporary)
        _put_in_place(temporary, target)
    except DiskFull:
        for leftover in leftovers:
            remove(leftover)
        raise
    state.record_published(_as_left(target, content_id))
    return PublishReport(path=target, is_new=True, writer_pid=writer)


def _put_in_place(temporary: Path, target: Path) -> None:
    """Sync a finished file, make it read-only, and rename it over `target`, whose stale log goes first."""
    sync_file(temporary)
    with waypoint("file", f"chmod {temporary.name}"), file_errors(temporary):
        temporary.chmod(READ_ONLY_MODE)
    remove_log(target)
    rename(temporary, target)


def find_writer(path: Path) -> int | None:
    """Return the pid of a process that has the database file `path` open for writing, or None.

    DuckDB holds a POSIX write lock on a file that it may write to; F_GETLK names the holder.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        asked = struct.pack(_FLOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    finally:
        os.close(descriptor)
    return None if kind == fcntl.F_UNLCK else int(pid)


def log_of(path: Path) -> Path:
    """Return where DuckDB keeps the write-ahead log of a database file."""
    return path.with_name(path.name + ".wal")


def spill_of(path: Path) -> Path:
    """Return the folder in which DuckDB keeps what does not fit in memory, unless told otherwise."""
    return path.with_name(path.name + ".tmp")


def remove_log(target: Path) -> None:
    """Remove a log that a reader left which opened the file for writing: it would spoil the next file."""
    if log_of(target).exists():
        remove(log_of(target))


def _is_current(target: Path, build_id: str, state: StateStore) -> bool:
    """Return whether `target` is the copy of this build, untouched."""
    published = state.published(target)
    return published is not None and target.is_file() and published == _as_left(target, build_id)


def _as_left(target: Path, build_id: str) -> PublishedFile:
    """Return how the file now stands."""
    stat = target.stat()
    return PublishedFile(
        path=target, build_id=build_id, size=stat.st_size, modified_ns=stat.st_mtime_ns, inode=stat.st_ino
    )


def _see_to_space(warehouse: Path, target: Path) -> None:
    """Refuse before the first byte where the copy would not fit."""
    needed, free = warehouse.stat().st_size, shutil.disk_usage(target.parent).free
    if free < needed:
        raise DiskFull(
            f"publishing {target} needs {needed / 1e6:.0f} MB, but {free / 1e6:.0f} MB are free",
            hint="free some space and run overrun publish; the copy of the last night stands",
        )
