"""`overrun alert`: queue what teams have to be told, and send what is due."""

from __future__ import annotations

import os

import click

from overrun.exits import Exit
from overrun.options import Invocation, OverrunCommand, common_options
from overrun.running import now, print_report, run_options


@click.command(
    "alert",
    cls=OverrunCommand,
    examples=("overrun alert", "overrun alert --as-of 2026-11-20 --json"),
    exits=(Exit.UNDELIVERED, Exit.LOCKED),
)
@common_options
def command(invocation: Invocation) -> Exit:
    """Tell teams what is due.

    Reads the conclusions of the last build, queues what is new, and sends that and whatever still waits. May run
    hourly, so that a message that a channel refused for a while does not wait for the night.
    """
    from overrun.night import alert_step, run

    config = invocation.load()
    with run(config, "alert", run_options(invocation, os.environ, now())) as step:
        alert_step(step)
    print_report(step.report, invocation)
    return step.report.exit_code
