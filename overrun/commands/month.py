"""`overrun month`: closing, reopening and listing billing months."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from getpass import getuser
from typing import TYPE_CHECKING

import click

from overrun.exits import CommandFailed, Exit
from overrun.options import Invocation, Month, OverrunCommand, common_options

if TYPE_CHECKING:
    from overrun.closed_months import ClosedLoad, Closing, Figure, NewClosing
    from overrun.config import Config
    from sql.warehouse import Warehouse

SCHEMA_VERSION = 1
"""Of the JSON that these commands print."""
_NAME_LIMIT = 100
_SETTLED = frozenset({"final", "restated"})

month_argument = click.argument("month", type=Month(), metavar="MONTH")
by_option = click.option("--by", metavar="NAME", help="Who does it; default the login name.")


@click.group("month", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Close a billing month, reopen it, or list what is closed.

    A month is closed by a person, never by a night. Its figures, its attribution and the loads that they came from are
    kept in the state store as they are then; focus and the other marts go on following the provider, and
    marts.month_corrections has what lies between.
    """


@command.command(
    "close",
    cls=OverrunCommand,
    examples=("overrun month close 2026-10", "overrun month close 2026-11 --estimate --by 'Ada Byron'"),
    exits=(Exit.REFUSED, Exit.LOCKED),
)
@month_argument
@click.option(
    "--estimate",
    "is_estimate",
    is_flag=True,
    help="Book an accrual: what is loaded, and an estimate of the days that are missing yet.",
)
@by_option
@common_options
def close(invocation: Invocation, month: date, is_estimate: bool, by: str | None) -> Exit:
    """Close MONTH (YYYY-MM): keep its figures, project and team, and versions, as they are published now.

    Reads the published copy and writes the state store, so that it works while a night runs: all of it, or nothing.
    The next build gives marts.closed_month and marts.month_corrections. A month that has not ended can only be closed
    with --estimate.
    """
    from overrun.closed_months import close_month, closing_of
    from overrun.published import open_copy
    from sql.files import make_directory
    from sql.state import StateStore

    config = invocation.load()
    _refuse_early(month, invocation.as_of, is_estimate=is_estimate)
    with open_copy(config.publish) as copy:
        closing = _frozen(copy, month, invocation.as_of, _name(by), is_estimate=is_estimate)
        notes = list(_notes(copy, closing))
    make_directory(config.state.parent)
    with StateStore.open(config.state) as state:
        close_month(state, closing, now=datetime.now(UTC))
        standing = closing_of(state, month)
    if standing is None:
        raise CommandFailed(f"{month:%Y-%m} was reopened meanwhile", code=Exit.USAGE, hint="close it again")
    _show_closed(standing, closing.figures, notes, as_json=invocation.as_json)
    return Exit.DONE


def _refuse_early(month: date, as_of: date, *, is_estimate: bool) -> None:
    from sql.parts import next_month

    if as_of < month:
        raise CommandFailed(f"{month:%Y-%m} has not begun on {as_of}", code=Exit.USAGE, hint="correct the month")
    if as_of < next_month(month) and not is_estimate:
        raise CommandFailed(
            f"{month:%Y-%m} has not ended on {as_of}",
            code=Exit.USAGE,
            hint="close it later, or with --estimate, which books what is missing",
        )


def _name(by: str | None) -> str:
    """Return who closes; raises CommandFailed where it is no name."""
    try:
        name = getuser() if by is None else by.strip()
    except (OSError, KeyError):
        name = ""
    if not name or len(name) > _NAME_LIMIT or not name.isprintable():
        raise CommandFailed(
            f"who it is must be a printable name of 1 to {_NAME_LIMIT} characters",
            code=Exit.USAGE,
            hint="give --by NAME",
        )
    return name


def _frozen(copy: Warehouse, month: date, as_of: date, by: str, *, is_estimate: bool) -> NewClosing:
    """Return a month as it is published, with the accrual where one is asked for."""
    from overrun.accrual import accrue, calendar_of
    from overrun.close_read import read_days, read_figures, read_first_day, read_loads, read_splits_version
    from overrun.closed_months import NewClosing
    from sql.parts import next_month

    loads = read_loads(copy, month)
    if not loads:
        raise CommandFailed(
            f"nothing of {month:%Y-%m} is loaded", code=Exit.USAGE, hint="run overrun nightly, or correct the month"
        )
    figures = read_figures(copy, month)
    for load in loads if is_estimate else ():
        first_day = read_first_day(copy, load.source)
        if load.complete_through is not None and first_day is not None:
            calendar = calendar_of(first_day, load.complete_through, month, next_month(month))
            figures += accrue(load.source, read_days(copy, load, month), calendar)
    # Where no day is missing, the figures are no estimate.
    is_complete = all(_missing_days(load, month) == 0 for load in loads)
    return NewClosing(
        month=month,
        closed_by=by,
        as_of=as_of,
        is_estimate=is_estimate and not is_complete,
        splits_version=read_splits_version(copy, month),
        loads=tuple(loads),
        figures=tuple(figures),
    )


def _missing_days(load: ClosedLoad, month: date) -> int | None:
    """Return how many days of the month come after the source's last complete one; None where none is known."""
    from sql.parts import next_month

    if load.status in _SETTLED:
        return 0
    if load.complete_through is None:
        return None
    return max(0, min((next_month(month) - load.complete_through).days - 1, (next_month(month) - month).days))


def _notes(copy: Warehouse, closing: NewClosing) -> Iterator[str]:
    """Yield what a person has to know who closes a month."""
    from alerts.phrases import counted
    from overrun.close_read import read_missing

    night = copy.value("select max(as_of) from settings.night")
    if isinstance(night, date) and night < closing.as_of:
        yield f"these are the figures of the night of {night}"
    for load in closing.loads:
        if load.status not in _SETTLED:
            yield f"{load.source}: the month is {load.status}, and may still change"
        missing = _missing_days(load, closing.month)
        if missing is None:
            yield f"{load.source}: nothing is known to be complete, so that nothing is accrued"
        elif missing and not closing.is_estimate:
            yield (
                f"{load.source}: {counted(missing, 'day')} of the month are missing, it is complete through"
                f" {load.complete_through}; reopen it and close it with --estimate to book them"
            )
    for source in read_missing(copy, closing.month):
        yield f"{source}: nothing of the month is loaded"


def _show_closed(closing: Closing, figures: Sequence[Figure], notes: Sequence[str], *, as_json: bool) -> None:
    from overrun.terminal import print_table

    totals = _totals(figures)
    if as_json:
        content = {"schema_version": SCHEMA_VERSION, **_as_json(closing), "totals": totals, "notes": notes}
        click.echo(json.dumps(content))
        return
    # What splits move sums to nothing.
    rows = [_total_row(total) for total in totals if total["kind"] != "shared"]
    print_table(("what", "billed", "effective", "currency"), rows, sys.stdout)
    click.echo(f"\nclosed {closing.month:%Y-%m} by {closing.closed_by}; the next build shows it in marts.closed_month")
    for note in notes:
        click.echo(f"note: {note}", err=True)


def _total_row(total: dict[str, str]) -> tuple[object, ...]:
    amounts = (Decimal(total[name]).quantize(Decimal("0.01")) for name in ("billed_cost", "effective_cost"))
    return (total["kind"], *amounts, total["billing_currency"])


def _totals(figures: Sequence[Figure]) -> list[dict[str, str]]:
    """Return the sums of each kind and currency, exact."""
    from overrun.reconcile_gcp import sum_of

    groups = sorted({(figure.billing_currency, figure.kind) for figure in figures})
    totals = []
    for currency, kind in groups:
        chosen = [figure for figure in figures if (figure.billing_currency, figure.kind) == (currency, kind)]
        totals.append(
            {
                "kind": kind,
                "billing_currency": currency,
                "billed_cost": f"{sum_of(figure.billed_cost for figure in chosen):f}",
                "effective_cost": f"{sum_of(figure.effective_cost for figure in chosen):f}",
            }
        )
    return totals


@command.command("reopen", cls=OverrunCommand, examples=("overrun month reopen 2026-10",), exits=(Exit.LOCKED,))
@month_argument
@by_option
@common_options
def reopen(invocation: Invocation, month: date, by: str | None) -> Exit:
    """Reopen MONTH (YYYY-MM), which was closed: from the next build on it has no closed figures.

    What was closed is kept, with who reopened it and when. Closing the month again keeps the figures of then.
    """
    from overrun.closed_months import closings, reopen_month
    from sql.state import StateStore

    config = invocation.load()
    _require_state(config, month)
    with StateStore.open(config.state) as state:
        closed = reopen_month(state, month, _name(by), now=datetime.now(UTC))
        (closed,) = [one for one in closings(state) if one.close_id == closed.close_id]
    if invocation.as_json:
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, **_as_json(closed)}))
    else:
        click.echo(f"reopened {closed.month:%Y-%m}, which {closed.closed_by} had closed")
    return Exit.DONE


def _require_state(config: Config, month: date) -> None:
    """Refuse to reopen anything before the first run, which makes the store."""
    if not config.state.is_file():
        raise CommandFailed(f"{month:%Y-%m} is not closed", code=Exit.USAGE, hint="nothing is closed yet")


@command.command("list", cls=OverrunCommand, examples=("overrun month list", "overrun month list --json"))
@common_options
def list_(invocation: Invocation) -> Exit:
    """List the months that were closed, by whom and when, and those that were reopened."""
    from overrun.closed_months import closings
    from overrun.terminal import print_table
    from sql.state import StateStore

    config = invocation.load()
    found: list[Closing] = []
    if config.state.is_file():
        with StateStore.open_read_only(config.state) as state:
            found = closings(state)
    if invocation.as_json:
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "months": [_as_json(one) for one in found]}))
    elif found:
        columns = ("month", "state", "closed at", "by", "reopened at", "by whom")
        print_table(columns, [_list_row(one) for one in found], sys.stdout)
    else:
        click.echo("no month is closed")
    return Exit.DONE


def _state(closing: Closing) -> str:
    if closing.reopened_at is not None:
        return "reopened"
    return "closed, estimated" if closing.is_estimate else "closed"


def _list_row(closing: Closing) -> tuple[object, ...]:
    return (
        f"{closing.month:%Y-%m}",
        _state(closing),
        f"{closing.closed_at:%Y-%m-%d %H:%M}Z",
        closing.closed_by,
        None if closing.reopened_at is None else f"{closing.reopened_at:%Y-%m-%d %H:%M}Z",
        closing.reopened_by,
    )


def _as_json(closing: Closing) -> dict[str, object]:
    return {
        "month": f"{closing.month:%Y-%m}",
        "state": "reopened" if closing.reopened_at is not None else "closed",
        "is_estimate": closing.is_estimate,
        "closed_at": closing.closed_at.isoformat(),
        "closed_by": closing.closed_by,
        "as_of": closing.as_of.isoformat(),
        "reopened_at": None if closing.reopened_at is None else closing.reopened_at.isoformat(),
        "reopened_by": closing.reopened_by,
    }
