"""Jobs and pods as kubectl writes them: attempts, reasons, parts of accelerators, pods that are gone."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from typing import Any

import pytest

from ingest.errors import SourceUnreadable
from ingest.usage.source import RunSource
from tests.usage.loading import NOW, Loading

Item = dict[str, Any]


def pod(
    name: str,
    of: str | None = "train",
    *,
    labels: Item | None = None,
    limits: Item | None = None,
    status: Item | None = None,
    uid: str = "1",
) -> Item:
    """Return a pod of a Job that ran from 8 to 9 o'clock on node n1; `uid` is that of the Job."""
    ended = {"finishedAt": "2026-10-05T09:00:00Z", "exitCode": 0, "reason": "Completed"}
    owner = {"kind": "Job", "name": of, "uid": uid} if of else {"kind": "ReplicaSet", "name": "x", "uid": "x"}
    owners = [owner | {"apiVersion": "batch/v1", "blockOwnerDeletion": True, "controller": True}]
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


def condition(kind: str, at: str, status: str = "True", **more: str) -> Item:
    """Return a condition of a pod or a Job, which changed on 5 October."""
    return {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": f"2026-10-05T{at}Z"} | more


def job(name: str = "train", completions: int = 1, *, status: Item | None = None, uid: str = "1") -> Item:
    """Return a Job that began at 8 o'clock."""
    limits = {"nvidia.com/gpu": "1"}
    return {
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "uid": uid,
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
        ("ml/train/1", 1, "failed", 1),
        ("ml/train/1", 2, "completed", Decimal("0.666666667")),
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
        ("ml/a/1", "oom", "137"),
        ("ml/b/1", "preempted", None),
        ("ml/c/1", "timeout", "1"),
        ("ml/d/1", "pending", None),
        ("ml/e/1", "running", None),
    ]
    assert loading.rows("started_at is null, seen_at is null", "usage.run where state = 'running'") == [(False, False)]


def test_pods_of_a_parallel_job_are_parts_of_it(loading: Loading) -> None:
    index = "batch.kubernetes.io/job-completion-index"
    loading.load(
        deliver(loading, job(completions=2), pod("t-0-x", labels={index: "0"}), pod("t-1-x", labels={index: "1"}))
    )

    assert loading.rows("run_id, sweep_id, trial, kind") == [
        ("ml/train-0/1", "ml/train/1", "0", "array_task"),
        ("ml/train-1/1", "ml/train/1", "1", "array_task"),
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
    assert loading.rows("run_id, gpu_count") == [("ml/a/1", 1), ("ml/b/1", None), ("ml/c/1", 0)]


def test_a_job_whose_pods_are_gone_counts_unless_they_were_read(loading: Loading) -> None:
    done = {"completionTime": "2026-10-05T09:00:00Z"}
    conditions = [condition("Failed", "08:30:00", reason="BackoffLimitExceeded", message="x")]
    loading.load(deliver(loading, job(status=done), pod("train-a")))
    loading.load(
        deliver(loading, job(status=done), job("lost", status={"conditions": conditions}, uid="2"), name="later.json")
    )

    assert loading.rows("run_id, state, reason, gpu_count") == [
        ("ml/lost/2", "failed", "BackoffLimitExceeded", 1),
        ("ml/train/1", "completed", None, 2),
    ]


RUNNING: Item = {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}
RUNS = "run_id, state, node_list"


def test_a_job_that_was_made_again_under_its_name_is_another_run(loading: Loading) -> None:
    done = {"completionTime": "2026-10-05T09:00:00Z"}
    again = job(status=done | {"startTime": "2026-10-06T08:00:00Z"}, uid="2")
    loading.load(deliver(loading, job(), pod("train-a", status=failed("Error"))))
    loading.load(deliver(loading, again, name="later.json"))
    loading.build()

    assert loading.rows("run_id, attempt, attempts, state", "marts.run_costs") == [
        ("ml/train/1", 1, 1, "failed"),
        ("ml/train/2", 1, 1, "completed"),
    ]


def test_parts_of_a_job_that_was_made_again_are_of_another_sweep(loading: Loading) -> None:
    parts = [pod("a", uid="1"), pod("b", uid="2", status={"startTime": "2026-10-05T08:30:00Z"})]
    loading.load(deliver(loading, job(completions=2, uid="1"), job(completions=2, uid="2"), *parts))

    assert loading.rows("run_id, sweep_id") == [("ml/a/1", "ml/train/1"), ("ml/b/2", "ml/train/2")]


@pytest.mark.parametrize("is_one_night", [True, False])
@pytest.mark.parametrize("completions", [1, 2])
def test_files_that_list_the_same_pod_add_nothing(loading: Loading, completions: int, is_one_night: bool) -> None:
    whole = job(completions=completions)
    files = [[whole], [whole, pod("train-a", status=RUNNING)], [pod("train-a", status=RUNNING)],
             [whole, pod("train-a")], [pod("train-a")], [whole]]  # fmt: skip
    for number, items in enumerate(files):
        source = deliver(loading, *items, name=f"{number}.json")
        os.utime(loading.folder / f"{number}.json", (NOW.timestamp() + number, NOW.timestamp() + number))
        if not is_one_night:
            loading.load(source)
    loading.load(source)

    assert loading.rows(RUNS) == [("ml/train/1" if completions == 1 else "ml/train-a/1", "completed", "n1")]


def test_pods_without_their_job_are_parts_of_it_once_it_is_listed(loading: Loading) -> None:
    loading.load(deliver(loading, pod("train-a"), pod("train-b", status={"startTime": "2026-10-05T08:30:00Z"})))
    loading.load(deliver(loading, job(completions=2), pod("train-a"), pod("train-b"), name="later.json"))

    assert loading.rows("run_id") == [("ml/train-a/1",), ("ml/train-b/1",)]


def test_a_job_whose_pod_never_began_is_a_whole_once_it_is_over(loading: Loading) -> None:
    waiting: Item = {"phase": "Pending", "startTime": None, "containerStatuses": []}
    loading.load(deliver(loading, job(), pod("train-a", status=waiting)))
    loading.load(deliver(loading, job(status={"completionTime": "2026-10-05T09:00:00Z"}), name="later.json"))

    assert loading.rows("run_id, state, node_count") == [("ml/train/1", "completed", None)]


def test_an_evicted_pod_ended_when_it_was_to_stop_or_was_ready_no_more(loading: Loading) -> None:
    evicted = {"phase": "Failed", "reason": "Evicted", "containerStatuses": []}
    initialized = condition("Initialized", "08:00:01")
    target = [initialized, condition("DisruptionTarget", "08:20:00", reason="TerminationByKubelet")]
    unready = [initialized, condition("Ready", "08:30:00", "False", reason="PodFailed")]
    never_ready = [condition("Ready", "08:00:00", "False")]
    deleted = pod("d", of="d", status=evicted | {"conditions": never_ready})
    deleted["metadata"]["deletionTimestamp"] = "2026-10-05T08:40:00Z"
    loading.load(
        deliver(
            loading,
            pod("a", of="a", status=evicted | {"conditions": target}),
            pod("b", of="b", status=evicted | {"conditions": unready}),
            pod("c", of="c", status=evicted),
            deleted,
        )
    )

    assert loading.rows("run_id, state, strftime(ended_at, '%H:%M'), seen_at") == [
        ("ml/a/1", "preempted", "08:20", None),
        ("ml/b/1", "preempted", "08:30", None),
        ("ml/c/1", "preempted", None, None),
        ("ml/d/1", "preempted", "08:40", None),
    ]


def test_what_is_no_list_is_refused(loading: Loading) -> None:
    source = loading.source("kubernetes")
    (loading.folder / "x.json").write_text('{"items": [', encoding="utf-8")
    assert "truncated" in str(loading.refusal(source))
    (loading.folder / "x.json").write_text("{}", encoding="utf-8")
    problem = loading.refusal(source)
    assert isinstance(problem, SourceUnreadable)
    assert "kubectl get jobs,pods" in str(problem)
