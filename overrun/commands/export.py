"""`overrun export`: files for other systems."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overrun.exits import CommandFailed, Exit
from overrun.options import Invocation, Month, OverrunCommand, common_options

if TYPE_CHECKING:
    from overrun.chargeback import Basis, JournalLine
    from overrun.closed_months import Closing, Figure
    from overrun.config import Config

SCHEMA_VERSION = 1
"""Of the JSON that these commands print."""


@click.group("export", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Write files for other systems."""


@command.command(
    "chargeback",
    cls=OverrunCommand,
    examples=(
        "overrun export chargeback --month 2026-10",
        "overrun export chargeback --month 2026-10 --basis billed --output journal.csv",
    ),
    exits=(Exit.REFUSED, Exit.LOCKED),
)
@click.option(
    "--month",
    type=Month(),
    metavar="MONTH",
    required=True,
    help="Billing month, YYYY-MM.",
)
@click.option(
    "--basis",
    type=click.Choice(["effective", "billed"]),
    default="effective",
    help="Which cost: effective (commitments spread, the default), or billed (ties to the invoice).",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to a file, whole or not at all; default stdout.",
)
@common_options
def chargeback(invocation: Invocation, month: date, basis: Basis, output: Path | None) -> Exit:
    """Write the journal of a month as CSV: a line per project, cost centre, ledger account, category and currency.

    Of a closed month it is made from the closed figures, whatever has been delivered since, accruals included; of
    another from what is published now, and `state` says so. Amounts are in cents and add up to the month's total.
    Texts that a spreadsheet would take for a formula have an apostrophe before them.
    """
    from overrun.chargeback import journal_of
    from overrun.output_file import usable_output

    config = invocation.load()
    target = None if output is None else usable_output(output, config)
    closing, figures = _figures(config, month)
    lines = journal_of(figures, basis)
    text = _json_text(month, closing, lines, basis) if invocation.as_json else None
    rows = list(_rows(month, closing, lines, basis))
    if closing is None:
        click.echo(f"note: {month:%Y-%m} is not closed; these are the figures of now", err=True)
    _write(text, rows, target)
    return Exit.DONE


def _figures(config: Config, month: date) -> tuple[Closing | None, list[Figure]]:
    """Return the closed figures of a month with its closing, else those of the published copy."""
    from overrun.close_read import read_figures, read_loads
    from overrun.closed_months import closing_of, figures_of
    from overrun.published import open_copy
    from sql.state import StateStore

    if config.state.is_file():
        with StateStore.open_read_only(config.state) as state:
            closing = closing_of(state, month)
            if closing is not None:
                return closing, figures_of(state, closing.close_id)
    with open_copy(config.publish) as copy:
        if not read_loads(copy, month):
            raise CommandFailed(
                f"nothing of {month:%Y-%m} is loaded", code=Exit.USAGE, hint="run overrun nightly, or correct the month"
            )
        return None, read_figures(copy, month)


def _state(closing: Closing | None) -> str:
    if closing is None:
        return "not closed"
    return "closed with estimate" if closing.is_estimate else "closed"


def _rows(
    month: date, closing: Closing | None, lines: Sequence[JournalLine], basis: Basis
) -> Iterator[tuple[object, ...]]:
    for line in lines:
        yield (
            f"{month:%Y-%m}",
            _state(closing),
            line.project,
            line.team,
            line.cost_centre,
            line.gl_account,
            line.service_category,
            line.billing_currency,
            line.debit,
            line.credit,
            line.exact_accrual or None,
            basis,
        )


def _json_text(month: date, closing: Closing | None, lines: Sequence[JournalLine], basis: Basis) -> str:
    return json.dumps(
        {
            "schema_version": SCHEMA_VERSION,
            "month": f"{month:%Y-%m}",
            "state": _state(closing),
            "basis": basis,
            "lines": [
                {
                    "project": line.project,
                    "team": line.team,
                    "cost_centre": line.cost_centre,
                    "gl_account": line.gl_account,
                    "service_category": line.service_category,
                    "billing_currency": line.billing_currency,
                    "amount": f"{line.amount:f}",
                    "exact_amount": f"{line.exact_amount:f}",
                    "exact_accrual": f"{line.exact_accrual:f}",
                }
                for line in lines
            ],
        }
    )


def _write(text: str | None, rows: Sequence[tuple[object, ...]], output: Path | None) -> None:
    """Write JSON where there is any, else CSV, to a file or to stdout."""
    from overrun.chargeback import COLUMNS
    from overrun.query_formats import write_csv
    from sql.files import write_text

    content = io.StringIO()
    if text is None:
        write_csv(COLUMNS, iter(rows), sys.stdout if output is None else content)
    elif output is None:
        click.echo(text)
    else:
        content.write(f"{text}\n")
    if output is not None:
        write_text(output, content.getvalue())
