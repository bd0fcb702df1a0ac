"""What own clusters and static fleets have: `scontrol show node --json`, `kubectl get nodes -o json`, or a table.

A node of a JSON file is there from when it came up; one that is out of order is so from when that was noted.
Source: Slurm documentation, scontrol, "--json", sinfo, "Node state codes"; Kubernetes documentation, Node v1.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

import duckdb

from ingest.delivery import DeliveredFile
from ingest.errors import LoadRefused, SourceUnreadable
from ingest.explain import explained
from ingest.usage.slices import slice_parts
from ingest.usage.source import Incoming, RunSource
from ingest.usage.tables import READABLE, cluster_of, read_table, refuse_bad_values, selected
from sql.contract import CAPACITY
from sql.warehouse import Warehouse, literal

ENDINGS = (*READABLE, ".json")
_OURS = {"source", "file"}


def read_capacity(warehouse: Warehouse, file: DeliveredFile, source: RunSource) -> Incoming:
    """Read one file to `incoming`; raises LoadRefused with the line of a row that cannot be read."""
    warehouse.execute("set variable source_cluster = ?", [source.cluster])
    if file.name.endswith(".json"):
        return _read_json(warehouse, file)
    names = read_table(warehouse, file)
    if "node" not in names:
        raise LoadRefused(
            "line 1: the file has no column node", file=file.name, hint="docs/runs.md says which columns are read"
        )
    known = [column for column in CAPACITY.columns if column.name in names and column.name not in _OURS]
    refuse_bad_values(warehouse, file, known, "node")
    others = {"cluster": cluster_of(names)}
    read = [name for name in names if name not in _OURS]
    warehouse.execute(
        f"create or replace temporary table incoming as select line as row_number, {selected(CAPACITY, read, others)}"
        " from given"
    )
    warehouse.execute("drop table given")
    columns = {column.name for column in CAPACITY.columns} - _OURS
    return _counted(warehouse, tuple(name for name in names if name not in columns))


def _counted(warehouse: Warehouse, passed_over: tuple[str, ...] = ()) -> Incoming:
    rows = int(str(warehouse.value("select count(*) from incoming")))
    return Incoming(table=CAPACITY, rows_read=rows, passed_over=passed_over)


def _read_json(warehouse: Warehouse, file: DeliveredFile) -> Incoming:
    """Read what Slurm or Kubernetes says of its nodes."""
    read_json(warehouse, file)
    kind = _kind_of(warehouse, file)
    text = files("sql").joinpath("models", "usage", f"{kind}.sql").read_text(encoding="utf-8")
    slice_parts(warehouse, f"from ({text}) as node, unnest(node.resources) as held(entry)", "held.entry.kind")
    warehouse.execute(
        "create or replace temporary table incoming as select 0 as row_number, node.* exclude (resources),"
        " (select cast(round(sum(held.entry.amount * part), 9) as decimal(18, 9)) from unnest(node.resources)"
        f" as held(entry) join sliced on sliced.name = held.entry.kind) as gpu_count from ({text}) as node"
    )
    warehouse.execute("drop table document; drop table sliced")
    return _counted(warehouse)


def read_json(warehouse: Warehouse, file: DeliveredFile) -> None:
    """Read a JSON file as one value to the temporary table `document`."""
    if file.size == 0:
        raise SourceUnreadable("the file is empty (0 bytes)", file=file.name, hint="deliver it again")
    try:
        warehouse.execute(
            "create or replace temporary table document as select cast(content as json) as json"
            f" from read_text({literal(str(file.path))})"
        )
    except duckdb.ConversionException as error:
        raise SourceUnreadable("the file is truncated or no JSON", file=file.name, hint="deliver it again") from error
    except duckdb.Error as error:
        raise explained(error, file.name) from error


def _kind_of(warehouse: Warehouse, file: DeliveredFile) -> Literal["slurm_nodes", "kubernetes_nodes"]:
    """Return which of the two wrote the file."""
    if warehouse.value("select json_type(json, '$.nodes') = 'ARRAY' from document"):
        return "slurm_nodes"
    if warehouse.value("select json_type(json, '$.items') = 'ARRAY' from document"):
        return "kubernetes_nodes"
    raise SourceUnreadable(
        "the file is neither of scontrol show node --json nor of kubectl get nodes -o json",
        file=file.name,
        hint="docs/runs.md has the commands that write it",
    )
