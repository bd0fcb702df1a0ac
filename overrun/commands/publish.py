"""`overrun publish`: replace the copy for people."""

from __future__ import annotations

import os

import click

from overrun.exits import Exit
from overrun.options import Invocation, OverrunCommand, common_options
from overrun.running import now, print_report, run_options


@click.command(
    "publish",
    cls=OverrunCommand,
    examples=("overrun publish", "overrun publish --force"),
    exits=(Exit.REFUSED, Exit.LOCKED),
)
@click.option("--force", is_flag=True, help="Replace the copy though nothing is new.")
@common_options
def command(invocation: Invocation, force: bool) -> Exit:
    """Replace the copy for people, where anything is new.

    Readers of the old copy go on undisturbed; they see the new one when they open it again.
    """
    from overrun.night import publish_step, run

    config = invocation.load()
    with run(config, "publish", run_options(invocation, os.environ, now())) as step:
        publish_step(step, force=force)
    print_report(step.report, invocation)
    return step.report.exit_code
