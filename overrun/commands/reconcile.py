"""`overrun reconcile`: what is loaded of an AWS source against what AWS Cost Explorer says."""

from __future__ import annotations

import json
import sys
from datetime import date, datetime
from typing import TYPE_CHECKING

import click

from overrun.exits import CommandFailed, Exit
from overrun.options import Invocation, OverrunCommand, common_options

if TYPE_CHECKING:
    from ingest.aws.cost_explorer import CostExplorerAnswer
    from ingest.source import SourceSettings
    from overrun.config import Config


@click.command(
    "reconcile",
    cls=OverrunCommand,
    examples=("overrun reconcile aws-main", "overrun reconcile aws-main --month 2026-10 --all"),
    exits=(Exit.FINDINGS, Exit.SOURCE, Exit.LOCKED),
)
@click.argument("source")
@click.option(
    "--month",
    type=click.DateTime(["%Y-%m"]),
    metavar="MONTH",
    help="Month to compare, YYYY-MM; default the last that is loaded.",
)
@click.option("--all", "shows_all", is_flag=True, help="Show the lines that tie, too.")
@common_options
def command(invocation: Invocation, source: str, month: datetime | None, shows_all: bool) -> Exit:
    """Compare what is loaded of an AWS source with Cost Explorer.

    By account, line item type and metric, with the source's own credentials, which need ce:GetCostAndUsage. AWS
    charges 0.01 USD for each page of the answer, mostly one. Reads the published copy, so that it works while a night
    runs. Ends with 1 where any line differs by more than a cent.
    """
    from overrun.reconcile_compare import compare
    from overrun.reconcile_read import read_loaded_month
    from overrun.reconcile_show import Reconciliation, print_reconciliation, reconciliation_as_json

    config = invocation.load()
    settings = _aws_source(config, source)
    loaded = read_loaded_month(config.publish, source, None if month is None else month.date())
    answer = _ask(settings, loaded.month, invocation.as_of)
    reconciliation = Reconciliation(
        source=source, month=loaded.month, comparison=compare(loaded, answer), answer=answer, shows_all=shows_all
    )
    if invocation.as_json:
        click.echo(json.dumps(reconciliation_as_json(reconciliation)))
    else:
        print_reconciliation(reconciliation, sys.stdout)
    return Exit.FINDINGS if reconciliation.comparison.differing else Exit.DONE


def _aws_source(config: Config, name: str) -> SourceSettings:
    """Return the configured source; raises CommandFailed where there is none, or where it is not of AWS."""
    from overrun.config_problems import nearest

    by_name = {source.name: source for source in config.sources}
    if name not in by_name:
        near = nearest(name, by_name)
        raise CommandFailed(
            f"no source {name} is configured",
            code=Exit.USAGE,
            hint=f"did you mean {near}?" if near else "overrun status lists the sources",
        )
    if by_name[name].kind != "aws-export":
        raise CommandFailed(
            f"source {name} is not of AWS",
            code=Exit.USAGE,
            hint="only an aws-export can be compared with Cost Explorer; GCP and others have no such service",
        )
    return by_name[name]


def _ask(settings: SourceSettings, month: date, as_of: date) -> CostExplorerAnswer:
    """Return Cost Explorer's answer; raises IngestError where it cannot be asked."""
    from ingest.aws.cost_explorer import ask_month

    if month > as_of:
        raise CommandFailed(
            f"{month:%Y-%m} has not begun on {as_of}",
            code=Exit.USAGE,
            hint="name an earlier --month, or a later --as-of",
        )
    return ask_month(settings, month, as_of)
