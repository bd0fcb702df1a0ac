"""Runs of anything else, as CSV or parquet: one row per attempt, or sums by how runs ended.

Columns bear the names of `usage.run` or `usage.run_total`; others are passed over.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingest.delivery import DeliveredFile
from ingest.errors import LoadRefused
from ingest.usage.slices import slice_parts
from ingest.usage.source import Incoming, RunSource
from ingest.usage.tables import read_table, refuse_bad_values, selected, value_of
from sql.contract import RUN, RUN_TOTAL, Column, Table
from sql.warehouse import Warehouse

_STATES = {
    "completed": ("completed", "complete", "succeeded", "success", "finished", "done", "passed"),
    "failed": ("failed", "failure", "error", "crashed"),
    "cancelled": ("cancelled", "canceled", "killed", "stopped", "aborted"),
    "timeout": ("timeout", "timed_out", "deadline"),
    "oom": ("oom", "out_of_memory", "oomkilled"),
    "node_fail": ("node_fail", "node_failure", "boot_fail"),
    "preempted": ("preempted", "evicted", "interrupted"),
    "requeued": ("requeued",),
    "resized": ("resized", "resizing"),
    "running": ("running",),
    "pending": ("pending", "queued", "scheduled"),
}
"""What is known by which words; every other is unknown."""
_KINDS = ("batch", "array_task", "interactive", "notebook", "service")
_KIND_WORDS = ", ".join(map(repr, _KINDS))
_OURS = {"source", "attempt_id", "state_raw", "gpu_shards", "file"}
_HOURS = (Column("gpu_hours", "DECIMAL(38,9)", ""), Column("cpu_hours", "DECIMAL(38,9)", ""))
"""May stand in place of the same in seconds."""


def read_runs_file(warehouse: Warehouse, file: DeliveredFile, source: RunSource) -> Incoming:
    """Read one file to `incoming`; raises LoadRefused with the line of a row that cannot be read."""
    names = read_table(warehouse, file)
    if "state" not in names:
        raise LoadRefused(
            "line 1: the file has no column state", file=file.name, hint="docs/runs.md says which columns are read"
        )
    if "run_id" not in names:
        return _read_totals(warehouse, file, source, names)
    known = _known(RUN, names)
    refuse_bad_values(warehouse, file, known, "run_id")
    _refuse_unknown_kinds(warehouse, file, names)
    others = {"cluster": _cluster(names, source), "state": _state(), "state_raw": "state", "kind": _kind(names)}
    others |= _gpus(warehouse, names)
    return _incoming(warehouse, RUN, names, others)


def _refuse_unknown_kinds(warehouse: Warehouse, file: DeliveredFile, names: Sequence[str]) -> None:
    """Raise LoadRefused for the first kind that is none: a batch run that fails is lost for certain, others are not."""
    if "kind" not in names:
        return
    found = warehouse.row(
        f"select line, kind from given where lower(trim(kind)) not in ('', {_KIND_WORDS}) order by line limit 1"
    )
    if found is not None:
        raise LoadRefused(
            f"line {found[0]} kind is none of {', '.join(_KINDS)}: {found[1]}",
            file=file.name,
            hint="leave it empty for a batch run; the last good version stays loaded",
        )


def _read_totals(warehouse: Warehouse, file: DeliveredFile, source: RunSource, names: Sequence[str]) -> Incoming:
    """Read sums by how runs ended."""
    hours = [column for column in _HOURS if column.name in names]
    if not {"run_count", "gpu_seconds", "cpu_seconds"} & set(names) and not hours:
        raise LoadRefused(
            "line 1: the file has neither run_id nor run_count, gpu_hours or cpu_hours",
            file=file.name,
            hint="docs/runs.md says which columns are read",
        )
    refuse_bad_values(warehouse, file, [*_known(RUN_TOTAL, names), *hours], "state")
    others = {"cluster": _cluster(names, source), "state": _state()}
    others |= {column.name.replace("hours", "seconds"): f"{value_of(column)} * 3600" for column in hours}
    return _incoming(warehouse, RUN_TOTAL, names, others)


def _incoming(warehouse: Warehouse, table: Table, names: Sequence[str], others: dict[str, str]) -> Incoming:
    """Make `incoming` of `given`."""
    read = [name for name in names if name not in _OURS]
    warehouse.execute(
        f"create or replace temporary table incoming as select line as row_number, {selected(table, read, others)}"
        " from given"
    )
    rows = int(str(warehouse.value("select count(*) from given")))
    warehouse.execute("drop table given")
    known = {*others, *(column.name for column in table.columns)} - _OURS
    return Incoming(table=table, rows_read=rows, passed_over=tuple(name for name in names if name not in known))


def _known(table: Table, names: Sequence[str]) -> list[Column]:
    return [column for column in table.columns if column.name in names and column.name not in _OURS]


def _cluster(names: Sequence[str], source: RunSource) -> str:
    """Return the expression for the cluster: the row's, else the source's."""
    own = "'" + source.cluster.replace("'", "''") + "'"
    return f"coalesce(nullif(trim(cluster), ''), {own})" if "cluster" in names else own


def _state() -> str:
    """Return the expression for the state by its word."""
    word = "lower(replace(replace(trim(state), '-', '_'), ' ', '_'))"
    cases = " ".join(
        f"when {word} in ({', '.join(repr(other) for other in words)}) then '{state}'"
        for state, words in _STATES.items()
    )
    return f"case {cases} else 'unknown' end"


def _kind(names: Sequence[str]) -> str:
    """Return the expression for the kind; what says nothing is a batch run."""
    return "coalesce(nullif(lower(trim(kind)), ''), 'batch')" if "kind" in names else "'batch'"


def _gpus(warehouse: Warehouse, names: Sequence[str]) -> dict[str, str]:
    """Return the expression for the count of accelerators, where the kind of some is a slice of one."""
    if not {"gpu_count", "accelerator"} <= set(names):
        return {}
    slice_parts(warehouse, "from given", "accelerator")
    count = value_of(next(column for column in RUN.columns if column.name == "gpu_count"))
    part = "(select part from sliced where name = given.accelerator)"
    return {
        "gpu_count": f"case when nullif(trim(accelerator), '') is null then {count}"
        f" else cast(round({count} * {part}, 9) as decimal(18, 9)) end"
    }
