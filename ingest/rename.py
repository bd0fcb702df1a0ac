"""A source that was renamed (`was = "old"`): its parts, ledger rows and landed files go over to the new name."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from ingest.ledger import EARLIER
from ingest.source import SourceSettings
from sql.contract import ACCOUNT, ACCOUNT_TAG, LEDGER_TABLES, LOAD, PROJECT, QUERY_COST
from sql.files import make_directory, remove_tree, rename
from sql.meta import part_settings, write_part_settings
from sql.parts import part_name, refresh_views, rename_part
from sql.warehouse import Warehouse


def apply_renames(warehouse: Warehouse, sources: Sequence[SourceSettings], landing: Path) -> list[str]:
    """Rename what is held under an earlier name; return the names taken over. Repeating it changes nothing."""
    taken: list[str] = []
    for source in sources:
        if source.was is None:
            continue
        if _holds(warehouse, source.was) and not _holds(warehouse, source.name):
            _rename_parts(warehouse, source.was, source.name)
            taken.append(source.was)
        if not _holds(warehouse, source.was):
            _move_landed(landing / source.was, landing / source.name)
    return taken


def _move_landed(old: Path, new: Path) -> None:
    """Move the landed versions of a source, month by month; what the new name has landed by itself stays."""
    for version in sorted(old.glob("????-??/*")):
        target = new / version.parent.name / version.name
        if not target.exists():
            make_directory(target.parent)
            rename(version, target)
    remove_tree(old)


def _holds(warehouse: Warehouse, source: str) -> bool:
    """Return whether the ledger knows a source."""
    return bool(warehouse.value("select count(*) from ops.load where source = ?", [source]))


def _rename_parts(warehouse: Warehouse, old: str, new: str) -> None:
    """Rename the tables of a source and its ledger rows, load ids included, in one transaction."""
    loads = warehouse.rows(
        "select distinct load_id, billing_month, version, is_current from ops.load where source = ?", [old]
    )
    with warehouse.transaction():
        for load_id, month, version, is_current in loads:
            if not isinstance(month, date):
                raise TypeError("billing_month is a date")
            if is_current:
                before, after = part_name(old, month), part_name(new, month)
                rename_part(warehouse, before, after)
                write_part_settings(warehouse, after, part_settings(warehouse).get(before, ""))
                write_part_settings(warehouse, before, "")
            plain = hashlib.sha256(f"{new}\0{month}\0{version}".encode()).hexdigest()[:16]
            renamed = "".join((plain, *str(load_id).partition(EARLIER)[1:]))
            for table in LEDGER_TABLES:
                warehouse.execute(f"update {table.full_name} set load_id = ? where load_id = ?", [renamed, load_id])
            warehouse.execute(
                "update ops.load set part = ? where source = ? and billing_month = ?",
                [part_name(new, month), old, month],
            )
        for table in (LOAD, ACCOUNT, ACCOUNT_TAG, PROJECT, QUERY_COST):
            warehouse.execute(f"update {table.full_name} set source = ? where source = ?", [new, old])
        refresh_views(warehouse)
    warehouse.checkpoint()
