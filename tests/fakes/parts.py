"""Loads without files: parts, tag sets and ledger rows as `ingest` would leave them, made from rows in a test."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from sql.contract import COST_AND_USAGE, LOAD, LOAD_TOTAL, SETTINGS_TABLES, SPLIT_COST, Table
from sql.parts import part_name, prepare, refresh_views, split_name, tags_name
from sql.warehouse import Warehouse, WarehouseSettings, quoted

Charge = Mapping[str, object]
TagSet = tuple[int, str, str]
"""(tag_set_id, key, value)."""

LOAD_COLUMNS = ("x_Source", "x_LoadId", "x_BillingMonth", "BillingPeriodStart", "BillingPeriodEnd")
"""Columns that the view takes from the ledger, never from a part."""
_PART_COLUMNS = tuple(column for column in COST_AND_USAGE.columns if column.name not in LOAD_COLUMNS)
_LOADED_AT = datetime(2026, 1, 1, 3, 0)  # noqa: DTZ001 - instants in the warehouse are UTC without zone


class _Copied(Warehouse):
    """A warehouse of a test, whose folder goes with it."""

    def close(self) -> None:
        """Close the file and remove it."""
        super().close()
        if self.path is not None:
            shutil.rmtree(self.path.parent)


def make_warehouse() -> Warehouse:
    """Return an empty warehouse: a copy of one that was prepared once, which takes a fifth of the time."""
    path = Path(mkdtemp(prefix="overrun-")) / "warehouse.duckdb"
    path.write_bytes(_prepared())
    return _Copied.open(WarehouseSettings(path=path))


@cache
def _prepared() -> bytes:
    """Return the file of an empty warehouse."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "warehouse.duckdb"
        with Warehouse.open(WarehouseSettings(path=path)) as warehouse:
            prepare(warehouse)
            warehouse.checkpoint()
        return path.read_bytes()


def insert_rows(warehouse: Warehouse, table: Table, rows: Sequence[Charge]) -> None:
    """Insert rows into a table of the contract; an absent column is null."""
    known = {column.name for column in table.columns}
    for row in rows:
        if set(row) - known:
            raise KeyError(f"{table.full_name} has no column {sorted(set(row) - known)}")
    columns = [column.name for column in table.columns]
    marks = f"({', '.join('?' for _ in columns)})"
    if rows:
        warehouse.execute(
            f"insert into {table.full_name} values {', '.join(marks for _ in rows)}",
            [row.get(name) for row in rows for name in columns],
        )


def load_part(  # noqa: PLR0913 - one argument per table of a load
    warehouse: Warehouse,
    *,
    source: str,
    month: date,
    charges: Sequence[Charge],
    tag_sets: Sequence[TagSet] = (),
    splits: Sequence[Charge] = (),
    version: str = "1",
) -> str:
    """Replace the part of (source, month) and write its ledger rows; return the load id."""
    name = part_name(source, month)
    load_id = hashlib.sha256(f"{source}{month}{version}".encode()).hexdigest()[:16]
    with warehouse.transaction():
        _write_charges(warehouse, name, charges)
        _write_tag_sets(warehouse, name, tag_sets)
        _write_splits(warehouse, name, splits)
        _write_ledger(warehouse, load_id, source, month, version, charges)
        refresh_views(warehouse)
    return load_id


def drop_source(warehouse: Warehouse, source: str) -> None:
    """Take a source out of force, as if it had been dropped."""
    with warehouse.transaction():
        warehouse.execute("update ops.load set is_current = false where source = ?", [source])
        refresh_views(warehouse)


def _write_charges(warehouse: Warehouse, name: str, charges: Sequence[Charge]) -> None:
    """Create the part table."""
    columns = ", ".join(f"{quoted(column.name)} {column.type}" for column in _PART_COLUMNS)
    warehouse.execute(f"create or replace table parts.{quoted(name)} ({columns})")
    marks = f"({', '.join('?' for _ in _PART_COLUMNS)})"
    if charges:
        values = [
            charge.get(column.name, number if column.name == "x_RowNumber" else None)
            for number, charge in enumerate(charges, start=1)
            for column in _PART_COLUMNS
        ]
        warehouse.execute(f"insert into parts.{quoted(name)} values {', '.join(marks for _ in charges)}", values)


def _write_tag_sets(warehouse: Warehouse, name: str, tag_sets: Sequence[TagSet]) -> None:
    """Create the table of tag sets beside the part."""
    table = f"parts.{quoted(tags_name(name))}"
    warehouse.execute(f"create or replace table {table} (tag_set_id ubigint, tag_key varchar, tag_value varchar)")
    if tag_sets:
        values = [value for tag_set in tag_sets for value in tag_set]
        warehouse.execute(f"insert into {table} values {', '.join('(?, ?, ?)' for _ in tag_sets)}", values)


def _write_splits(warehouse: Warehouse, name: str, splits: Sequence[Charge]) -> None:
    """Create the table of split costs beside the part, where there are any."""
    table = f"parts.{quoted(split_name(name))}"
    warehouse.execute(f"drop table if exists {table}")
    if splits:
        stored = {"tag_set_id": "x_TagSetId"}
        columns = [column for column in SPLIT_COST.columns if column.name not in {"source", "billing_month"}]
        body = ", ".join(f"{quoted(stored.get(column.name, column.name))} {column.type}" for column in columns)
        warehouse.execute(f"create table {table} ({body})")
        marks = f"({', '.join('?' for _ in columns)})"
        values = [split.get(column.name) for split in splits for column in columns]
        warehouse.execute(f"insert into {table} values {', '.join(marks for _ in splits)}", values)


def _write_ledger(
    warehouse: Warehouse, load_id: str, source: str, month: date, version: str, charges: Sequence[Charge]
) -> None:
    """Write `ops.load` and `ops.load_total`."""
    sequence = warehouse.value(
        "select count(*) + 1 from ops.load where source = ? and billing_month = ?", [source, month]
    )
    warehouse.execute("update ops.load set is_current = false where source = ? and billing_month = ?", [source, month])
    load = {
        "load_id": load_id, "source": source, "billing_month": month, "version": version, "sequence": sequence,
        "is_current": True, "export_kind": "focus", "part": part_name(source, month), "loaded_at": _LOADED_AT,
        "files": 1, "bytes": 1, "rows_read": len(charges), "rows_loaded": len(charges),
        "effective_cost_state": "unproven",
    }  # fmt: skip
    insert_rows(warehouse, LOAD, [load])
    warehouse.execute("delete from ops.load_total where load_id = ?", [load_id])
    totals: dict[tuple[object, object, object], list[Decimal]] = {}
    for charge in charges:
        group = (charge.get("ProviderName"), charge.get("BillingAccountId"), charge.get("BillingCurrency"))
        totals.setdefault(group, []).append(Decimal(str(charge.get("BilledCost", 0))))
    insert_rows(
        warehouse,
        LOAD_TOTAL,
        [
            {
                "load_id": load_id, "provider": provider, "billing_account_id": account, "billing_currency": currency,
                "rows_loaded": len(costs), "delivered_cost": sum(costs), "billed_cost": sum(costs), "rounded_cost": 0,
            }
            for (provider, account, currency), costs in totals.items()
        ],
    )  # fmt: skip


def settings_rows(table: str, rows: Sequence[Charge]) -> list[tuple[object, ...]]:
    """Return rows given by column name as tuples in the order of a settings table; an absent column is null."""
    columns = next(known.columns for known in SETTINGS_TABLES if known.full_name == table)
    return [tuple(row.get(column.name) for column in columns) for row in rows]
