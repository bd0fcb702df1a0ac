"""Runs the demo's `.sql` files and writes query results to files that appear whole or not at all."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from sql.files import file_errors, rename, sync_file, temporary_beside
from sql.warehouse import literal

if TYPE_CHECKING:
    from pathlib import Path

    from overrun.demo.months import DeliveredMonth
    from sql.warehouse import Warehouse


def run_statements(warehouse: Warehouse, name: str) -> None:
    """Run every statement of the demo's file `name`."""
    warehouse.execute(files("overrun.demo").joinpath(name).read_text(encoding="utf-8"))


def set_period(warehouse: Warehouse, month: DeliveredMonth) -> None:
    """Replace the table `period`, by which the statements know their month."""
    warehouse.execute(
        "create or replace table period as select ?::date as period_start, ?::date as period_end, "
        "?::date as through, ?::date as delivered_on, ?::varchar as invoice_id",
        [
            month.start,
            month.end,
            month.through,
            month.delivered_on,
            f"27{month.compact}4471" if month.is_closed else None,
        ],
    )


def write_query(warehouse: Warehouse, query: str, path: Path, options: str) -> None:
    """Write the rows of `query`, in its order, to `path` in the format that the COPY `options` say."""
    temporary = temporary_beside(path)
    # DuckDB's own refusal would not say which of our files it is about.
    with file_errors(path):
        temporary.touch()
    # The name is ours already, and DuckDB's own temporary name would be a second one to clean up.
    warehouse.execute(f"copy ({query}) to {literal(str(temporary))} ({options}, use_tmp_file false)")
    sync_file(temporary)
    rename(temporary, path)
