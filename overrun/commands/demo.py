"""`overrun demo`: sample exports, two nights on them, and what people get to see."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overrun.exits import Exit, worst
from overrun.options import Invocation, OverrunCommand, common_options
from overrun.running import progress

if TYPE_CHECKING:
    from alerts.message import Message
    from overrun.demo.nights import DemoResult

SCHEMA_VERSION = 1
"""Of the JSON that this command prints."""
_PARAGRAPHS_OF_DIGEST = 2


@click.command(
    "demo",
    cls=OverrunCommand,
    examples=("overrun demo", "overrun demo --directory /tmp/overrun-demo"),
    exits=(Exit.LOCKED,),
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("demo"),
    metavar="FOLDER",
    help="Where to; default ./demo. One that an earlier demo made is made anew.",
)
@common_options
def command(invocation: Invocation, directory: Path) -> Exit:
    """Write sample exports and run two nights on them.

    Acme, an invented company, trains and serves models on AWS and GCP. The demo writes three months of its exports in
    the providers' own formats, runs the nights of 19 and 20 November 2026, and shows what finance and a team would
    see. No network, no channel: messages are only shown. The folder holds everything; remove it when you are done.

    --config and --as-of have no effect here: the demo brings its own configuration and days.
    """
    from overrun.demo.nights import run_demo
    from overrun.log import configure_log

    configure_log(invocation.verbosity)
    result = run_demo(directory, progress(invocation))
    code = worst(report.exit_code for report in result.reports)
    if invocation.as_json:
        click.echo(json.dumps(_as_json(result, directory)))
        return code
    for report in result.reports:
        for error in report.problems:
            click.echo(f"error: {error}", err=True)
    _print(result, directory)
    return code


def _print(result: DemoResult, directory: Path) -> None:
    """Print what finance and a team would see, and what to try next."""
    from alerts.render import plain_text

    _print_tables(result)
    for message in result.messages(0):
        _print_title("Night of 19 November: the first message to a route is a digest, shortened here")
        click.echo(_indented(_shortened(message)))
    for message in result.messages(1):
        _print_title("Night of 20 November: the message that would be sent")
        click.echo(_indented(plain_text(message)))
    _print_title("The database, for any DuckDB tool, read-only")
    click.echo(f"  {result.config.publish}")
    _print_title("To try")
    for subject, line in _commands(directory):
        click.echo(f"  # {subject}\n  {line}\n")


def _print_tables(result: DemoResult) -> None:
    """Print the dearest projects and where the budgets stand."""
    from overrun.terminal import print_table

    _print_title("Costliest projects, 1 to 19 November 2026")
    print_table(("project", "team", "effective cost", "billed cost", "currency"), result.projects, sys.stdout)
    _print_title("Budgets, as of 20 November 2026")
    print_table(("budget", "state", "spent", "limit", "used %", "currency"), result.budgets, sys.stdout)


def _print_title(text: str) -> None:
    click.echo(f"\n{text}\n")


def _shortened(message: Message) -> str:
    """Return the opening of a message and one line per budget."""
    from alerts.render import plain_text

    paragraphs = plain_text(message).split("\n\n")
    opening, budgets = paragraphs[:_PARAGRAPHS_OF_DIGEST], paragraphs[_PARAGRAPHS_OF_DIGEST:-1]
    return "\n\n".join([*opening, "\n".join(budget.partition("\n")[0] for budget in budgets)])


def _indented(text: str) -> str:
    """Return a message two columns in, so that it stands apart from what is said about it."""
    return "\n".join(f"  {line}" if line else "" for line in text.rstrip("\n").split("\n"))


def _commands(directory: Path) -> list[tuple[str, str]]:
    """Return what each query to try is about, and its command line."""
    from overrun.demo.nights import QUERIES

    config = shlex.quote(str(directory / "overrun.toml"))
    program = program_as_called(sys.argv[0])
    return [(subject, f'{program} query --config {config} "{query}"') for subject, query in QUERIES]


def program_as_called(called: str) -> str:
    """Return what starts this program from here: its bare name where the PATH finds it, else the path as called."""
    found = shutil.which("overrun")
    is_ours = Path(called).name == "overrun" and Path(called).is_file()
    is_found = found is not None and is_ours and Path(found).samefile(called)
    return shlex.quote(called) if is_ours and not is_found else "overrun"


def _as_json(result: DemoResult, directory: Path) -> dict[str, object]:
    """Return the same as JSON values; amounts are text, so that no digit is lost."""
    from alerts.render import plain_text

    projects = ("project", "team", "effective_cost", "billed_cost", "billing_currency")
    budgets = ("budget_id", "state", "spent_amount", "limit_amount", "spent_percent", "billing_currency")
    return {
        "schema_version": SCHEMA_VERSION,
        "exit_code": int(worst(report.exit_code for report in result.reports)),
        "config": str(result.config.file),
        "database": str(result.config.publish),
        "projects": [dict(zip(projects, map(str, row), strict=True)) for row in result.projects],
        "budgets": [dict(zip(budgets, map(str, row), strict=True)) for row in result.budgets],
        "messages": [
            [plain_text(message) for message in result.messages(night)] for night in range(len(result.reports))
        ],
        "queries": [{"about": subject, "command": line} for subject, line in _commands(directory)],
    }
