"""Files of runs and capacity, loaded: what is new or other than before is written, what is listed no more stays.

Reads `ops.seen_file` and `ops.usage_load`, writes `usage.*` and `ops.usage_load`; one transaction per source. A file
that is as it was is not read again. One that cannot be read leaves what it gave before, and the other files go on.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path

import duckdb

from ingest.checksums import Checksums
from ingest.delivery import DeliveredFile
from ingest.errors import IngestError, SourceUnreadable
from ingest.explain import explained
from ingest.listing import list_files
from ingest.usage.capacity import ENDINGS, read_capacity
from ingest.usage.kept import HIDDEN
from ingest.usage.kubernetes import give_way_to_pods, read_kubernetes
from ingest.usage.mlflow import read_mlflow, store_of
from ingest.usage.nodes import nodes_of
from ingest.usage.runs_files import read_runs_file
from ingest.usage.slurm import read_slurm
from ingest.usage.source import Incoming, RunSource, RunSourceKind
from ingest.usage.tables import READABLE
from sql.contract import RUN, RUN_NODE, RUN_TOTAL, USAGE_LOAD, Table
from sql.usage import mark_usage, unknown_words
from sql.warehouse import Warehouse, quoted

Progress = Callable[[str], None]
Reader = Callable[[Warehouse, DeliveredFile, RunSource], Incoming]

READERS: Mapping[RunSourceKind, tuple[Reader, tuple[str, ...]]] = {
    "slurm": (read_slurm, ()),
    "runs-files": (read_runs_file, READABLE),
    "kubernetes": (read_kubernetes, (".json",)),
    "mlflow": (read_mlflow, ()),
    "capacity": (read_capacity, ENDINGS),
}
"""What reads a file of each kind of source, and how names of such files end; any name where nothing is said."""
_CODE = (
    "capacity.py", "csv_file.py", "gpus.py", "kubernetes.py", "load.py", "mlflow.py", "nodes.py", "runs_files.py",
    "slices.py", "slurm.py", "tables.py",
)  # fmt: skip
_ROWS_PER_INSERT = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedFile:
    """One file that was loaded."""

    source: str
    file: str
    rows_read: int
    rows_changed: int
    passed_over: tuple[str, ...] = ()
    """Columns that nothing is read of, which may be names misspelt."""


@dataclass(slots=True, kw_only=True)
class UsageReport:
    """What loading runs and capacity came to."""

    loaded: list[LoadedFile] = field(default_factory=list)
    unchanged: int = 0
    """Files."""
    problems: list[IngestError] = field(default_factory=list)
    without_data: list[str] = field(default_factory=list)
    """Sources that have no file yet."""
    unknown_states: dict[str, Counter[str]] = field(default_factory=dict)
    """Source -> words for states that are none that is known -> rows loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loading:
    """One source under way."""

    warehouse: Warehouse
    source: RunSource
    now: datetime
    report: UsageReport


@dataclass(frozen=True, slots=True)
class _Fresh:
    """A file that is new or other than before, with its version and the table that it was read to."""

    file: DeliveredFile
    version: str
    incoming: Incoming
    name: str


def load_usage(
    warehouse: Warehouse,
    sources: Sequence[RunSource],
    checksums: Checksums,
    now: datetime,
    progress: Progress = lambda _: None,
) -> UsageReport:
    """Load what each source newly tells; `now` is UTC without zone. Problems are in the report, never raised."""
    report = UsageReport()
    for source in sources:
        progress(f"{source.name}: looking for runs")
        try:
            _load_source(_Loading(warehouse=warehouse, source=source, now=now, report=report), checksums)
        except IngestError as error:
            report.problems.append(error.located(source=source.name))
    checksums.save()
    return report


def _load_source(work: _Loading, checksums: Checksums) -> None:
    """Read the files of a source that changed, and write them in one transaction."""
    paths = _paths(work.source)
    if not paths:
        work.report.without_data.append(work.source.name)
    known = _versions(work)
    fresh: list[_Fresh] = []
    for path in sorted(paths, key=lambda path: (path.stat().st_mtime_ns, path)):
        try:
            file = store_of(path) if path.is_dir() else checksums.file(path, _name_below(work.source.location, path))
            version = f"{file.sha256[:32]}-{_reader_hash()}"
            if known.get(file.name) == version:
                work.report.unchanged += 1
            else:
                fresh.append(_Fresh(file, version, _read(work, file), f"incoming_{len(fresh)}"))
                work.warehouse.execute(f"alter table incoming rename to {fresh[-1].name}")
        except IngestError as error:
            work.report.problems.append(error.located(source=work.source.name))
    if fresh:
        _write(work, fresh)


def _paths(source: RunSource) -> list[Path]:
    """Return the files of a source."""
    if not source.location.exists():
        raise SourceUnreadable(f"{source.location} does not exist", hint="check `location` of the [[source]]")
    if source.kind == "mlflow":
        # A store is one whole, whatever number of files it has.
        return [source.location]
    endings = READERS[source.kind][1]
    found = list_files(source.location)
    return [path for path in found if not endings or path.name.lower().endswith(endings)]


def _name_below(location: Path, path: Path) -> str:
    """Return the name of a file below the location."""
    return path.name if location == path else path.relative_to(location).as_posix()


def _versions(work: _Loading) -> dict[str, str]:
    """Return the version of each file that is loaded."""
    rows = work.warehouse.rows(
        f"select file, version from {USAGE_LOAD.full_name} where is_current and source = ?", [work.source.name]
    )
    return {str(file): str(version) for file, version in rows}


@cache
def _reader_hash() -> str:
    """Return a hash of what reads files: another reader reads again what is still there."""
    code = [files("ingest").joinpath("usage", name).read_text(encoding="utf-8") for name in _CODE]
    texts = [entry.read_text(encoding="utf-8") for entry in files("sql").joinpath("models", "usage").iterdir()]
    return hashlib.sha256("\n".join([*code, *sorted(texts)]).encode()).hexdigest()[:8]


def _read(work: _Loading, file: DeliveredFile) -> Incoming:
    """Read one file to `incoming`."""
    reader, _ = READERS[work.source.kind]
    work.warehouse.execute("drop table if exists temp.incoming")
    work.warehouse.execute(
        "set variable source_told_at = make_timestamp(?::bigint)", [file.path.stat().st_mtime_ns // 1000]
    )
    try:
        return reader(work.warehouse, file, work.source)
    except duckdb.Error as error:
        raise explained(error, file.name) from error


def _write(work: _Loading, fresh: Sequence[_Fresh]) -> None:
    """Write what was read, its ledger rows and what models compare."""
    warehouse = work.warehouse
    with warehouse.transaction():
        for read in fresh:
            is_run = read.incoming.table is RUN
            changed = _write_runs(work, read) if is_run else _write_rows_of_file(work, read)
            _record(work, read, changed)
            _count_unknown_states(work, read)
            work.report.loaded.append(
                LoadedFile(
                    source=work.source.name,
                    file=read.file.name,
                    rows_read=read.incoming.rows_read,
                    rows_changed=changed,
                    passed_over=read.incoming.passed_over,
                )
            )
        tables = {read.incoming.table for read in fresh}
        mark_usage(warehouse, [*tables, *([RUN_NODE] if RUN in tables else [])])
    for read in fresh:
        warehouse.execute(f"drop table temp.{read.name}")
    warehouse.checkpoint()


def _write_runs(work: _Loading, read: _Fresh) -> int:
    """Write the runs of one file that are new or other than before; return how many.

    A row that has not ended never takes the place of one that has; an attempt that began takes the place of the row
    that said that its run had not.
    """
    warehouse, name = work.warehouse, work.source.name
    warehouse.execute("set variable source_name = ?", [name])
    warehouse.execute(f"create or replace temporary table told as {_told(warehouse, read)}")
    if work.source.kind == "kubernetes":
        give_way_to_pods(warehouse)
    same = " and ".join(f"held.{name} is not distinct from told.{name}" for name in _quoted_columns())
    warehouse.execute(
        "create or replace temporary table changed as select told.* from told"
        f" left join {RUN.full_name} as held on held.source = ? and held.attempt_id = told.attempt_id"
        " where held.attempt_id is null"
        f" or not ({same}) and (told.ended_at is not null or held.ended_at is null)",
        [name],
    )
    warehouse.execute(
        f"delete from {RUN.full_name} where source = ? and attempt_id in (select attempt_id from changed)", [name]
    )
    warehouse.execute(
        f"delete from {RUN.full_name} as held where source = ? and started_at is null and exists (select 1 from told"
        " where told.cluster = held.cluster and told.run_id = held.run_id and told.started_at is not null)"
        " and attempt_id not in (select attempt_id from told)",
        [name],
    )
    warehouse.execute(f"insert into {RUN.full_name} by name select * from changed")
    _write_nodes(work)
    return int(str(warehouse.value("select count(*) from changed")))


def _quoted_columns() -> list[str]:
    return [quoted(column.name) for column in RUN.columns]


def _told(warehouse: Warehouse, read: _Fresh) -> str:
    """Return the query for the rows of usage.run that a file tells of: one per attempt, the last that has ended."""
    given = {str(row[0]) for row in warehouse.rows(f"select column_name from (describe temp.{read.name})")}
    columns = []
    for column in RUN.columns:
        value = quoted(column.name) if column.name in given else "null"
        if column.name in HIDDEN and column.name in given:
            hidden = f"getvariable('{HIDDEN[column.name]}')"
            value = f"case when {hidden} is null then {value} else private_hash({value}) end"
        if column.name == "source":
            value = "getvariable('source_name')"
        columns.append(f"cast({value} as {column.type}) as {quoted(column.name)}")
    return (
        "select * exclude (row_number) replace ("
        "concat_ws('/', cluster, run_id, coalesce(started_at::varchar, 'not started')) as attempt_id)"
        f" from (select row_number, {', '.join(columns)} from temp.{read.name})"
        " qualify row_number() over (partition by cluster, run_id, started_at"
        " order by (ended_at is not null) desc, row_number desc) = 1"
    )


def _write_nodes(work: _Loading) -> None:
    """Take apart the lists of nodes of the runs that changed, each once a month."""
    warehouse = work.warehouse
    warehouse.execute(
        "create or replace temporary table listed as select distinct source, unnest(generate_series("
        "date_trunc('month', started_at), greatest(coalesce(ended_at, seen_at, started_at), started_at),"
        " interval 1 month))::date as month, cluster, node_list from changed"
        " where node_list is not null and started_at is not null"
    )
    warehouse.execute(
        f"delete from listed where exists (select 1 from {RUN_NODE.full_name} as held where held.source = listed.source"
        " and held.month = listed.month and held.cluster = listed.cluster and held.node_list = listed.node_list)"
    )
    rows = warehouse.rows("select distinct node_list from listed where regexp_matches(node_list, '[\\[,;\\s]')")
    pairs = [(str(text), node) for (text,) in rows for node in nodes_of(str(text))]
    warehouse.execute("create or replace temporary table apart (node_list varchar, node varchar)")
    for start in range(0, len(pairs), _ROWS_PER_INSERT):
        chunk = pairs[start : start + _ROWS_PER_INSERT]
        warehouse.execute(
            "insert into apart select unnest(?::varchar[]), unnest(?::varchar[])",
            [[text for text, _ in chunk], [node for _, node in chunk]],
        )
    warehouse.execute(
        f"insert into {RUN_NODE.full_name} by name select source, month, cluster, node_list,"
        " coalesce(apart.node, node_list) as node from listed left join apart using (node_list)"
    )


def _write_rows_of_file(work: _Loading, read: _Fresh) -> int:
    """Replace the rows that a file gave before; return how many there are now."""
    table: Table = read.incoming.table
    warehouse = work.warehouse
    place = [work.source.name, read.file.name]
    warehouse.execute(f"delete from {table.full_name} where source = ? and file = ?", place)
    given = {str(row[0]) for row in warehouse.rows(f"select column_name from (describe temp.{read.name})")}
    columns = ", ".join(quoted(column.name) for column in table.columns if column.name in given)
    warehouse.execute(
        f"insert into {table.full_name} by name select ? as source, ? as file, {columns} from temp.{read.name}", place
    )
    return read.incoming.rows_read


def _count_unknown_states(work: _Loading, read: _Fresh) -> None:
    """Count the words for states that nothing is known of, for the report."""
    if read.incoming.table not in (RUN, RUN_TOTAL):
        return
    table = "told" if read.incoming.table is RUN else f"temp.{read.name}"
    words = unknown_words(work.warehouse, f"(select '' as source, state, state_raw from {table})")
    for _, word, rows in words:
        work.report.unknown_states.setdefault(work.source.name, Counter())[word] += rows


def _record(work: _Loading, read: _Fresh, changed: int) -> None:
    """Write the ledger row of a file."""
    warehouse, name, file = work.warehouse, work.source.name, read.file.name
    odd = 0
    if read.incoming.table is RUN:
        odd = int(str(warehouse.value("select count(*) from told where ended_at < started_at")))
    warehouse.execute(
        f"update {USAGE_LOAD.full_name} set is_current = false where source = ? and file = ?", [name, file]
    )
    dropped = read.incoming.rows_dropped
    if read.incoming.table is RUN:
        dropped = read.incoming.rows_read - int(str(warehouse.value("select count(*) from told")))
    warehouse.execute(
        f"insert into {USAGE_LOAD.full_name} values (?, ?, ?, ?, true, ?, ?, ?, ?)",
        [name, file, read.version, work.now, read.incoming.rows_read, dropped, changed, odd],
    )
