"""`overrun status`: what was loaded when, how far each source is complete, what failed and why."""

from __future__ import annotations

import json
import sys

import click

from overrun.exits import Exit
from overrun.options import Invocation, OverrunCommand, common_options


@click.command(
    "status",
    cls=OverrunCommand,
    examples=("overrun status", "overrun status --json", "overrun status --as-of 2026-11-20"),
    exits=(Exit.LOCKED,),
)
@common_options
def command(invocation: Invocation) -> Exit:
    """Say what was loaded when, and what failed and why.

    Reads the published copy and the state store, never the warehouse, so that it works while a night runs. Ends with
    0 whatever it has to say; 75 is only for a program that holds the published copy open for writing.
    """
    from overrun.status_read import read_status
    from overrun.status_show import print_status, status_as_json

    status = read_status(invocation.load(), invocation.as_of)
    if invocation.as_json:
        click.echo(json.dumps(status_as_json(status)))
    else:
        print_status(status, sys.stdout)
    return Exit.DONE
