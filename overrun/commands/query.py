"""`overrun query`: one SELECT on the copy for people, which works at any hour."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, TextIO

import click

from overrun.exits import CommandFailed, Exit
from overrun.options import Invocation, OverrunCommand, common_options

if TYPE_CHECKING:
    import duckdb

    from overrun.config import Config
    from sql.warehouse import Warehouse

FORMATS = ("table", "csv", "json", "parquet", "xlsx")
_BINARY = frozenset({"parquet", "xlsx"})
ROWS_ON_TERMINAL = 1000
"""Rows of a table that a terminal is shown without --limit."""
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked: the SELECT with its parameters, and where its result goes; `is_cut` where long cells are cut."""

    select: str
    parameters: tuple[str, ...]
    format: str
    output: Path | None
    limit: int | None
    is_cut: bool


@click.command(
    "query",
    cls=OverrunCommand,
    examples=(
        'overrun query "select project, sum(billed_cost), billing_currency from marts.monthly_cost group by all"',
        "overrun query --tables",
        "overrun query --columns marts.budget_status",
        'overrun query "from marts.monthly_cost" --output costs.xlsx',
        "overrun query - --format json < report.sql",
    ),
    exits=(Exit.LOCKED,),
)
@click.argument("sql", required=False)
@click.option("--tables", is_flag=True, help="List the tables of focus and marts, and what each holds.")
@click.option("--columns", metavar="TABLE", help="List the columns of one table, and what each holds.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="Default: by the ending of --output, else table.",
)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write to FILE.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="At most N rows.")
@common_options
def command(  # noqa: PLR0913, PLR0917 - one for each option
    invocation: Invocation,
    sql: str | None,
    tables: bool,
    columns: str | None,
    format_name: str | None,
    output: Path | None,
    limit: int | None,
) -> Exit:
    """Run one SELECT on the published copy.

    SQL is the statement, or - to read it from stdin; tables of marts and focus need no schema before their name. It
    reads the tables of that copy and nothing else: no file, no network. A table on a terminal or a pipe cuts cells at
    80 characters; csv, json, parquet and files are whole. In CSV, text that a spreadsheet would take for a formula gets
    an apostrophe before it; in xlsx it is marked as text, and numbers keep 15 digits, as everywhere in Excel. In JSON,
    decimals are strings, so that no digit of money is lost. --json is --format json.
    """
    chosen = _chosen_format(format_name, output, is_json=invocation.as_json)
    text, parameters = _asked(sql, tables=tables, columns=columns)
    # What the lists of tables and columns say of each is not cut.
    is_cut = chosen == "table" and output is None and sql is not None
    request = Request(select=text, parameters=parameters, format=chosen, output=output, limit=limit, is_cut=is_cut)
    _run(request, invocation.load(), is_checked=sql is None)
    return Exit.DONE


def _chosen_format(named: str | None, output: Path | None, *, is_json: bool) -> str:
    """Return the format that the options come to; raises CommandFailed where they contradict each other."""
    if is_json and named not in {None, "json"}:
        raise CommandFailed(
            f"--json and --format {named} contradict each other", code=Exit.USAGE, hint="drop one of them"
        )
    by_ending = output.suffix.lower().removeprefix(".") if output is not None else ""
    chosen = "json" if is_json else named or (by_ending if by_ending in FORMATS else "table")
    if chosen in _BINARY and output is None:
        raise CommandFailed(f"{chosen} is not for a terminal or a pipe", code=Exit.USAGE, hint="add --output FILE")
    return chosen


def _asked(sql: str | None, *, tables: bool, columns: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the SQL that is asked for, and its parameters."""
    from overrun.query_run import COLUMNS_QUERY, TABLES_QUERY

    if sum((sql is not None, tables, columns is not None)) != 1:
        raise CommandFailed(
            "give one of SQL, --tables and --columns TABLE", code=Exit.USAGE, hint="run overrun query --help"
        )
    if tables:
        return TABLES_QUERY, ()
    if columns is not None:
        return COLUMNS_QUERY, (columns,)
    return (sys.stdin.read() if sql == "-" else str(sql)), ()


def _run(request: Request, config: Config, *, is_checked: bool) -> None:
    """Run the query and write its result to stdout or, whole or not at all, to the file."""
    from overrun.output_file import usable_output
    from overrun.query_run import checked_select, interruptible, known_table, open_locked_down, query_errors
    from sql.files import temporary_beside

    select = request.select if is_checked else checked_select(request.select)
    output = None if request.output is None else usable_output(request.output, config)
    temporary = None if output is None else temporary_beside(output)
    with open_locked_down(config.publish, config.warehouse, temporary) as warehouse, query_errors(warehouse):
        parameters = [known_table(warehouse, name) for name in request.parameters]
        asked = replace(request, select=select, parameters=tuple(parameters), output=output)
        interruptible(warehouse, lambda is_over: _answer(warehouse, asked, is_over))


def _answer(warehouse: Warehouse, request: Request, is_over: Event) -> None:
    """Run a checked query and write its result to where it goes; a file appears whole or not at all."""
    from sql.files import file_errors, remove, rename, temporary_beside

    if request.output is None:
        _write(warehouse.execute(request.select, request.parameters), request, sys.stdout, is_over)
        return
    temporary = temporary_beside(request.output)
    try:
        with file_errors(request.output):
            temporary.touch()
            if request.format == "parquet":
                _write_parquet(warehouse, request, temporary)
            elif request.format == "xlsx":
                _write_xlsx(warehouse.execute(request.select, request.parameters), request, temporary, is_over)
            else:
                with temporary.open("w", encoding="utf-8", newline="") as stream:
                    _write(warehouse.execute(request.select, request.parameters), request, stream, is_over)
        rename(temporary, request.output)
    finally:
        remove(temporary)


def _write_parquet(warehouse: Warehouse, request: Request, file: Path) -> None:
    """Let DuckDB write the result, which keeps its types."""
    from sql.warehouse import literal

    limit = "" if request.limit is None else f" limit {request.limit}"
    target = f"{literal(str(file))} (format parquet, use_tmp_file false)"
    warehouse.execute(f"copy (from ({request.select}\n){limit}) to {target}", request.parameters)


def _write_xlsx(cursor: duckdb.DuckDBPyConnection, request: Request, file: Path, is_over: Event) -> None:
    """Write what a cursor gives as a workbook, and tell where texts did not fit."""
    from overrun.query_sheet import TEXT_OF_CELL, write_sheet

    columns = [str(column[0]) for column in cursor.description or []]
    cut = write_sheet(columns, islice(_fetched(cursor, is_over), request.limit), file)
    if cut:
        click.echo(f"{cut} texts were cut at {TEXT_OF_CELL:,} characters, all that a cell of Excel holds", err=True)


def _write(cursor: duckdb.DuckDBPyConnection, request: Request, stream: TextIO, is_over: Event) -> None:
    """Write what a cursor gives in the format asked for."""
    from overrun.query_formats import WRITERS, write_cut_table

    columns = [str(column[0]) for column in cursor.description or []]
    rows = _fetched(cursor, is_over)
    limit = request.limit
    is_first_part = request.format == "table" and limit is None and stream.isatty()
    write = write_cut_table if request.is_cut else WRITERS[request.format]
    write(columns, islice(rows, ROWS_ON_TERMINAL if is_first_part else limit), stream)
    if is_first_part and next(rows, None) is not None:
        click.echo(f"only the first {ROWS_ON_TERMINAL} rows are shown; --limit N shows more", err=True)


def _fetched(cursor: duckdb.DuckDBPyConnection, is_over: Event) -> Iterator[Sequence[object]]:
    """Yield the rows of a cursor, a batch in memory at a time, until somebody has had enough."""
    while not is_over.is_set() and (batch := cursor.fetchmany(_ROWS_AT_ONCE)):
        yield from batch
    if is_over.is_set():
        raise KeyboardInterrupt
