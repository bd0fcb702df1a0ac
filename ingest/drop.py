"""Dropping a source, or a month of one: parts go, ledger rows stay as history."""

from __future__ import annotations

from datetime import date

from ingest import ledger
from sql.parts import part_name, refresh_views, tables_of
from sql.warehouse import Warehouse


def drop_source(warehouse: Warehouse, source: str) -> int:
    """Take every part of a source out of force and drop it; return how many there were."""
    rows = warehouse.rows("select billing_month from ops.load where is_current and source = ? order by 1", [source])
    months = [row[0] for row in rows if isinstance(row[0], date)]
    for month in months:
        drop_month(warehouse, source, month)
    return len(months)


def drop_month(warehouse: Warehouse, source: str, billing_month: date) -> None:
    """Take one part out of force and drop it, in one transaction."""
    with warehouse.transaction():
        ledger.retire(warehouse, source, billing_month, tables_of(part_name(source, billing_month)))
        refresh_views(warehouse)
    warehouse.checkpoint()
