"""`overrun source`: what is done to a source by hand."""

from __future__ import annotations

import os

import click

from overrun.exits import CommandFailed, Exit
from overrun.options import Invocation, OverrunCommand, common_options
from overrun.running import now, print_report, run_options


@click.group("source", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Drop the charges or runs of a source that is configured no more."""


@command.command(
    "drop", cls=OverrunCommand, examples=("overrun source drop aws-old",), exits=(Exit.REFUSED, Exit.LOCKED)
)
@click.argument("name")
@common_options
def drop(invocation: Invocation, name: str) -> Exit:
    """Drop every charge, run and landed file of the source NAME, build and publish.

    Only a source that the configuration names no more can be dropped: one that it names would be loaded again. The
    ledger keeps what was loaded when.
    """
    from ingest.drop import drop_source
    from ingest.usage.kept import drop_usage
    from overrun.night import build_step, open_warehouse, publish_step, run
    from sql.files import remove_tree

    config = invocation.load()
    if name in {*(source.name for source in config.sources), *(source.name for source in config.run_sources)}:
        raise CommandFailed(
            f"source {name} is configured, so the next night would load it again",
            code=Exit.USAGE,
            hint="remove its [[source]] from the configuration first",
        )
    with run(config, "source drop", run_options(invocation, os.environ, now())) as step:
        with open_warehouse(step) as warehouse:
            dropped = drop_source(warehouse, name)
            files = drop_usage(warehouse, name)
            if not dropped and not files:
                raise CommandFailed(
                    f"no charges or runs of a source {name}", code=Exit.USAGE, hint="overrun status lists the sources"
                )
            build_step(step, warehouse)
        remove_tree(config.landing / name)
        publish_step(step)
    what = f"{dropped} months" if dropped else f"runs from {files} files"
    click.echo(f"dropped: {what} of {name}", err=invocation.as_json)
    print_report(step.report, invocation)
    return step.report.exit_code
