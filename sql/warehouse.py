"""The handle on the DuckDB file: the only place that opens DuckDB.

One process writes `warehouse.duckdb`; people read published copies. Every statement passes a waypoint, so that the
crash tests reach each of them. DuckDB's own errors that are a user's business (lock, full disk) become errors of
this layer; the rest go on as they are, since they are faults of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import duckdb

from sql.errors import DirectoryUnwritable, DiskFull, WarehouseError, WarehouseLocked
from sql.waypoints import waypoint

Row = tuple[object, ...]

_LOCKED = re.compile(r"Conflicting lock is held in (?P<program>\S+)(?: \(PID (?P<pid>\d+)\))?")
_FULL = ("No space left on device", "Disk quota exceeded", "failed to offload data block")


@dataclass(frozen=True, slots=True, kw_only=True)
class WarehouseSettings:
    """How to open a warehouse; every field can be set in `[warehouse]` of the configuration."""

    path: Path
    memory_limit: str = "1GB"
    threads: int | None = None
    temp_directory: Path | None = None
    storage_version: str = "v1.2.0"


def quoted(identifier: str) -> str:
    """Return `identifier` quoted for DuckDB, whatever characters are in it."""
    return '"' + identifier.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return `text` as an SQL string literal; for DDL, where DuckDB takes no parameters."""
    return "'" + text.replace("'", "''") + "'"


def struct_fields(type_text: str) -> list[tuple[str, str]]:
    """Return the (name, type) pairs of a STRUCT type as DuckDB writes it; empty for any other type."""
    parsed = duckdb.sqltype(type_text)
    return [(name, str(child)) for name, child in parsed.children] if parsed.id == "struct" else []


class Warehouse:
    """An open DuckDB file. Use as a context manager; statements go through `execute`, `rows`, `row` or `value`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None) -> None:
        self._connection = connection
        self.path = path

    @classmethod
    def open(cls, settings: WarehouseSettings) -> Self:
        """Open the file of `settings` for writing, creating it where it is missing.

        Raises WarehouseLocked, DirectoryUnwritable or DiskFull.
        """
        options: dict[str, str | bool | int | float | list[str]] = {
            "storage_compatibility_version": settings.storage_version,
            "memory_limit": settings.memory_limit,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if settings.threads is not None:
            options["threads"] = settings.threads
        if settings.temp_directory is not None:
            options["temp_directory"] = str(settings.temp_directory)
        with waypoint("sql", f"open {settings.path.name}"):
            connection = _connect(settings.path, options, read_only=False)
        return cls(connection, settings.path)

    @classmethod
    def open_published(cls, path: Path) -> Self:
        """Open a published copy read-only; raises WarehouseLocked where a program holds it for writing."""
        options: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        }
        return cls(_connect(path, options, read_only=True), path)

    @classmethod
    def in_memory(cls) -> Self:
        """Open a warehouse that lives in memory, for tests and for reading loose files."""
        connection = duckdb.connect(config={"preserve_insertion_order": False})
        connection.execute("set TimeZone = 'UTC'")
        return cls(connection, None)

    def __enter__(self) -> Self:
        """Return self."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection; DuckDB releases the file."""
        with waypoint("sql", "close"):
            self._connection.close()

    def execute(self, statement: str, parameters: Sequence[object] = ()) -> duckdb.DuckDBPyConnection:
        """Run one statement with bound `parameters` and return DuckDB's cursor."""
        with waypoint("sql", statement[:80]), _duckdb_errors(self.path):
            return self._connection.execute(statement, list(parameters) or None)

    def rows(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query."""
        cursor = self.execute(statement, parameters)
        with _duckdb_errors(self.path):
            return cursor.fetchall()

    def row(self, statement: str, parameters: Sequence[object] = ()) -> Row | None:
        """Return the first row of a query, or None."""
        cursor = self.execute(statement, parameters)
        with _duckdb_errors(self.path):
            return cursor.fetchone()

    def value(self, statement: str, parameters: Sequence[object] = ()) -> object:
        """Return the first column of the first row of a query, or None."""
        row = self.row(statement, parameters)
        return None if row is None else row[0]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the `with` block in one transaction: all of it is committed, or nothing."""
        self.execute("begin transaction")
        try:
            yield
            self.execute("commit")
        except BaseException:
            self._rollback()
            raise

    def checkpoint(self) -> None:
        """Write the log into the file, so that replaced blocks are reused and a plain copy is whole."""
        self.execute("checkpoint")

    def _rollback(self) -> None:
        """Roll back, where a failed statement has not already ended the transaction."""
        try:
            self._connection.execute("rollback")
        except duckdb.Error as error:
            if "no transaction is active" not in str(error):
                raise WarehouseError(f"the transaction could not be rolled back: {error}") from error


def _connect(
    path: Path, options: dict[str, str | bool | int | float | list[str]], *, read_only: bool
) -> duckdb.DuckDBPyConnection:
    """Open `path`, mapping DuckDB's refusals."""
    with _duckdb_errors(path):
        connection = duckdb.connect(str(path), read_only=read_only, config=options)
        connection.execute("set TimeZone = 'UTC'")
    return connection


@contextmanager
def _duckdb_errors(path: Path | None) -> Iterator[None]:
    """Map the errors that are a user's business: a lock, a full disk, a file that cannot be opened."""
    try:
        yield
    except RuntimeError as error:
        # DuckDB's answer to Ctrl-C; its own errors are no RuntimeErrors.
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise
    except (
        duckdb.IOException,
        duckdb.OutOfMemoryException,
        duckdb.FatalException,
        duckdb.TransactionException,
    ) as error:
        # Not every duckdb.Error: others repeat data, which may hold any words.
        text = str(error)
        locked = _LOCKED.search(text)
        if locked and path is not None:
            pid = locked["pid"]
            raise WarehouseLocked(path, int(pid) if pid else None, locked["program"]) from error
        if any(mark in text for mark in _FULL):
            raise DiskFull(
                f"the disk is full while writing {path or 'a temporary file'}",
                hint="free some space (see docs/deploy.md for how much is needed) and run again; nothing was changed",
            ) from error
        if "not a valid DuckDB database" in text or "database file with version" in text:
            raise WarehouseError(
                f"{path} is not a database that this version of DuckDB reads",
                hint="name another path in the configuration, or move that file away; landed files rebuild a warehouse",
            ) from error
        if "Cannot open file" in text and ("Permission denied" in text or "Read-only" in text):
            raise DirectoryUnwritable(
                f"{path} cannot be opened for writing", hint="check the owner and mode of its directory"
            ) from error
        raise
