"""`overrun rebuild`: make the warehouse anew from landed files."""

from __future__ import annotations

import os

import click

from overrun.exits import Exit
from overrun.options import Invocation, OverrunCommand, common_options
from overrun.running import now, print_report, run_options


@click.command("rebuild", cls=OverrunCommand, examples=("overrun rebuild",), exits=(Exit.REFUSED, Exit.LOCKED))
@common_options
def command(invocation: Invocation) -> Exit:
    """Make the warehouse anew from landed files, build and publish.

    Totals must equal those of the ledger; until they do, the old warehouse stands. Months whose landed files were
    removed are copied from it. Nothing that people decided (state.sqlite) is touched.
    """
    from ingest.privacy import resolve_privacy
    from ingest.rebuild import rebuild
    from overrun.night import build_step, open_warehouse, publish_step, run

    config = invocation.load()
    options = run_options(invocation, os.environ, now())
    with run(config, "rebuild", options) as step:
        privacy = resolve_privacy(config.privacy, options.environ)
        made = rebuild(config.warehouse, config.sources, config.landing, options.now, options.say, privacy)
        with open_warehouse(step) as warehouse:
            build_step(step, warehouse)
        publish_step(step)
    click.echo(f"rebuilt: {made.loaded} months from landed files, {made.copied} copied", err=invocation.as_json)
    print_report(step.report, invocation)
    return step.report.exit_code
