"""Jobs and pods as kubectl writes them: attempts, reasons, parts of accelerators, pods that are gone."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from ingest.errors import SourceUnreadable
from ingest.usage.source import RunSource
from tests.usage.loading import Loading

Item = dict[str, Any]


def pod(
    name: str,
    of: str | None = "train",
    *,
    labels: Item | None = None,
    limits: Item | None = None,
    status: Item | None = None,
) -> Item:
    """Return a pod of a Job that ran from 8 to 9 o'clock on node n1."""
    ended = {"finishedAt": "2026-10-05T09:00:00Z", "exitCode": 0, "reason": "Completed"}
    owners = (
        [{"kind": "Job", "name": of, "uid": f"uid-{of}"}] if of else [{"kind": "ReplicaSet", "name": "x", "uid": "x"}]
    )
    return {
        "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "ml", "creationTimestamp": "2026-10-05T07:50:00Z", "labels": labels or {},
            "ownerReferences": owners,
        },
        "spec": {
            "nodeName": "n1",
            "containers": [{"resources": {"limits": limits or {"nvidia.com/gpu": "2"}, "requests": {"cpu": "500m"}}}],
        },
        "status": {
            "phase": "Succeeded", "startTime": "2026-10-05T08:00:00Z",
            "containerStatuses": [{"state": {"terminated": ended}}],
        } | (status or {}),
    }  # fmt: skip


def failed(reason: str, code: int = 1) -> Item:
    ended = {"finishedAt": "2026-10-05T08:30:00Z", "exitCode": code, "reason": reason}
    return {"phase": "Failed", "containerStatuses": [{"state": {"terminated": ended}}]}


def job(name: str = "train", completions: int = 1, *, status: Item | None = None) -> Item:
    """Return a Job that began at 8 o'clock."""
    limits = {"nvidia.com/gpu": "1"}
    return {
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "uid": f"uid-{name}",
            "creationTimestamp": "2026-10-05T07:50:00Z",
        },
        "spec": {
            "completions": completions,
            "template": {"spec": {"containers": [{"resources": {"limits": limits}}]}},
        },
        "status": {"startTime": "2026-10-05T08:00:00Z"} | (status or {}),
    }


def deliver(loading: Loading, *items: Item, name: str = "runs.json") -> RunSource:
    (loading.folder / name).write_text(json.dumps({"kind": "List", "items": list(items)}), encoding="utf-8")
    return loading.source("kubernetes", cluster="prod")


def test_each_pod_of_a_job_is_an_attempt(loading: Loading) -> None:
    retried = pod("train-b") | {"metadata": pod("train-b")["metadata"]}
    retried["status"] |= {"startTime": "2026-10-05T08:40:00Z"}
    labels = {"project": "vision", "kueue.x-k8s.io/queue-name": "gpu"}
    loading.load(
        deliver(loading, job(), pod("train-a", labels=labels, status=failed("Error")), retried, pod("web", of=None))
    )
    loading.build()

    assert loading.rows("run_id, attempt, state, gpu_hours", "marts.run_costs") == [
        ("ml/train", 1, "failed", 1),
        ("ml/train", 2, "completed", Decimal("0.666666667")),
    ]
    assert loading.rows("cluster, account, partition_name, project, cpu_count, node_list") == [
        ("prod", "ml", "gpu", "vision", 0.5, "n1"),
        ("prod", "ml", None, None, 0.5, "n1"),
    ]
    assert loading.rows("rows_read, rows_dropped", "ops.usage_load") == [(4, 2)]


def test_reasons_say_more_than_failed(loading: Loading) -> None:
    evicted = {"phase": "Failed", "reason": "Evicted", "containerStatuses": []}
    loading.load(
        deliver(
            loading,
            pod("a-1", of="a", status=failed("OOMKilled", 137)),
            pod("b-1", of="b", status=evicted),
            pod("c-1", of="c", status=failed("DeadlineExceeded")),
            pod("d-1", of="d", status={"phase": "Pending", "startTime": None, "containerStatuses": []}),
            pod("e-1", of="e", status={"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}),
        )
    )
    assert loading.rows("run_id, state, exit_code") == [
        ("ml/a", "oom", "137"),
        ("ml/b", "preempted", None),
        ("ml/c", "timeout", "1"),
        ("ml/d", "pending", None),
        ("ml/e", "running", None),
    ]
    assert loading.rows("started_at is null, seen_at is null", "usage.run where state = 'running'") == [(False, False)]


def test_pods_of_a_parallel_job_are_parts_of_it(loading: Loading) -> None:
    index = "batch.kubernetes.io/job-completion-index"
    loading.load(
        deliver(loading, job(completions=2), pod("t-0-x", labels={index: "0"}), pod("t-1-x", labels={index: "1"}))
    )

    assert loading.rows("run_id, sweep_id, trial, kind") == [
        ("ml/train-0", "train", "0", "array_task"),
        ("ml/train-1", "train", "1", "array_task"),
    ]


def test_a_slice_is_a_part_and_an_unknown_one_is_unknown(loading: Loading) -> None:
    loading.load(
        deliver(
            loading,
            pod("a-1", of="a", limits={"nvidia.com/mig-1g.5gb": "7"}),
            pod("b-1", of="b", limits={"nvidia.com/mig-3g.7gb": "1"}),
            pod("c-1", of="c", limits={"cpu": "4"}),
        )
    )
    assert loading.rows("run_id, gpu_count") == [("ml/a", 1), ("ml/b", None), ("ml/c", 0)]


def test_a_job_whose_pods_are_gone_counts_unless_they_were_read(loading: Loading) -> None:
    done = {"completionTime": "2026-10-05T09:00:00Z"}
    conditions = [
        {
            "type": "Failed",
            "status": "True",
            "reason": "BackoffLimitExceeded",
            "lastTransitionTime": "2026-10-05T08:30:00Z",
        }
    ]
    loading.load(deliver(loading, job(status=done), pod("train-a")))
    loading.load(deliver(loading, job(status=done), job("lost", status={"conditions": conditions}), name="later.json"))

    assert loading.rows("run_id, state, reason, gpu_count") == [
        ("ml/lost", "failed", "BackoffLimitExceeded", 1),
        ("ml/train", "completed", None, 2),
    ]


def test_what_is_no_list_is_refused(loading: Loading) -> None:
    source = loading.source("kubernetes")
    (loading.folder / "x.json").write_text('{"items": [', encoding="utf-8")
    assert "truncated" in str(loading.refusal(source))
    (loading.folder / "x.json").write_text("{}", encoding="utf-8")
    problem = loading.refusal(source)
    assert isinstance(problem, SourceUnreadable)
    assert "kubectl get jobs,pods" in str(problem)
