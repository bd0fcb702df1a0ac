"""`overrun ingest`: fetch and load new deliveries, without building."""

from __future__ import annotations

import os
from datetime import date

import click

from overrun.exits import Exit
from overrun.options import Invocation, OverrunCommand, backfill_option, common_options
from overrun.running import now, print_report, run_options


@click.command(
    "ingest",
    cls=OverrunCommand,
    examples=("overrun ingest", "overrun ingest --backfill 2026-07..2026-09", "overrun ingest --accept-shrink"),
    exits=(Exit.SOURCE, Exit.REFUSED, Exit.LOCKED),
)
@backfill_option
@click.option("--accept-shrink", is_flag=True, help="Load a month that lost more than half of its rows.")
@common_options
def command(invocation: Invocation, months: frozenset[date] | None, accept_shrink: bool) -> Exit:
    """Fetch and load new deliveries.

    Tables that people query change with `overrun build`, and the copy that they open with `overrun publish`.
    """
    from overrun.night import ingest_step, open_warehouse, run

    config = invocation.load()
    options = run_options(invocation, os.environ, now(), accept_shrink=accept_shrink, months=months)
    with run(config, "ingest", options) as step, open_warehouse(step) as warehouse:
        ingest_step(step, warehouse)
    print_report(step.report, invocation)
    return step.report.exit_code
