"""What sacct writes: states, attempts, names with the delimiter, accelerators, and what is no run at all."""

from __future__ import annotations

import gzip
from datetime import datetime
from decimal import Decimal

import pytest

from ingest.errors import LoadRefused, SourceUnreadable
from ingest.usage.gpus import gpus_of_tres, part_of_profile
from ingest.usage.nodes import nodes_of
from tests.usage.loading import HEADER, Loading, job


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_a_job_is_one_attempt(loading: Loading) -> None:
    loading.write(HEADER, job(JobName="a|b|c"))
    loading.load()

    assert loading.rows("cluster, run_id, run_name, user_name, account, state, node_count, cpu_count, gpu_count") == [
        ("c1", "7", "a|b|c", "ada", "vision", "completed", 1, 8, 2)
    ]
    assert loading.rows("started_at, ended_at, kind") == [
        (at("2026-10-05 08:00:00"), at("2026-10-05 10:00:00"), "batch")
    ]


def test_states_are_told_in_one_set_of_words(loading: Loading) -> None:
    words = {
        "COMPLETED": "completed", "FAILED": "failed", "CANCELLED by 123": "cancelled", "CANCELLED+": "cancelled",
        "TIMEOUT": "timeout", "DEADLINE": "timeout", "OUT_OF_MEMORY": "oom", "NODE_FAIL": "node_fail",
        "BOOT_FAIL": "node_fail", "PREEMPTED": "preempted", "REQUEUED": "requeued", "RESIZING": "resized",
        "REVOKED": "cancelled", "SOMETHING_NEW": "unknown",
    }  # fmt: skip
    loading.write(HEADER, *(job(str(number), State=word) for number, word in enumerate(words, start=10)))
    loading.load()

    assert [state for _, state in loading.rows("run_id, state")] == list(words.values())
    assert ("CANCELLED by 123",) in loading.rows("state_raw")


def test_what_never_began_has_no_start(loading: Loading) -> None:
    loading.write(
        HEADER,
        job(
            "1",
            State="CANCELLED by 5",
            NodeList="None assigned",
            Start="2026-10-05T08:00:00",
            End="2026-10-05T08:00:00",
        ),
        job("2", State="PENDING", Start="Unknown", End="Unknown", NodeList="None assigned", Elapsed="00:00:00"),
        job("3", State="CANCELLED", Start="None", End="2026-10-05T08:00:00", NodeList=""),
    )
    loading.load()
    loading.build()

    assert loading.rows("run_id, started_at, node_list") == [("1", None, None), ("2", None, None), ("3", None, None)]
    assert loading.rows("run_id, gpu_hours, cost_method, cost_before_credits", "marts.run_costs") == [
        ("1", 0, "not started", 0),
        ("2", 0, "not started", 0),
        ("3", 0, "not started", 0),
    ]


def test_every_attempt_of_a_requeued_job_is_kept(loading: Loading) -> None:
    # Requeued after 64.7, 74.3 and 101.7 minutes, then done.
    starts = ["2026-10-05T00:00:00", "2026-10-05T02:00:00", "2026-10-05T04:00:00", "2026-10-05T08:00:00"]
    ends = ["2026-10-05T01:04:42", "2026-10-05T03:14:18", "2026-10-05T05:41:42", "2026-10-05T09:00:00"]
    states = ["REQUEUED", "REQUEUED", "REQUEUED", "COMPLETED"]
    lines = [job(Start=start, End=end, State=state) for start, end, state in zip(starts, ends, states, strict=True)]
    loading.write(HEADER, *lines)
    loading.load()
    loading.build()

    rows = loading.rows("attempt, state, round(wall_hours * 60, 1), certainty", "marts.run_costs")
    assert rows == [
        (1, "requeued", Decimal("64.7"), "possible"),
        (2, "requeued", Decimal("74.3"), "possible"),
        (3, "requeued", Decimal("101.7"), "possible"),
        (4, "completed", Decimal(60), "none"),
    ]


def test_a_preempted_run_that_ended_well_keeps_the_state_of_each_attempt(loading: Loading) -> None:
    loading.write(
        HEADER, job(State="PREEMPTED"), job(Start="2026-10-05T11:00:00", End="2026-10-05T12:00:00", State="COMPLETED")
    )
    loading.load()
    loading.build()

    assert loading.rows("attempt, attempts, state", "marts.run_costs") == [(1, 2, "preempted"), (2, 2, "completed")]


def test_steps_are_no_runs_and_repeated_rows_one(loading: Loading) -> None:
    loading.write(HEADER, job(), job("7.batch"), job("7.0"), job(State="FAILED"), "")
    loading.load()

    assert loading.rows("run_id, state") == [("7", "failed")]
    assert loading.rows("rows_read, rows_dropped, rows_changed", "ops.usage_load") == [(4, 3, 1)]


def test_arrays_and_heterogeneous_jobs_say_what_they_are_a_part_of(loading: Loading) -> None:
    loading.write(HEADER, job("100_3"), job("200+1"), job("300_[4-9]", State="PENDING", Start="Unknown", End="Unknown"))
    loading.load()

    assert loading.rows("run_id, sweep_id, trial, kind") == [
        ("100_3", "100", "3", "array_task"),
        ("200+1", "200", "1", "batch"),
        ("300_[4-9]", "300", "[4-9]", "array_task"),
    ]


def test_shells_and_notebooks_are_told_apart(loading: Loading) -> None:
    header = HEADER.replace("|JobName", "|Partition|JobName")
    rows = (("1", "gpu", "bash"), ("2", "interactive", "x"), ("3", "gpu", "JupyterLab"), ("4", "gpu", "train"))
    loading.write(header, *(f"{job(number, JobName=partition)}|{name}" for number, partition, name in rows))
    loading.load()

    assert loading.rows("run_id, kind, partition_name") == [
        ("1", "interactive", "gpu"),
        ("2", "interactive", "interactive"),
        ("3", "notebook", "gpu"),
        ("4", "batch", "gpu"),
    ]


def test_a_running_job_ends_later_and_an_older_file_does_not_open_it_again(loading: Loading) -> None:
    running = job(State="RUNNING", End="Unknown", Elapsed="1-02:00:00")
    loading.write(HEADER, running, name="a.log")
    loading.load()
    assert loading.rows("state, ended_at, seen_at") == [("running", None, at("2026-10-06 10:00:00"))]

    loading.write(HEADER, job(), name="b.log")
    loading.load()
    loading.write(HEADER, running, job("8"), name="c.log")
    loading.load()
    assert loading.rows("run_id, state") == [("7", "completed"), ("8", "completed")]


def test_a_job_that_waited_is_one_run_once_it_began(loading: Loading) -> None:
    loading.write(HEADER, job(State="PENDING", Start="Unknown", End="Unknown"), name="a.log")
    loading.load()
    loading.write(HEADER, job(), name="b.log")
    loading.load()

    assert loading.rows("run_id, state") == [("7", "completed")]


def test_what_is_listed_no_more_stays_and_what_is_as_it_was_is_not_read(loading: Loading) -> None:
    path = loading.write(HEADER, job("1"), job("2"))
    loading.load()
    assert loading.run().unchanged == 1
    path.write_text(f"{HEADER}\n{job('3')}\n", encoding="utf-8")
    report = loading.load()

    assert [(file.rows_read, file.rows_changed) for file in report.loaded] == [(1, 1)]
    assert loading.rows("run_id") == [("1",), ("2",), ("3",)]
    assert loading.rows("count(*), count(*) filter (is_current)", "ops.usage_load") == [(2, 1)]


def test_without_a_header_the_columns_are_those_of_the_documented_command(loading: Loading) -> None:
    row = (
        "5|5|c1|gpu|normal|vision|staff|100|ada|1000|2026-10-05T07:00:00|2026-10-05T07:00:00|2026-10-05T08:00:00"
        "|2026-10-05T10:00:00|02:00:00|0:0|COMPLETED|2|16|16|1G|cpu=16|cpu=16,gres/gpu:a100=4,gres/gpu=4|1-00:00:00"
        "|gpu[01-02]|name | with | bars"
    )
    path = loading.folder / "sacct.gz"
    path.write_bytes(gzip.compress(f"{row}\n".encode()))
    loading.load()

    assert loading.rows("run_id, run_name, qos, exit_code, node_count, gpu_count, accelerator") == [
        ("5", "name | with | bars", "normal", "0:0", 2, 4, "a100")
    ]
    assert loading.rows("node", "usage.run_node") == [("gpu01",), ("gpu02",)]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([HEADER, job(), job("8", Start="yesterday")], "line 3 start is no instant: yesterday"),
        ([HEADER, job(), "8|c1|vision"], "line 3 has 3 fields, where 15 are expected"),
        ([HEADER, job(NCPUS="many")], "line 2 ncpus is no number: many"),
        ([HEADER, job(NNodes="-1")], "line 2 nnodes is no number: -1"),
        ([HEADER, job("")], "line 2 has no job id"),
        (["JobID|User", "1|ada"], "line 1: the header has no column start"),
    ],
)
def test_a_bad_row_is_named_and_the_last_good_rows_stay(loading: Loading, lines: list[str], words: str) -> None:
    loading.write(HEADER, job("1"), name="good.log")
    loading.load()
    loading.write(*lines, name="bad.log")
    problem = loading.refusal()

    assert isinstance(problem, LoadRefused)
    assert words in str(problem)
    assert (problem.source, problem.file) == ("hpc", "bad.log")
    assert loading.rows("run_id") == [("1",)]
    assert loading.run().problems, "a bad file is tried again each night"


def test_what_is_no_text_or_nothing_at_all_is_unreadable(loading: Loading) -> None:
    path = loading.folder / "bad.gz"
    path.write_bytes(b"no archive")
    assert isinstance(loading.refusal(), SourceUnreadable)
    path.unlink()
    path = loading.folder / "bad.log"
    path.write_bytes(f"{HEADER}\n".encode() + b"\xff\xfe\n")
    assert "line 2" in str(loading.refusal())
    missing = loading.source(location=loading.folder / "nowhere")
    assert "does not exist" in str(loading.refusal(missing))


def test_a_day_without_jobs_is_an_empty_file(loading: Loading) -> None:
    (loading.folder / "2026-10-05.log").write_bytes(b"")
    (loading.folder / "2026-10-06.gz").write_bytes(gzip.compress(b""))
    loading.load()
    loading.build()

    assert loading.rows("file, rows_read, rows_changed", "ops.usage_load") == [
        ("2026-10-05.log", 0, 0),
        ("2026-10-06.gz", 0, 0),
    ]


def test_a_clock_that_goes_backwards_is_counted_and_takes_no_time(loading: Loading) -> None:
    loading.write(HEADER, job(End="2026-10-05T07:00:00"))
    loading.load()
    loading.build()

    assert loading.rows("rows_odd", "ops.usage_load") == [(1,)]
    assert loading.rows("wall_hours, end_known_by", "marts.run_costs") == [(0, "backwards")]


def test_a_folder_without_a_file_yet_is_no_failure(loading: Loading) -> None:
    report = loading.load()
    assert report.without_data == ["hpc"]


@pytest.mark.parametrize(
    ("request_text", "count", "accelerator"),
    [
        ("billing=8,cpu=8", "0", None),
        ("cpu=8,gres/gpu=4,mem=1G", "4", None),
        ("gres/gpu:a100=2,gres/gpu=4", "4", "a100"),
        ("gres/gpu:a100=3", "3", "a100"),
        ("gres/gpu:a100=1,gres/gpu:v100=2,gres/gpu=3", "3", "a100+v100"),
        ("gres/gpu:a100_1g.5gb=7", "1", "a100_1g.5gb"),
        ("gres/gpu:1g.10gb=1,gres/gpu=1", "0.142857143", "1g.10gb"),
        ("gres/gpu:a30_1g.6gb=2", "0.5", "a30_1g.6gb"),
        ("gres/gpu:9g.5gb=1", None, "9g.5gb"),
        ("gres/gpu:newest_1g.7gb=1", None, "newest_1g.7gb"),
    ],
)
def test_accelerators_of_a_request(request_text: str, count: str | None, accelerator: str | None) -> None:
    gpus = gpus_of_tres(request_text)
    assert gpus.count == (None if count is None else Decimal(count))
    assert gpus.accelerator == accelerator
    assert gpus.shards is None


def test_shards_are_counted_by_the_node_and_not_here() -> None:
    gpus = gpus_of_tres("cpu=1,gres/shard=2")
    assert (gpus.count, gpus.shards) == (None, Decimal(2))
    assert gpus_of_tres("gres/mps=50").shards == Decimal(50)
    assert part_of_profile("h100-mig-7g.80gb") == 1
    assert part_of_profile("rtx-pro-6000_1g.24gb") == Decimal("0.25")


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("n1", ["n1"]),
        ("gpu[01-03,07],login1", ["gpu01", "gpu02", "gpu03", "gpu07", "login1"]),
        ("r[1-2]n[8-9]", ["r1n8", "r1n9", "r2n8", "r2n9"]),
        ("i-1; i-2 i-1", ["i-1", "i-2"]),
        ("n[a-b]", ["na-b"]),
    ],
)
def test_lists_of_nodes_are_taken_apart(text: str, nodes: list[str]) -> None:
    assert nodes_of(text) == nodes
