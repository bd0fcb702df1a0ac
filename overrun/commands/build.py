"""`overrun build`: bring the tables that people query up to date."""

from __future__ import annotations

import os

import click

from overrun.exits import Exit
from overrun.options import Invocation, OverrunCommand, common_options
from overrun.running import now, print_report, run_options


@click.command(
    "build",
    cls=OverrunCommand,
    examples=("overrun build", "overrun build --as-of 2026-11-20"),
    exits=(Exit.REFUSED, Exit.LOCKED),
)
@common_options
def command(invocation: Invocation) -> Exit:
    """Build what changed of the tables that people query, and draw conclusions from them.

    All of it in one transaction: a failed check leaves the tables as they were.
    """
    from overrun.night import build_step, open_warehouse, run

    config = invocation.load()
    with run(config, "build", run_options(invocation, os.environ, now())) as step, open_warehouse(step) as warehouse:
        build_step(step, warehouse)
    print_report(step.report, invocation)
    return step.report.exit_code
