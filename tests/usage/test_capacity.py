"""What clusters have: Slurm's and Kubernetes's nodes, and a table."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.usage.loading import HEADER, Loading, job

BOOT = int(datetime(2026, 10, 1, tzinfo=UTC).timestamp())
COLUMNS = "cluster, node, accelerator, gpu_count, shards_per_gpu, starts_at::varchar, is_down, instance_id"


def write(loading: Loading, document: dict[str, Any]) -> None:
    (loading.folder / "nodes.json").write_text(json.dumps(document), encoding="utf-8")


def test_nodes_of_slurm(loading: Loading) -> None:
    number = {"set": True, "infinite": False, "number": BOOT}
    nodes = [
        {"name": "g1", "gres": "gpu:a100:4(S:0-1)", "cpus": 64, "state": ["IDLE"], "boot_time": number},
        {"name": "g2", "gres": "gpu:2,shard:8", "cpus": 32, "state": ["MIXED"], "boot_time": BOOT,
         "cluster_name": "own"},
        {"name": "g3", "gres": "gpu:a100_1g.5gb:7", "state": ["IDLE", "DRAIN"], "boot_time": number,
         "reason_changed_at": BOOT + 3600},
        {"name": "c1", "gres": "", "state": "idle", "boot_time": 0},
    ]  # fmt: skip
    write(loading, {"nodes": nodes})
    loading.load(loading.source("capacity", cluster="c1"))

    boot = "2026-10-01 00:00:00"
    assert loading.rows(COLUMNS, "usage.capacity") == [
        ("c1", "c1", None, None, None, None, False, None),
        ("c1", "g1", "a100", 4, None, boot, False, None),
        ("c1", "g3", "a100_1g.5gb", 1, None, boot, False, None),
        ("c1", "g3", "a100_1g.5gb", 1, None, "2026-10-01 01:00:00", True, None),
        ("own", "g2", None, 2, 4, boot, False, None),
    ]


def test_nodes_of_kubernetes(loading: Loading) -> None:
    def node(name: str, provider: str, ready: str, capacity: dict[str, str]) -> dict[str, Any]:
        condition = {
            "type": "Ready", "status": ready, "lastTransitionTime": "2026-10-05T06:00:00Z", "reason": "KubeletReady",
            "lastHeartbeatTime": "2026-10-05T06:30:00Z", "message": "kubelet is posting ready status",
        }  # fmt: skip
        return {
            "kind": "Node",
            "metadata": {
                "name": name, "creationTimestamp": "2026-10-01T00:00:00Z",
                "labels": {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"},
            },
            "spec": {"providerID": provider},
            "status": {"capacity": {"cpu": "96", **capacity}, "conditions": [condition]},
        }  # fmt: skip

    nodes = [
        node("a", "aws:///us-east-1a/i-0abc", "True", {"nvidia.com/gpu": "8"}),
        node("b", "gce://acme/us-central1-a/vm-1", "Unknown", {"nvidia.com/mig-3g.20gb": "2"}),
    ]
    write(loading, {"items": nodes})
    loading.load(loading.source("capacity", cluster="prod"))

    product, boot = "NVIDIA-A100-SXM4-40GB", "2026-10-01 00:00:00"
    vm = "//compute.googleapis.com/projects/acme/zones/us-central1-a/instances/vm-1"
    assert loading.rows(COLUMNS, "usage.capacity") == [
        ("prod", "a", product, 8, None, boot, False, "i-0abc"),
        ("prod", "b", product, Decimal("0.857142857"), None, boot, False, vm),
        ("prod", "b", product, Decimal("0.857142857"), None, "2026-10-05 06:00:00", True, None),
    ]
    assert set(loading.rows("told_at::varchar", "usage.capacity")) == {("2026-10-05 06:30:00",)}


def test_a_list_of_nodes_holds_until_the_next_one(loading: Loading) -> None:
    days = {"1.json": [("n1", ["DOWN"]), ("n2", ["IDLE"])], "2.json": [("n1", ["IDLE"])]}
    for number, (name, nodes) in enumerate(days.items(), start=1):
        listed = [{"name": node, "gres": "gpu:8", "state": state, "boot_time": BOOT} for node, state in nodes]
        document = {"nodes": listed, "last_update": {"set": True, "number": BOOT + number * 43200}}
        (loading.folder / name).write_text(json.dumps(document), encoding="utf-8")
    loading.load(loading.source("capacity", cluster="c1"))
    loading.build()

    columns = "node, starts_at::varchar, ends_at::varchar, is_down"
    assert loading.rows(columns, "core.node_time") == [
        ("n1", "2026-10-01 00:00:00", "2026-10-01 12:00:00", True),
        ("n1", "2026-10-01 12:00:00", None, False),
        ("n2", "2026-10-01 00:00:00", "2026-10-02 00:00:00", False),
    ]


def test_a_table_prices_what_nobody_used_and_a_newer_one_takes_its_place(loading: Loading) -> None:
    loading.write(HEADER, job(Cluster="c1"))
    loading.load()
    capacity = loading.source("capacity", name="own", cluster="c1", location=loading.folder / "nodes.csv")
    header = "node,accelerator,gpu_count,gpu_hour_price,currency,starts_at,ends_at"
    loading.write(header, "n1,A100,4,1.5,USD,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z", name="nodes.csv")
    loading.load(capacity)
    loading.write(header, "n1,A100,8,1.5,USD,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z", name="nodes.csv")
    loading.load(capacity)
    loading.build()

    # 8 for a day, 2 of them held for two hours: 192 - 4 at 1.50.
    idle = "capacity_gpu_hours, allocated_gpu_hours, idle_gpu_hours, idle_cost, billing_currency"
    assert loading.rows(idle, "marts.idle_capacity") == [(192, 4, 188, 282, "USD")]
    assert loading.rows("cost_method, cost_before_credits", "marts.run_costs") == [("price", 6)]


def test_shards_are_parts_of_what_the_node_says(loading: Loading) -> None:
    loading.write(HEADER, job(AllocTRES="gres/shard=2"))
    loading.load()
    loading.build()
    assert loading.rows("gpu_hours", "marts.run_costs") == [(None,)]

    write(loading, {"nodes": [{"name": "n1", "gres": "gpu:2,shard:8", "state": ["IDLE"], "boot_time": BOOT}]})
    loading.load(loading.source("capacity", name="own", cluster="c1", location=loading.folder / "nodes.json"))
    loading.build()
    assert loading.rows("gpu_hours", "marts.run_costs") == [(1,)]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("n.json", "{}", "neither of scontrol"),
        ("n.json", "", "empty"),
        ("n.csv", "gpu_count\n4\n", "no column node"),
        ("n.csv", "node,gpu_count\nn1,four\n", "line 2 gpu_count cannot be read: four"),
    ],
)
def test_what_is_no_capacity_is_refused(loading: Loading, name: str, text: str, words: str) -> None:
    (loading.folder / name).write_text(text, encoding="utf-8")
    assert words in str(loading.refusal(loading.source("capacity")))
