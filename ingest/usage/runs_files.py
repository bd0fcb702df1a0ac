"""Runs of anything else, as CSV or parquet: one row per attempt, or sums by how runs ended.

Columns bear the names of `usage.run` or `usage.run_total`; others are passed over.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingest.delivery import DeliveredFile
from ingest.errors import LoadRefused
from ingest.usage.slices import counted_gpus
from ingest.usage.source import Incoming, RunSource
from ingest.usage.tables import cluster_of, kind_of, read_table, refuse_bad_values, selected, state_of, value_of
from sql.contract import RUN, RUN_TOTAL, Column, Table
from sql.warehouse import Warehouse

_OURS = {"source", "attempt_id", "state_raw", "gpu_shards", "file"}
_HOURS = (Column("gpu_hours", "DECIMAL(38,9)", ""), Column("cpu_hours", "DECIMAL(38,9)", ""))
"""May stand in place of the same in seconds, and go before it."""


def read_runs_file(warehouse: Warehouse, file: DeliveredFile, source: RunSource) -> Incoming:
    """Read one file to `incoming`; raises LoadRefused with the line of a row that cannot be read."""
    warehouse.execute("set variable source_cluster = ?", [source.cluster])
    names = read_table(warehouse, file)
    if "state" not in names:
        raise LoadRefused(
            "line 1: the file has no column state", file=file.name, hint="docs/runs.md says which columns are read"
        )
    if "run_id" not in names:
        return _read_totals(warehouse, file, names)
    known = _known(RUN, names)
    refuse_bad_values(warehouse, file, known, "run_id")
    others = {"cluster": cluster_of(names), "state": state_of(), "state_raw": "state", "kind": kind_of(names)}
    others |= counted_gpus(warehouse, names)
    return _incoming(warehouse, RUN, names, others)


def _read_totals(warehouse: Warehouse, file: DeliveredFile, names: Sequence[str]) -> Incoming:
    """Read sums by how runs ended."""
    hours = [column for column in _HOURS if column.name in names]
    if not {"run_count", "gpu_seconds", "cpu_seconds"} & set(names) and not hours:
        raise LoadRefused(
            "line 1: the file has neither run_id nor run_count, gpu_hours or cpu_hours",
            file=file.name,
            hint="docs/runs.md says which columns are read",
        )
    refuse_bad_values(warehouse, file, [*_known(RUN_TOTAL, names), *hours], "state")
    others = {"cluster": cluster_of(names), "state": state_of(), "state_raw": "state"}
    seconds = {column.name: value_of(column) for column in RUN_TOTAL.columns if column.name in names}
    for column in hours:
        name = column.name.replace("hours", "seconds")
        others[name] = f"coalesce({value_of(column)} * 3600, {seconds.get(name, 'null')})"
    return _incoming(warehouse, RUN_TOTAL, names, others, also=[column.name for column in hours])


def _incoming(
    warehouse: Warehouse, table: Table, names: Sequence[str], others: dict[str, str], also: Sequence[str] = ()
) -> Incoming:
    """Make `incoming` of `given`; what is in `also` is read under other names."""
    read = [name for name in names if name not in _OURS]
    warehouse.execute(
        f"create or replace temporary table incoming as select line as row_number, {selected(table, read, others)}"
        " from given"
    )
    rows = int(str(warehouse.value("select count(*) from given")))
    warehouse.execute("drop table given")
    known = {*others, *also, *(column.name for column in table.columns)} - _OURS
    return Incoming(table=table, rows_read=rows, passed_over=tuple(name for name in names if name not in known))


def _known(table: Table, names: Sequence[str]) -> list[Column]:
    return [column for column in table.columns if column.name in names and column.name not in _OURS]
