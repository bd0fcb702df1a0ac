"""One run at a time: `flock` on a lock file, with the pid inside for people. Never judged by age: the kernel knows."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sql.errors import RunLocked
from sql.files import file_errors, make_directory

_ATTEMPTS = 5
_PAUSE_SECONDS = 0.02


@contextmanager
def run_lock(path: Path) -> Iterator[None]:
    """Hold the lock at `path` for the `with` block; raises RunLocked, naming the holder, where another run has it."""
    make_directory(path.parent)
    with file_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if not _is_taken(descriptor):
            raise RunLocked(path, _pid_in(descriptor))
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        yield
    finally:
        os.close(descriptor)


def _is_taken(descriptor: int) -> bool:
    """Take the lock; somebody who only looks (`holder`) has it for an instant, so that is waited for."""
    for attempt in range(_ATTEMPTS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if attempt + 1 < _ATTEMPTS:
                time.sleep(_PAUSE_SECONDS)
        else:
            return True
    return False


def _pid_in(descriptor: int) -> int | None:
    """Return the pid that stands in a lock file."""
    text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isdigit() else None


def holder(path: Path) -> int | None:
    """Return the pid of the run that holds the lock at `path`, or None where nobody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid_in(descriptor) or 0
    finally:
        os.close(descriptor)
    return None
