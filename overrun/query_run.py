"""Running somebody's SQL on the published copy: one SELECT, which can read the tables of that file and nothing else.

The file is opened read-only. Before the query is looked at, DuckDB's access to files, network and extensions is
turned off and the settings are locked, so that no query can read or write a file of this machine. Where a parquet file
is asked for, its temporary name is the only path that DuckDB may write.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from difflib import get_close_matches
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from overrun.exits import CommandFailed, Exit
from overrun.published import first_line, open_copy
from sql.warehouse import Warehouse, WarehouseSettings, literal

if TYPE_CHECKING:
    import duckdb

TABLES_QUERY = """
    select schema_name || '.' || name as "table", comment as holds
    from (
        select schema_name, table_name as name, comment from duckdb_tables()
        union all
        select schema_name, view_name as name, comment from duckdb_views()
    )
    where schema_name in ('focus', 'marts')
    order by schema_name, name
"""
COLUMNS_QUERY = """
    select column_name as "column", data_type as type, comment as holds
    from duckdb_columns()
    where schema_name || '.' || table_name = ? and schema_name in ('focus', 'marts')
    order by column_index
"""

_MISSING_TABLE = re.compile(r"Table with name (?P<name>\S+) does not exist")
_CANDIDATES = re.compile(r"^Candidate (?:bindings|functions): *(?P<names>.+)$", re.MULTILINE)


@contextmanager
def open_locked_down(path: Path, settings: WarehouseSettings, written: Path | None) -> Iterator[Warehouse]:
    """Open the copy at `path` so that queries can read it and touch nothing else; `written` may be written."""
    with open_copy(path) as warehouse:
        statements = [
            "set python_enable_replacements = false",
            # So that people may type monthly_cost.
            "set search_path = 'marts,focus'",
            "set autoload_known_extensions = false",
            f"set memory_limit = {literal(settings.memory_limit)}",
            # Readers may have no right to write beside the copy.
            f"set temp_directory = {literal(str(Path(tempfile.gettempdir()) / 'overrun-query'))}",
        ]
        if settings.threads is not None:
            statements.append(f"set threads = {settings.threads}")
        if written is not None:
            statements.append(f"set allowed_paths = [{literal(str(written))}]")
        for statement in (*statements, "set enable_external_access = false", "set lock_configuration = true"):
            warehouse.execute(statement)
        yield warehouse


def checked_select(text: str) -> str:
    """Return the one SELECT that `text` holds, without what ends it; raises CommandFailed for anything else."""
    import duckdb

    if not _is_text(text):
        raise CommandFailed("the SQL is not UTF-8 text", code=Exit.USAGE, hint="save it as UTF-8")
    try:
        statements = duckdb.extract_statements(text)
    except duckdb.Error as error:
        raise _failed(error, []) from error
    if not statements:
        raise CommandFailed("there is no SQL in it", code=Exit.USAGE, hint='overrun query "from marts.monthly_cost"')
    if len(statements) > 1:
        raise CommandFailed(
            f"{len(statements)} statements were given", code=Exit.USAGE, hint="give one SELECT at a time"
        )
    if statements[0].type != duckdb.StatementType.SELECT:
        kind = statements[0].type.name.lower().replace("_", " ")
        raise CommandFailed(
            f"{kind} statements are not run: the copy for people is only read",
            code=Exit.USAGE,
            hint="give one SELECT; --output FILE writes its result",
        )
    return _without_end(text)


def _is_text(text: str) -> bool:
    """Return whether `text` can be handed on: bytes that were not UTF-8 come in as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _without_end(text: str) -> str:
    """Return one statement without the semicolon that ends it and what stands behind; tokens are placed by byte."""
    import duckdb

    content = text.encode()
    ends = (place for place, kind in duckdb.tokenize(text) if kind != duckdb.token_type.comment)
    end = next((place for place in ends if content[place : place + 1] == b";"), len(content))
    return content[:end].decode()


@contextmanager
def query_errors(warehouse: Warehouse) -> Iterator[None]:
    """Turn what DuckDB says about a query into one clear error with a hint."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise _failed(error, table_names(warehouse)) from error


def interruptible(warehouse: Warehouse, work: Callable[[Event], None]) -> None:
    """Do `work` on `warehouse` so that Ctrl-C ends it at once; its argument is set when it should end.

    It runs beside: where DuckDB leaves a query to another thread, the one that waits for it sees no signal.
    """
    is_over = Event()
    connection = warehouse.execute("select 1")
    with ThreadPoolExecutor(max_workers=1) as beside:
        working = beside.submit(copy_context().run, work, is_over)
        try:
            working.result()
        except KeyboardInterrupt:
            is_over.set()
            connection.interrupt()
            raise


def table_names(warehouse: Warehouse) -> list[str]:
    """Return the tables that people query, as `schema.name`."""
    return [str(row[0]) for row in warehouse.rows(TABLES_QUERY)]


def known_table(warehouse: Warehouse, name: str) -> str:
    """Return the full name of the table that `name` means, with or without schema; raises CommandFailed."""
    known = table_names(warehouse)
    wanted = name.strip().lower()
    found = [full for full in known if wanted in {full, full.split(".")[1]}]
    if not found:
        raise CommandFailed(f"there is no table {name}", code=Exit.USAGE, hint=nearest_table(name, known))
    return found[0]


def nearest_table(name: str, known: list[str]) -> str:
    """Return a hint that names the table most like `name`."""
    by_bare_name = {full.split(".")[1]: full for full in known}
    bare = name.strip('"').rsplit(".", 1)[-1].strip('"').lower()
    close = get_close_matches(bare, by_bare_name, n=1, cutoff=0.5)
    return f"did you mean {by_bare_name[close[0]]}?" if close else "overrun query --tables lists the tables"


def _failed(error: duckdb.Error, known: list[str]) -> CommandFailed:
    return CommandFailed(_clause(error), code=Exit.USAGE, hint=_hint(error, known))


def _clause(error: duckdb.Error) -> str:
    """Return what DuckDB says as a clause, whose first word keeps its capitals where it is one of SQL."""
    clause = first_line(error)
    is_keyword = clause.split(" ", 1)[0][1:].isupper()
    return clause[:1].upper() + clause[1:] if is_keyword else clause


def _hint(error: duckdb.Error, known: list[str]) -> str:
    """Return what may help: the nearest table, or the columns that there are."""
    import duckdb

    text = str(error)
    if isinstance(error, duckdb.PermissionException) or "extension" in text:
        return "a query reads the tables of the published copy; files, network and extensions are out of its reach"
    if isinstance(error, duckdb.OutOfMemoryException):
        return "raise memory_limit in [warehouse], or ask for less at once"
    missing = _MISSING_TABLE.search(text)
    if missing:
        return nearest_table(missing["name"], known)
    candidates = _CANDIDATES.search(text)
    if candidates:
        return f"there is {candidates['names']}"
    if isinstance(error, duckdb.ParserException):
        return "overrun query --help has examples; the SQL is DuckDB's"
    return "overrun query --tables lists the tables, --columns TABLE the columns of one"
