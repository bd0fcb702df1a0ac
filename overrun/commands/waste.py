"""`overrun waste`: what costs money for nothing, and findings that people dismiss."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, date, datetime
from decimal import Decimal
from getpass import getuser
from typing import TYPE_CHECKING

import click

from overrun.exits import CommandFailed, Exit
from overrun.options import Day, Invocation, OverrunCommand, common_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overrun.config import Config
    from overrun.waste_read import Finding

SCHEMA_VERSION = 1
"""Of the JSON that these commands print."""
_NAME_LIMIT = 100
_REASON_LIMIT = 500


class _WasteGroup(OverrunCommand, click.Group):
    """A command that lists where it is given no other."""


@click.group(
    "waste",
    cls=_WasteGroup,
    invoke_without_command=True,
    examples=(
        "overrun waste",
        "overrun waste --team vision --json",
        "overrun waste dismiss 3f2a9c41d07e --until 2027-01-31 --reason 'kept for the audit'",
    ),
    exits=(Exit.LOCKED,),
)
@click.option("--project", metavar="P", help="Findings of this project alone.")
@click.option("--team", metavar="T", help="Findings of this team alone.")
@click.option(
    "--all",
    "shows_all",
    is_flag=True,
    help="Also what is advice, unknown, resolved, dismissed, or counted with another finding.",
)
@common_options
@click.pass_context
def command(
    context: click.Context, invocation: Invocation, project: str | None, team: str | None, shows_all: bool
) -> Exit:
    """List what costs money for nothing: how much a month, since when, whose it is and how to stop it.

    Reads the published copy, so it works while a night runs. Costs are effective costs before promotional credits; a
    month is 730 hours. Of one resource the largest finding counts.
    """
    from overrun.published import open_copy
    from overrun.waste_read import read_checks, read_findings, with_dismissals

    if context.invoked_subcommand is not None:
        return Exit.DONE
    config = invocation.load()
    with open_copy(config.publish) as copy:
        findings = read_findings(copy, project=project, team=team)
        states = [check["state"] == "evaluated" for check in read_checks(copy)]
    findings = with_dismissals(findings, _dismissals(config), invocation.as_of)
    shown = [finding for finding in findings if shows_all or finding.is_open]
    if invocation.as_json:
        click.echo(json.dumps(_content(shown, states), default=str))
    else:
        _print(shown, states)
    return Exit.DONE


@command.command(
    "dismiss",
    cls=OverrunCommand,
    examples=("overrun waste dismiss 3f2a9c41d07e --until 2027-01-31 --reason 'kept for the audit'",),
    exits=(Exit.LOCKED,),
)
@click.argument("finding_id", metavar="ID")
@click.option("--until", type=Day(), metavar="DATE", required=True, help="Last day on which it counts as dismissed.")
@click.option("--reason", metavar="TEXT", required=True, help="Why; people read it beside the finding.")
@click.option("--by", metavar="NAME", help="Who does it; default the login name.")
@common_options
def dismiss(invocation: Invocation, finding_id: str, until: date, reason: str, by: str | None) -> Exit:
    """Dismiss the finding ID: until DATE it counts nowhere and nobody is told of it.

    Writes the state store, so it works while a night runs; the next night shows it in marts.waste_findings. The last
    word on a finding counts, so that an earlier DATE takes a dismissal back.
    """
    from overrun.published import open_copy
    from overrun.waste_dismissals import dismiss as record
    from overrun.waste_read import read_findings
    from sql.files import make_directory
    from sql.state import StateStore

    config = invocation.load()
    name, why = (
        _line(getuser() if by is None else by, "--by NAME", _NAME_LIMIT),
        _line(reason, "--reason", _REASON_LIMIT),
    )
    with open_copy(config.publish) as copy:
        chosen = [finding for finding in read_findings(copy) if finding.finding_id == finding_id]
    if not chosen:
        raise CommandFailed(
            f"there is no finding {finding_id!r}", code=Exit.USAGE, hint="overrun waste --all lists their ids"
        )
    make_directory(config.state.parent)
    with StateStore.open(config.state) as state:
        record(state, finding_id, by=name, until=until, reason=why, now=datetime.now(UTC))
    if invocation.as_json:
        content = {"finding_id": finding_id, "dismissed_by": name, "until": until.isoformat(), "reason": why}
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, **content}))
    else:
        is_back = until < invocation.as_of
        click.echo(f"{finding_id} counts again" if is_back else f"dismissed {finding_id} until {until.isoformat()}")
    return Exit.DONE


@command.command("checks", cls=OverrunCommand, examples=("overrun waste checks",), exits=(Exit.LOCKED,))
@common_options
def checks(invocation: Invocation) -> Exit:
    """List the checks: what each found in each source, or why it was not evaluated."""
    from overrun.published import open_copy
    from overrun.terminal import print_table
    from overrun.waste_read import read_checks

    config = invocation.load()
    with open_copy(config.publish) as copy:
        found = read_checks(copy)
    if invocation.as_json:
        rows = [
            {key: f"{value:f}" if isinstance(value, Decimal) else value for key, value in row.items()} for row in found
        ]
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "checks": rows}, default=str))
        return Exit.DONE
    columns = ("source", "check", "state", "waste", "advice", "unknown", "why not")
    names = ("source", "check_name", "state", "waste_findings", "advice_findings", "unknown_findings", "reason")
    print_table(columns, [tuple(check[name] for name in names) for check in found], sys.stdout)
    return Exit.DONE


def _dismissals(config: Config) -> list[tuple[object, ...]]:
    """Return the last word of people on each finding; before the first run there is none."""
    from overrun.waste_dismissals import dismissal_rows
    from sql.state import StateStore

    if not config.state.is_file():
        return []
    with StateStore.open_read_only(config.state) as state:
        return dismissal_rows(state)


def _content(findings: Sequence[Finding], evaluated: Sequence[bool]) -> dict[str, object]:
    from overrun.waste_read import totals_of

    rows = [
        {key: f"{value:f}" if isinstance(value, Decimal) else value for key, value in asdict(finding).items()}
        for finding in findings
    ]
    totals = {currency: f"{amount:f}" for currency, amount in sorted(totals_of(findings).items())}
    return {
        "schema_version": SCHEMA_VERSION,
        "monthly_cost": totals,
        "checks_evaluated": sum(evaluated),
        "checks_not_evaluated": len(evaluated) - sum(evaluated),
        "findings": rows,
    }


def _print(findings: Sequence[Finding], evaluated: Sequence[bool]) -> None:
    """Print findings; `evaluated` says of each check in each source whether it could be made."""
    from overrun.terminal import print_table, shown
    from overrun.waste_read import totals_of

    if findings:
        columns = ("id", "a month", "so far", "", "what", "of", "project", "team", "days", "status")
        print_table(columns, [_row(finding) for finding in findings], sys.stdout)
        click.echo()
    for finding in findings:
        click.echo(f"{finding.finding_id}  {shown(finding.evidence)}")
        click.echo(f"{'':14}{shown(finding.stop_step)}")
    for currency, amount in sorted(totals_of(findings).items()):
        click.echo(f"{_hundredths(amount)} {shown(currency)} a month go for nothing")
    if not any(evaluated):
        click.echo("no check could be made, so nothing is known of what costs money for nothing")
    elif not findings:
        click.echo("nothing is found that costs money for nothing")
    if not all(evaluated):
        click.echo(f"note: {evaluated.count(False)} checks were not evaluated; overrun waste checks says why", err=True)


def _row(finding: Finding) -> tuple[object, ...]:
    status = finding.status if finding.outcome == "waste" else finding.outcome
    return (
        finding.finding_id,
        _hundredths(finding.monthly_cost) if finding.outcome == "waste" else None,
        _hundredths(finding.so_far_cost) if finding.outcome == "waste" else None,
        finding.billing_currency,
        finding.title,
        finding.subject,
        finding.project,
        finding.team,
        finding.age_days,
        status,
    )


def _hundredths(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"))


def _line(text: str, option: str, limit: int) -> str:
    """Return a printable line; raises CommandFailed where `text` is none."""
    line = text.strip()
    if not line or len(line) > limit or not line.isprintable():
        raise CommandFailed(
            f"{option} must be a printable line of 1 to {limit} characters", code=Exit.USAGE, hint=f"give {option}"
        )
    return line
