"""Jobs of Kubernetes and their pods: what `kubectl get jobs,pods -o json` writes.

A pod of a Job is an attempt; a Job whose pods are gone is one as a whole, unless its pods are known of another file.
Finished Jobs vanish, so that the file is to be written at least hourly.
Source: Kubernetes documentation, Job v1, Pod v1, "Pod Lifecycle".
"""

from __future__ import annotations

from importlib.resources import files

from ingest.delivery import DeliveredFile
from ingest.errors import SourceUnreadable
from ingest.usage.capacity import read_json
from ingest.usage.slices import slice_parts
from ingest.usage.source import Incoming, RunSource
from sql.contract import RUN
from sql.warehouse import Warehouse


def read_kubernetes(warehouse: Warehouse, file: DeliveredFile, source: RunSource) -> Incoming:
    """Read one file to `incoming`; raises SourceUnreadable for what is no such file."""
    read_json(warehouse, file)
    if not warehouse.value("select json_type(json, '$.items') = 'ARRAY' from document"):
        raise SourceUnreadable(
            "the file is not of kubectl get jobs,pods -o json",
            file=file.name,
            hint="docs/runs.md has the command that writes it",
        )
    warehouse.execute("set variable source_cluster = ?", [source.cluster])
    text = files("sql").joinpath("models", "usage", "kubernetes.sql").read_text(encoding="utf-8")
    warehouse.execute(f"create or replace temporary table kube as {text}")
    slice_parts(warehouse, "from kube, unnest(kube.resources) as held(entry)", "held.entry.kind")
    warehouse.execute(
        "create or replace temporary table incoming as select kube.* exclude (resources),"
        " case when len(resources) = 0 then 0 else (select case when count(part) = count(*) then"
        " cast(round(sum(held.entry.amount * part), 9) as decimal(18, 9)) end"
        " from unnest(kube.resources) as held(entry)"
        " left join sliced on sliced.name = held.entry.kind) end as gpu_count from kube"
    )
    rows = int(str(warehouse.value("select len(cast(json -> '$.items' as json[])) from document")))
    kept = int(str(warehouse.value("select count(*) from incoming")))
    warehouse.execute("drop table document; drop table kube; drop table sliced")
    return Incoming(table=RUN, rows_read=rows, rows_dropped=rows - kept)


def give_way_to_pods(warehouse: Warehouse) -> None:
    """Remove Jobs as a whole, told or held, whose pods began; of a Job with several parts whatever is no part.

    Files may list a Job without its pods, and pods without their Job, in any order.
    """
    warehouse.execute(
        "create or replace temporary table podded as with pods as ("
        f" select cluster, run_id, sweep_id, node_count, started_at from {RUN.full_name}"
        " where source = getvariable('source_name')"
        " union all select cluster, run_id, sweep_id, node_count, started_at from told)"
        " select distinct cluster, coalesce(sweep_id, run_id) as run_id, sweep_id is not null as has_parts from pods"
        " where node_count is not null and started_at is not null"
    )
    for table in ("told", RUN.full_name):
        warehouse.execute(
            f"delete from {table} as whole where source = getvariable('source_name') and exists ("
            "select 1 from podded where podded.cluster = whole.cluster and podded.run_id = whole.run_id"
            " and (podded.has_parts or whole.node_count is null))"
        )
    warehouse.execute("drop table podded")
