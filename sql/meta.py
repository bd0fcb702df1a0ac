"""Facts about the warehouse file itself, by key: `ops.meta`."""

from __future__ import annotations

from sql.contract import META
from sql.warehouse import Warehouse

_PART = "settings_of_part:"


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


def part_settings(warehouse: Warehouse) -> dict[str, str]:
    """Return, by part, the hash of the settings that it was loaded with; none where it was loaded without."""
    rows = warehouse.rows(f"select key, value from {META.full_name} where starts_with(key, ?)", [_PART])
    return {str(key).removeprefix(_PART): str(value) for key, value in rows}


def key_of_part(part: str) -> str:
    """Return the key of the hash of the settings that a part is loaded with."""
    return _PART + part


def write_part_settings(warehouse: Warehouse, part: str, digest: str) -> None:
    """Note the hash of the settings that a part is loaded with; empty for none."""
    if digest:
        write_meta(warehouse, key_of_part(part), digest)
    else:
        warehouse.execute(f"delete from {META.full_name} where key = ?", [key_of_part(part)])
