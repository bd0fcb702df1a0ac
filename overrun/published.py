"""Opening the copy for people, read-only: what `status`, `query`, `doctor` and `demo` share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from overrun.exits import CommandFailed, Exit
from sql.errors import WarehouseError, WarehouseLocked
from sql.warehouse import Warehouse


@contextmanager
def open_copy(path: Path) -> Iterator[Warehouse]:
    """Open the published copy at `path`; raises CommandFailed or WarehouseLocked with what to do about it."""
    import duckdb

    if not path.is_file():
        raise CommandFailed(
            f"there is no {path} yet", code=Exit.USAGE, hint="run overrun nightly once; it publishes the copy"
        )
    try:
        warehouse = Warehouse.open_published(path)
    except WarehouseLocked as error:
        error.hint = "it has the copy open for writing: close it there, or open it read-only"
        raise
    except (duckdb.Error, WarehouseError) as error:
        raise CommandFailed(
            f"{path} cannot be read as a database ({first_line(error)})",
            code=Exit.USAGE,
            hint="look at its mode and who may read its folder; overrun publish --force replaces it by a fresh copy",
        ) from error
    with warehouse:
        yield warehouse


def has_relation(warehouse: Warehouse, full_name: str) -> bool:
    """Return whether there is a table or view `schema.name`."""
    schema, name = full_name.split(".")
    found = warehouse.value(
        "select count(*) from information_schema.tables where table_schema = ? and table_name = ?", [schema, name]
    )
    return bool(found)


def has_column(warehouse: Warehouse, full_name: str, column: str) -> bool:
    """Return whether there is a table or view `schema.name` with a column; a copy may be of an earlier version."""
    schema, name = full_name.split(".")
    found = warehouse.value(
        "select count(*) from information_schema.columns where table_schema = ? and table_name = ? and column_name = ?",
        [schema, name, column],
    )
    return bool(found)


def first_line(error: Exception) -> str:
    """Return the first line of DuckDB's message without the kind of error before it, as a clause."""
    text = next(iter(str(error).strip().splitlines()), type(error).__name__)
    kind, separator, rest = text.partition(" Error: ")
    sentence = rest if separator and kind.replace(" ", "").isalpha() else text
    return (sentence[:1].lower() + sentence[1:]).rstrip("!.")
