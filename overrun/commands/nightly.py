"""`overrun nightly`: every step of the night, for cron."""

from __future__ import annotations

import os
from datetime import date

import click

from overrun.exits import Exit
from overrun.options import Invocation, OverrunCommand, backfill_option, common_options
from overrun.running import now, print_report, run_options


@click.command(
    "nightly",
    cls=OverrunCommand,
    examples=(
        "overrun nightly",
        "overrun nightly --config /etc/overrun/overrun.toml",
        "overrun nightly --as-of 2026-11-20",
    ),
    exits=(Exit.SOURCE, Exit.REFUSED, Exit.UNDELIVERED, Exit.LOCKED),
)
@backfill_option
@click.option("--accept-shrink", is_flag=True, help="Load a month that lost more than half of its rows.")
@common_options
def command(invocation: Invocation, months: frozenset[date] | None, accept_shrink: bool) -> Exit:
    """Run the whole night.

    Looks for new deliveries, loads them, builds what changed, replaces the copy for people and tells teams what is due.
    A second run right after the first changes and sends nothing. Silent under cron unless something is wrong.
    """
    from overrun.night import run_night

    config = invocation.load()
    options = run_options(invocation, os.environ, now(), accept_shrink=accept_shrink, months=months)
    report = run_night(config, options)
    print_report(report, invocation)
    return report.exit_code
