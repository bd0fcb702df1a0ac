"""Facts about the warehouse file itself, by key: `ops.meta`."""

from __future__ import annotations

from sql.contract import META
from sql.warehouse import Warehouse


def is_prepared(warehouse: Warehouse) -> bool:
    """Return whether the file holds the tables of Overrun at all."""
    return bool(
        warehouse.value("select count(*) from duckdb_tables() where schema_name = 'ops' and table_name = 'meta'")
    )


def read_meta(warehouse: Warehouse, key: str) -> str | None:
    """Return a fact about the file, or None."""
    value = warehouse.value(f"select value from {META.full_name} where key = ?", [key])
    return None if value is None else str(value)


def write_meta(warehouse: Warehouse, key: str, value: str) -> None:
    """Set a fact about the file."""
    warehouse.execute(f"delete from {META.full_name} where key = ?", [key])
    warehouse.execute(f"insert into {META.full_name} values (?, ?)", [key, value])
