"""What is done to runs and capacity that are loaded: a source dropped, renamed, taken over into a new warehouse."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.usage.source import RunSource
from sql.contract import RUN, USAGE_LOAD, USAGE_TABLES
from sql.usage import mark_usage
from sql.warehouse import Warehouse

HIDDEN = {"user_name": "private_users", "work_dir": "private_users", "run_name": "private_jobs"}
"""Columns of runs that `[privacy]` hashes, and the variable of the session that says so."""


def drop_usage(warehouse: Warehouse, source: str) -> int:
    """Remove what a source told, its ledger rows apart; return how many files it was loaded from."""
    number = int(
        str(warehouse.value(f"select count(*) from {USAGE_LOAD.full_name} where is_current and source = ?", [source]))
    )
    if number:
        with warehouse.transaction():
            for table in USAGE_TABLES:
                warehouse.execute(f"delete from {table.full_name} where source = ?", [source])
            warehouse.execute(f"update {USAGE_LOAD.full_name} set is_current = false where source = ?", [source])
            mark_usage(warehouse, USAGE_TABLES)
        warehouse.checkpoint()
    return number


def rename_usage(warehouse: Warehouse, sources: Sequence[RunSource]) -> None:
    """Give what was told under an earlier name to the new one, unless that has told something itself."""
    loads = f"select count(*) from {USAGE_LOAD.full_name} where source = ?"
    for source in sources:
        if source.was is None or not warehouse.value(loads, [source.was]) or warehouse.value(loads, [source.name]):
            continue
        with warehouse.transaction():
            for table in (*USAGE_TABLES, USAGE_LOAD):
                warehouse.execute(
                    f"update {table.full_name} set source = ? where source = ?", [source.name, source.was]
                )
            mark_usage(warehouse, USAGE_TABLES)
        warehouse.checkpoint()


def hide_in_runs(warehouse: Warehouse) -> None:
    """Hash names that were loaded before `[privacy]` said so; what is hashed already stays as it is."""
    for column, variable in HIDDEN.items():
        warehouse.execute(
            f"update {RUN.full_name} set {column} = private_hash({column})"
            f" where getvariable('{variable}') is not null and not regexp_full_match({column}, 'h-[0-9a-f]{{24}}')"
        )
