"""Exit codes: the one place that knows what a shell, cron or systemd is told.

| code | meaning |
|---|---|
| 0 | done; found waste is data, not failure |
| 1 | findings, where `--fail-on` asks for it; `reconcile` does not tie |
| 2 | usage or configuration; a directory that cannot be written |
| 3 | a source cannot be listed, read or recognised; the others landed |
| 4 | read, but checks or conservation fail, a month shrank, or the disk is full; the last good version stands |
| 6 | some alerts are not delivered yet |
| 70 | a fault of Overrun itself; the traceback on stderr belongs in a bug report |
| 75 | another run holds the lock, or another process holds the warehouse; try again later |
| 130 | interrupted with Ctrl-C |
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """One exit code; `meaning` is the sentence that `--help` shows."""

    DONE = 0
    FINDINGS = 1
    USAGE = 2
    SOURCE = 3
    REFUSED = 4
    UNDELIVERED = 6
    FAULT = 70
    LOCKED = 75
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """Return what the code says, in one clause."""
        return _MEANINGS[self]


_MEANINGS = {
    Exit.DONE: "done",
    Exit.FINDINGS: "does not tie (reconcile), or findings, where --fail-on asks for it",
    Exit.USAGE: "usage or configuration, or a directory that cannot be written",
    Exit.SOURCE: "a source cannot be listed, read or recognised; the others landed",
    Exit.REFUSED: "checks or conservation fail, a month shrank, or the disk is full; the last good version stands",
    Exit.UNDELIVERED: "some alerts are not delivered yet",
    Exit.FAULT: "a fault of Overrun itself",
    Exit.LOCKED: "another run or another program holds the warehouse; try again later",
    Exit.INTERRUPTED: "interrupted",
}

_SEVERITY = (
    Exit.FAULT,
    Exit.INTERRUPTED,
    Exit.USAGE,
    Exit.LOCKED,
    Exit.REFUSED,
    Exit.SOURCE,
    Exit.UNDELIVERED,
    Exit.FINDINGS,
    Exit.DONE,
)


class CommandFailed(Exception):
    """A command ends here with `code`; the text is one lower-case clause, `hint` says what to do about it."""

    def __init__(self, message: str, *, code: Exit, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


def worst(codes: Iterable[int]) -> Exit:
    """Return the code that speaks for several: 2 or 75 first, then 4, 3, 6, 1; no codes at all is 0."""
    return min((Exit(code) for code in codes), key=_SEVERITY.index, default=Exit.DONE)


def code_of(error: BaseException) -> Exit | None:
    """Return the exit code of an error that is a user's or the machine's business, None for a fault of ours."""
    if isinstance(error, CommandFailed):
        return error.code
    for kind, code in _codes_by_type():
        if isinstance(error, kind):
            return code
    return _code_of_system_error(error)


def _codes_by_type() -> tuple[tuple[type[Exception], Exit], ...]:
    """Return what each kind of error means, leaves before their roots; imported only once something has failed."""
    from alerts.errors import AlertError, RouteError
    from ingest.errors import IngestError, LoadRefused
    from overrun.config_problems import ConfigError
    from sql.errors import DirectoryUnwritable, StateError, WarehouseError, WarehouseLocked
    from sql.secret import SecretUnresolved

    return (
        (ConfigError, Exit.USAGE),
        (DirectoryUnwritable, Exit.USAGE),
        (StateError, Exit.USAGE),
        (WarehouseLocked, Exit.LOCKED),
        (WarehouseError, Exit.REFUSED),
        (LoadRefused, Exit.REFUSED),
        (IngestError, Exit.SOURCE),
        (RouteError, Exit.USAGE),
        (AlertError, Exit.UNDELIVERED),
        (SecretUnresolved, Exit.UNDELIVERED),
    )


def _code_of_system_error(error: BaseException) -> Exit | None:
    """Map the operating system's refusals that reach the top without an error of ours around them."""
    if not isinstance(error, OSError):
        return None
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return Exit.REFUSED
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}:
        return Exit.USAGE
    return None
