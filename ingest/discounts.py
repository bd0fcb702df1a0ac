"""Configured discounts of spend commitments: what a load spreads fees by where the export does not say it.

They are part of what turns landed files into a part, so `ops.meta` keeps by part which ones a load was made with, and a
month whose fees they concern is loaded again from what has landed when they change.
"""

from __future__ import annotations

import hashlib
from datetime import date

from ingest.source import SourceSettings
from sql.meta import part_settings, write_part_settings
from sql.parts import part_name
from sql.warehouse import Warehouse, literal, quoted


def set_discounts(warehouse: Warehouse, source: SourceSettings, billing_month: date) -> None:
    """Set the variable that staging reads them from."""
    warehouse.execute(f"set variable commitment_discounts = {_listed(source, billing_month) or 'null'}")


def note_discounts(warehouse: Warehouse, source: SourceSettings, billing_month: date) -> None:
    """Note which ones the part in force is made with; to be called in the transaction that puts it there."""
    digest = _digest(_listed(source, billing_month))
    write_part_settings(warehouse, part_name(source.name, billing_month), digest)


def is_spread_otherwise(warehouse: Warehouse, source: SourceSettings, billing_month: date) -> bool:
    """Return whether a loaded month has fees of spend commitments and was loaded with other discounts."""
    part = part_name(source.name, billing_month)
    made_with = part_settings(warehouse).get(part, "")
    return made_with != _digest(_listed(source, billing_month)) and _has_fees(warehouse, part)


def _has_fees(warehouse: Warehouse, part: str) -> bool:
    """Return whether a part has fees of spend commitments."""
    has_kinds = warehouse.value(
        "select count(*) from duckdb_columns() where schema_name = 'parts' and table_name = ?"
        " and column_name = 'fee_kind'",
        [part],
    )
    return bool(has_kinds and warehouse.value(f"select count(*) from parts.{quoted(part)} where fee_kind = 'spend'"))


def _listed(source: SourceSettings, billing_month: date) -> str:
    """Return the discounts that are in force in a month as a list of SQL, in order; empty where there are none."""
    rows = [
        f"{{'service_pattern': {literal(one.service_pattern)}, 'sku_pattern': {literal(one.sku_pattern)},"
        f" 'discount': {one.discount:f}}}"
        for one in source.commitment_discounts
        if one.covers(billing_month)
    ]
    return f"[{', '.join(rows)}]" if rows else ""


def _digest(listed: str) -> str:
    """Return the hash of a list of discounts; empty for none."""
    return hashlib.sha256(listed.encode()).hexdigest()[:16] if listed else ""
