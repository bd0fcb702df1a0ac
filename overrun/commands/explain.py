"""`overrun explain`: which rule, tag or owner decided whose a charge is."""

from __future__ import annotations

import json
import sys
from datetime import date
from typing import TYPE_CHECKING

import click

from overrun.exits import Exit
from overrun.options import Invocation, Month, OverrunCommand, common_options

if TYPE_CHECKING:
    from overrun.attribution_read import Explanation


@click.command(
    "explain",
    cls=OverrunCommand,
    examples=(
        "overrun explain i-0123456789abcdef0",
        "overrun explain detector --month 2026-10",
        "overrun explain 3f9a0c1d2b4e5f60/1742 --json",
    ),
    exits=(Exit.LOCKED,),
)
@click.argument("thing")
@click.option("--month", type=Month(), metavar="MONTH", help="Billing month, YYYY-MM; default its last one.")
@common_options
def command(invocation: Invocation, thing: str, month: date | None) -> Exit:
    """Say which setting decided project, team, environment, workload and cost centre of THING.

    THING is a resource (ResourceId), a project, or one row of focus.cost_and_usage as x_LoadId/x_RowNumber. What the
    charges come to under each name stands beside it, and the SQL that says so, which overrun query runs as it is. Of a
    project, what splits give to it and take from it follows.
    Reads the published copy, so that it works while a night runs.
    """
    from overrun.attribution_read import explain
    from overrun.published import open_copy

    config = invocation.load()
    with open_copy(config.publish) as warehouse:
        explanation = explain(warehouse, thing, month)
    if invocation.as_json:
        click.echo(json.dumps(_as_json(explanation)))
    else:
        _print(explanation)
    return Exit.DONE


def _print(explanation: Explanation) -> None:
    from overrun.query_formats import write_table
    from sql.text import shortened, visible

    what = shortened(visible(explanation.name), 80)
    click.echo(f"{explanation.kind} {what}, {explanation.billing_month:%Y-%m}\n")
    write_table(
        ("dimension", "name", "decided by", "effective_cost", "currency", "charges"),
        (
            (one.dimension, shortened(one.name, 80), shortened(one.named_by, 80), one.effective_cost,
             one.billing_currency, one.charge_rows)
            for one in explanation.decisions
        ),
        sys.stdout,
    )  # fmt: skip
    told = {one.named_by: one.rule for one in explanation.decisions if one.rule is not None}
    for named_by, rule in told.items():
        click.echo(f"\n{named_by}: {visible(rule)}")
    click.echo(f"\n{visible_lines(explanation.sql)}")
    if explanation.shared_sql is not None:
        click.echo("\nwhat splits give and take besides:\n")
        write_table(
            ("split", "from", "to", "effective_cost", "currency"),
            (
                (shortened(one.split_name, 80), shortened(one.from_project, 80), shortened(one.project, 80),
                 one.effective_cost, one.billing_currency)
                for one in explanation.shared
            ),
            sys.stdout,
        )  # fmt: skip
        click.echo(f"\n{visible_lines(explanation.shared_sql)}")


def visible_lines(sql: str) -> str:
    """Return SQL with its line ends, and every other control character shown escaped."""
    from sql.text import visible

    return "\n".join(map(visible, sql.split("\n")))


def _as_json(explanation: Explanation) -> dict[str, object]:
    return {
        "kind": explanation.kind,
        "name": explanation.name,
        "billing_month": f"{explanation.billing_month:%Y-%m}",
        "decisions": [
            {
                "dimension": one.dimension,
                "name": one.name,
                "named_by": one.named_by,
                "rule": one.rule,
                "effective_cost": str(one.effective_cost),
                "billing_currency": one.billing_currency,
                "charge_rows": one.charge_rows,
            }
            for one in explanation.decisions
        ],
        "sql": explanation.sql,
        "shared": [
            {
                "split_name": one.split_name,
                "from_project": one.from_project,
                "project": one.project,
                "billed_cost": str(one.billed_cost),
                "effective_cost": str(one.effective_cost),
                "billing_currency": one.billing_currency,
            }
            for one in explanation.shared
        ],
        "shared_sql": explanation.shared_sql,
    }
