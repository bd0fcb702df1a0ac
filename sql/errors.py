"""What can go wrong in the bottom layer.

WarehouseError
├── WarehouseLocked     another process holds the database file
│   └── RunLocked       another run holds the lock file
├── DirectoryUnwritable a directory that must be written cannot be
├── DiskFull            the disk filled up; nothing was committed
├── ModelError          a model file breaks a rule of the house
├── CheckFailed         a check beside a model found rows
├── RateMissing         costs in another currency have no exchange rate
└── StateError          the state store cannot be used
"""

from __future__ import annotations

from pathlib import Path


class WarehouseError(Exception):
    """Root of the errors that `sql` raises; `hint` says what to do about it."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class WarehouseLocked(WarehouseError):
    """Another process holds `path`; `pid` is its process id where DuckDB names it."""

    def __init__(self, path: Path, pid: int | None, program: str | None = None) -> None:
        holder = f"process {pid}" if pid is not None else "another process"
        holder = f"{holder} ({program})" if program else holder
        super().__init__(
            f"{path} is open in {holder}",
            hint="close that program: people read the published copy, and open it read-only",
        )
        self.path = path
        self.pid = pid


class RunLocked(WarehouseLocked):
    """Another run holds the lock file."""

    def __init__(self, path: Path, pid: int | None) -> None:
        WarehouseError.__init__(
            self,
            f"another run is under way (process {pid or 'unknown'}, lock {path})",
            hint="wait until it has ended; the lock goes with its process, so there is nothing to remove",
        )
        self.path = path
        self.pid = pid


class DirectoryUnwritable(WarehouseError):
    """A directory that must be written cannot be."""


class DiskFull(WarehouseError):
    """The disk is full; the last good data is untouched."""


class ModelError(WarehouseError):
    """A model file breaks a rule of the house; `model` is its name."""

    def __init__(self, model: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(f"model {model}: {message}", hint=hint)
        self.model = model


class CheckFailed(WarehouseError):
    """A check found rows, so the build was rolled back; `model` and `check` name it, `rows` are the first of them."""

    def __init__(self, model: str, check: str, rows: list[tuple[object, ...]]) -> None:
        sample = "; ".join(", ".join(str(value) for value in row) for row in rows[:3])
        super().__init__(
            f"check failed on {model}: {check} (first rows: {sample})",
            hint="the previous tables stand; look at the rows named, then run overrun build",
        )
        self.model = model
        self.check = check
        self.rows = rows


class RateMissing(WarehouseError):
    """Costs in another currency have no exchange rate, so the build was rolled back; the text names pair and day."""


class StateError(WarehouseError):
    """The state store cannot be opened or written."""
