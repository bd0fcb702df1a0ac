"""`overrun attribution`: what would say whose the unattributed is."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING

import click

from overrun.exits import CommandFailed, Exit
from overrun.options import Invocation, Month, OverrunCommand, common_options

if TYPE_CHECKING:
    from overrun.attribution_suggest import Suggestion


@click.group("attribution", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Propose rules for what is unattributed."""


@command.command(
    "suggest",
    cls=OverrunCommand,
    examples=(
        "overrun attribution suggest",
        "overrun attribution suggest --month 2026-10 --limit 5",
        "overrun attribution suggest --json",
    ),
    exits=(Exit.LOCKED,),
)
@click.option("--month", type=Month(), metavar="MONTH", help="Billing month, YYYY-MM; default the last one.")
@click.option("--limit", type=click.IntRange(min=1, max=1000), default=10, metavar="N", help="At most N; default 10.")
@common_options
def suggest(invocation: Invocation, month: date | None, limit: int) -> Exit:
    """Rank what no project pays for by money, and propose rules as TOML.

    A rule is proposed where nearly all of the attributed money with the same sign is one project's: the account, a tag,
    or how the name of the resource or account begins. It changes nothing: read the rules, and put those that hold into
    the configuration. The ranking and the reasons are comments, so that the output is TOML as a whole.
    """
    from overrun.attribution_read import require_attribution
    from overrun.attribution_suggest import as_toml
    from overrun.attribution_suggest import suggest as propose
    from overrun.published import open_copy

    config = invocation.load()
    with open_copy(config.publish) as warehouse:
        require_attribution(warehouse)
        known = warehouse.value("select max(billing_month) from core.name_cost")
        asked = month or known
        if not isinstance(asked, date):
            raise CommandFailed("nothing is loaded yet", code=Exit.USAGE, hint="run overrun nightly")
        suggestion = propose(warehouse, asked, limit)
    click.echo(json.dumps(_as_json(suggestion)) if invocation.as_json else as_toml(suggestion), nl=invocation.as_json)
    return Exit.DONE


def _as_json(suggestion: Suggestion) -> dict[str, object]:
    return {
        "billing_month": f"{suggestion.billing_month:%Y-%m}",
        "unattributed": [
            {
                "sub_account_id": one.sub_account_id,
                "effective_cost": str(one.effective_cost),
                "billing_currency": one.billing_currency,
                "charge_rows": one.charge_rows,
            }
            for one in suggestion.unattributed
        ],
        "proposals": [
            {
                "sign": one.sign,
                "project": one.project,
                "effective_cost": str(one.effective_cost),
                "billing_currency": one.billing_currency,
                "share": str(one.share),
                "toml": one.toml,
            }
            for one in suggestion.proposals
        ],
    }
