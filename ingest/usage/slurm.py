"""Runs of Slurm: what `sacct --parsable2` writes, with or without a header.

Without one the columns are those of XDMoD's collector, job name last, so that a name may hold the delimiter; a day
without jobs is then an empty file. A row is an allocation: steps are left out, and each attempt of a requeued job is a
row of its own. Instants are taken as UTC (`TZ=UTC sacct ...`).

Source: Slurm documentation, sacct, "Job accounting fields", "Job state codes".
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import duckdb

from ingest.delivery import DeliveredFile
from ingest.errors import LoadRefused, SourceUnreadable
from ingest.explain import explained
from ingest.usage.gpus import gpus_of_tres
from ingest.usage.source import Incoming, RunSource
from sql.contract import RUN
from sql.warehouse import Warehouse, literal

COLUMNS = (
    "jobid", "jobidraw", "cluster", "partition", "qos", "account", "group", "gid", "user", "uid", "submit", "eligible",
    "start", "end", "elapsed", "exitcode", "state", "nnodes", "ncpus", "reqcpus", "reqmem", "reqtres", "alloctres",
    "timelimit", "nodelist", "jobname",
)  # fmt: skip
"""Columns of a file without a header."""
_READ = (*COLUMNS, "reason", "workdir", "dependency")
_NEEDED = ("jobid", "start", "end", "state")
_INSTANTS = ("submit", "start", "end")
_NUMBERS = ("nnodes", "ncpus")
_NONE = ("", "Unknown", "None", "N/A", "NONE")


def read_slurm(warehouse: Warehouse, file: DeliveredFile, source: RunSource) -> Incoming:
    """Read one file to `incoming`; raises LoadRefused with the line of a row that cannot be read."""
    columns, is_header = _columns_of(file)
    _read_lines(warehouse, file, is_header=is_header)
    _refuse_bad_rows(warehouse, file, columns)
    fields = ", ".join(f'{_field(columns, name)} as "{name}"' for name in _READ)
    warehouse.execute(f"create or replace temporary view sacct as select row_number, {fields} from sacct_lines")
    _count_gpus(warehouse)
    text = files("sql").joinpath("models", "usage", "slurm.sql").read_text(encoding="utf-8")
    warehouse.execute("set variable source_cluster = ?", [source.cluster])
    warehouse.execute(f"create or replace temporary table incoming as {text}")
    rows = int(str(warehouse.value("select count(*) from sacct_lines")))
    kept = int(str(warehouse.value("select count(*) from incoming")))
    warehouse.execute("drop view sacct; drop table sacct_lines; drop table sacct_gpus")
    return Incoming(table=RUN, rows_read=rows, rows_dropped=rows - kept)


def _columns_of(file: DeliveredFile) -> tuple[list[str], bool]:
    """Return the columns of a file, and whether its first line names them."""
    opener = gzip.open if file.name.endswith(".gz") else Path.open
    try:
        with opener(file.path, "rb") as stream:
            first = stream.readline(1_000_000).decode("utf-8", "replace").strip("\r\n")
    except (OSError, EOFError) as error:
        raise SourceUnreadable("the file cannot be read", file=file.name) from error
    names = [name.strip().lower() for name in first.split("|")]
    if "jobid" not in names:
        return list(COLUMNS), False
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise LoadRefused(
            f"line 1: the header has no column {missing[0]}",
            file=file.name,
            hint="docs/runs.md has the command that writes the file",
        )
    return names, True


def _read_lines(warehouse: Warehouse, file: DeliveredFile, *, is_header: bool) -> None:
    """Take the lines of a file apart at the delimiter, in their order."""
    compression = "gzip" if file.name.endswith(".gz") else "none"
    try:
        warehouse.execute("set preserve_insertion_order = true")
        warehouse.execute(
            "create or replace temporary table sacct_lines as select row_number, string_split(line, '|') as parts"
            " from (select row_number() over () as row_number, line"
            f" from read_csv({literal(str(file.path))}, header = false, auto_detect = false,"
            " columns = {'line': 'VARCHAR'}, delim = '\x01', quote = '', escape = '', comment = '',"
            f" strict_mode = false, compression = '{compression}'))"
            f" where trim(coalesce(line, '')) <> '' and row_number > {int(is_header)}"
        )
    except duckdb.Error as error:
        raise explained(error, file.name) from error
    finally:
        warehouse.execute("set preserve_insertion_order = false")


def _field(columns: Sequence[str], name: str) -> str:
    """Return the expression for a column: a delimiter too many is part of the job name."""
    if name not in columns:
        return "''"
    position, size = columns.index(name) + 1, len(columns)
    named = columns.index("jobname") + 1 if "jobname" in columns else size + 1
    if position < named:
        return f"trim(parts[{position}])"
    if position == named:
        return f"array_to_string(parts[{position}:len(parts) - {size - position}], '|')"
    return f"trim(parts[len(parts) - {size - position}])"


def _refuse_bad_rows(warehouse: Warehouse, file: DeliveredFile, columns: Sequence[str]) -> None:
    """Raise LoadRefused for the first row with too few or too many fields, or a value that cannot be read."""
    size = len(columns)
    counted = f"len(parts) < {size}" if "jobname" in columns else f"len(parts) <> {size}"
    nothing = ", ".join(literal(word) for word in _NONE)
    checks = [(counted, f"'has ' || len(parts) || ' fields, where {size} are expected'")]
    checks += [(f"{_field(columns, 'jobid')} = ''", "'has no job id'")]
    checks += [
        (
            f"{value} not in ({nothing}) and try_cast({value} as timestamp) is null",
            f"'{name} is no instant: ' || {value}",
        )
        for name in _INSTANTS
        if (value := _field(columns, name)) != "''"
    ]
    checks += [
        (
            f"{value} <> '' and not (coalesce(try_cast({value} as bigint), -1) >= 0)",
            f"'{name} is no number: ' || {value}",
        )
        for name in _NUMBERS
        if (value := _field(columns, name)) != "''"
    ]
    bad = " ".join(f"when {condition} then {words}" for condition, words in checks)
    found = warehouse.row(
        f"select row_number, fault from (select row_number, case {bad} end as fault from sacct_lines)"
        " where fault is not null order by row_number limit 1"
    )
    if found is not None:
        raise LoadRefused(
            f"line {found[0]} {found[1]}",
            file=file.name,
            hint="the last good version stays loaded; docs/runs.md has the command that writes the file",
        )


def _count_gpus(warehouse: Warehouse) -> None:
    """Count accelerators once per distinct request: what was allocated, or else what was asked for."""
    rows = warehouse.rows(
        "select distinct array_to_string(regexp_extract_all("
        "coalesce(nullif(alloctres, ''), reqtres), 'gres/[^,]+'), ',') from sacct"
    )
    counted = [(str(row[0]), gpus_of_tres(str(row[0]))) for row in rows]
    warehouse.execute(
        "create or replace temporary table sacct_gpus as select unnest(?::varchar[]) as request,"
        " unnest(?::decimal(18,9)[]) as gpu_count, unnest(?::varchar[]) as accelerator,"
        " unnest(?::decimal(18,9)[]) as gpu_shards",
        [
            [request for request, _ in counted],
            [gpus.count for _, gpus in counted],
            [gpus.accelerator for _, gpus in counted],
            [gpus.shards for _, gpus in counted],
        ],
    )
