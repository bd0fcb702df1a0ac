"""What the configuration says, as tables: replaced where it changed, never otherwise.

The hash of each table stands in `ops.meta`, so that the model runner sees a changed rule or rate without reading the
table, and a night with an unchanged configuration writes nothing. Of a table whose rows are dated (`Table.dated_by`)
there is one more for each month, over the rows through its end: tonight's exchange rate changes nothing of last year.
Written by the front door, read by models.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date

from sql.contract import META, SETTINGS_TABLES, Table
from sql.errors import WarehouseError
from sql.meta import read_meta, write_meta
from sql.warehouse import Warehouse

SettingsRows = Mapping[str, Sequence[tuple[object, ...]]]

_TABLES = {table.full_name: table for table in SETTINGS_TABLES}
_EMPTY = "empty"
_DATED = "settings-through:"
_ROWS_PER_INSERT = 5000


def settings_hash(warehouse: Warehouse, table: str) -> str:
    """Return the content hash of `table` (`schema.name`); a constant where it was never written."""
    return settings_hashes(warehouse).get(table, _EMPTY)


def settings_hashes(warehouse: Warehouse) -> dict[str, str]:
    """Return the content hash of every settings table that has been written."""
    rows = warehouse.rows(f"select key, value from {META.full_name} where key like 'settings:%'")
    return {str(key).removeprefix("settings:"): str(value) for key, value in rows}


def dated_settings_hashes(warehouse: Warehouse) -> dict[str, dict[str, str]]:
    """Return, of every dated settings table, the hash of its rows through each month (YYYY-MM-DD) that has any."""
    found = {}
    for name in sorted(name for name, table in _TABLES.items() if table.dated_by is not None):
        text = read_meta(warehouse, f"{_DATED}{name}")
        found[name] = {} if text is None else json.loads(text)
    return found


def forget_settings(warehouse: Warehouse, table: Table) -> None:
    """Remove the hashes of a settings table, so that it counts as never written."""
    keys = [f"settings:{table.full_name}", f"{_DATED}{table.full_name}"]
    warehouse.execute(f"delete from {META.full_name} where key in (?, ?)", keys)


def replace_settings(warehouse: Warehouse, rows: SettingsRows) -> list[str]:
    """Replace the tables of `rows` whose content differs, in one transaction; return their names.

    The order of rows does not count. A table that `rows` does not name keeps what it has.
    Raises WarehouseError for a name that is not a settings table.
    """
    unknown = sorted(set(rows) - set(_TABLES))
    if unknown:
        raise WarehouseError(f"{unknown[0]} is not a settings table")
    present = settings_hashes(warehouse)
    hashes = {name: _content_hash(content) for name, content in rows.items()}
    changed = sorted(name for name, digest in hashes.items() if present.get(name, _EMPTY) != digest)
    if changed:
        with warehouse.transaction():
            for name in changed:
                _replace(warehouse, _TABLES[name], rows[name], hashes[name])
    return changed


def _content_hash(content: Sequence[tuple[object, ...]]) -> str:
    """Return the hash of a table's rows, whatever their order."""
    if not content:
        return _EMPTY
    return hashlib.sha256("\n".join(sorted(repr(row) for row in content)).encode()).hexdigest()


def _replace(warehouse: Warehouse, table: Table, content: Sequence[tuple[object, ...]], digest: str) -> None:
    """Write one settings table and its hash."""
    warehouse.execute(f"delete from {table.full_name}")
    columns = ", ".join(f"unnest(?::{column.type}[])" for column in table.columns)
    for start in range(0, len(content), _ROWS_PER_INSERT):
        chunk = zip(*content[start : start + _ROWS_PER_INSERT], strict=True)
        warehouse.execute(f"insert into {table.full_name} select {columns}", [list(values) for values in chunk])
    write_meta(warehouse, f"settings:{table.full_name}", digest)
    if table.dated_by is not None:
        write_meta(warehouse, f"{_DATED}{table.full_name}", json.dumps(_hashes_through(table, content)))


def _hashes_through(table: Table, content: Sequence[tuple[object, ...]]) -> dict[str, str]:
    """Return, for each month that a row is dated in, the hash of the rows of it and of all months before."""
    position = [column.name for column in table.columns].index(str(table.dated_by))
    by_month: dict[str, list[tuple[object, ...]]] = {}
    for row in content:
        day = row[position]
        month = day.replace(day=1).isoformat() if isinstance(day, date) else ""
        by_month.setdefault(month, []).append(row)
    hashes, digest = {}, ""
    for month in sorted(by_month):
        digest = hashlib.sha256(f"{digest}{_content_hash(by_month[month])}".encode()).hexdigest()
        hashes[month] = digest
    return hashes
