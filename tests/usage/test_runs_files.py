"""Runs as CSV or parquet, and sums by outcome: what is read, and what is refused with its line."""

from __future__ import annotations

import gzip
from datetime import datetime
from decimal import Decimal

import pytest

from ingest.errors import LoadRefused, SourceUnreadable
from tests.usage.loading import Loading

COLUMNS = (
    "run_id,state,started_at,ended_at,gpu_count,project,accelerator,checkpoint_at,resumed_from,tokens,full_retrain"
)


def test_columns_bear_the_names_of_the_table_and_others_are_passed_over(loading: Loading) -> None:
    loading.write(
        f"{COLUMNS},Mood",
        "a,Succeeded,2026-10-05T10:00:00+02:00,2026-10-05T09:00:00Z,0.25,vision,A100,,,1e12,true,fine",
        "b,killed,2026-10-05 08:00,2026-10-05 09:00,7,vision,a100_1g.5gb,2026-10-05T08:30:00Z,a,,,",
        name="runs.csv",
    )
    report = loading.load(loading.source("runs-files", cluster="lab"))

    assert report.loaded[0].passed_over == ("mood",)
    assert loading.rows("cluster, run_id, state, state_raw, started_at, gpu_count, tokens, full_retrain, kind") == [
        ("lab", "a", "completed", "Succeeded", datetime(2026, 10, 5, 8), Decimal("0.25"), 1e12, True, "batch"),  # noqa: DTZ001
        ("lab", "b", "cancelled", "killed", datetime(2026, 10, 5, 8), 1, None, None, "batch"),  # noqa: DTZ001
    ]


def test_a_run_whose_times_nobody_knows_is_a_run(loading: Loading) -> None:
    loading.write("run_id,state", "a,failed", name="runs.csv")
    loading.load(loading.source("runs-files"))
    loading.build()

    assert loading.rows("run_id, attempt, state, end_known_by", "marts.run_costs") == [("a", 1, "failed", None)]


def test_parquet_is_read_alike(loading: Loading) -> None:
    path = loading.folder / "runs.parquet"
    loading.warehouse.execute(
        "copy (select 'a' as run_id, 'failed' as state, timestamp '2026-10-05 08:00:00' as started_at,"
        f" timestamp '2026-10-05 09:30:00' as ended_at, 8 as gpu_count) to '{path}'"
    )
    loading.load(loading.source("runs-files"))
    loading.build()

    assert loading.rows("run_id, gpu_hours, certainty", "marts.run_costs") == [("a", 12, "certain")]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["run_id,state,started_at", "a,failed,soon"], "line 2 started_at cannot be read: soon"),
        (["run_id,state,gpu_count", "a,failed,nan"], "line 2 gpu_count cannot be read: nan"),
        (["run_id,state,cpu_count", "a,failed,nan"], "line 2 cpu_count must not be negative: nan"),
        (["run_id,state,gpu_count", "a,failed,1", "b,failed,-1"], "line 3 gpu_count must not be negative: -1"),
        (["run_id,state", ",failed"], "line 2 has no run_id"),
        (["run_id", "a"], "no column state"),
        (["run_id,state,kind", "a,failed,", "b,failed,Interactiv"], "line 3 kind is none of batch, array_task,"),
        (["state", "failed"], "neither run_id nor run_count"),
        (["state,run_count", "failed,many"], "line 2 run_count cannot be read: many"),
    ],
)
def test_what_cannot_be_read_is_named(loading: Loading, lines: list[str], words: str) -> None:
    loading.write(*lines, name="runs.csv")
    problem = loading.refusal(loading.source("runs-files"))
    assert isinstance(problem, LoadRefused)
    assert words in str(problem)


def test_sums_replace_those_that_the_file_gave_before(loading: Loading) -> None:
    source = loading.source("runs-files")
    loading.write("state,run_count,gpu_hours,month", "failed,3,10,2026-10", name="sums.csv")
    loading.load(source)
    loading.write("state,run_count,gpu_hours,month", "failed,4,12.5,2026-10", name="sums.csv")
    loading.load(source)

    assert loading.rows("state, run_count, gpu_seconds, month::varchar", "usage.run_total") == [
        ("failed", 4, 45000, "2026-10-01")
    ]


def test_hours_go_before_seconds_and_nothing_that_is_read_is_passed_over(loading: Loading) -> None:
    loading.write(
        "state,gpu_hours,gpu_seconds,cpu_seconds,cpu_hours,colour",
        "failed,1,7200,60,,red",
        "completed,,7200,,0.5,blue",
        name="sums.csv",
    )
    report = loading.load(loading.source("runs-files"))

    assert report.loaded[0].passed_over == ("colour",)
    assert loading.rows("state, gpu_seconds, cpu_seconds", "usage.run_total") == [
        ("completed", 7200, 1800),
        ("failed", 3600, 60),
    ]


def test_states_that_are_no_known_words_are_counted_for_each_source(loading: Loading) -> None:
    loading.write("run_id,state", "a,mystery", "b,Unknown", "c,done", name="runs.csv")
    loading.write("state,run_count", "mystery,4", "odd,2", name="sums.csv")
    report = loading.load(loading.source("runs-files"), loading.source("runs-files", name="again"))

    assert report.unknown_states == {"hpc": {"mystery": 2, "odd": 1}, "again": {"mystery": 2, "odd": 1}}
    assert loading.rows("state, state_raw", "usage.run_total where source = 'hpc'") == [
        ("unknown", "mystery"),
        ("unknown", "odd"),
    ]


def test_a_run_without_a_count_of_accelerators_is_unknown_and_one_with_none_is_none(loading: Loading) -> None:
    loading.write(
        "run_id,state,started_at,ended_at,gpu_count",
        "a,failed,2026-10-05T08:00:00Z,2026-10-05T09:00:00Z,",
        "b,failed,2026-10-05T08:00:00Z,2026-10-05T09:00:00Z,0",
        name="runs.csv",
    )
    loading.load(loading.source("runs-files"))
    loading.build(**{"settings.run_source": [("hpc", None, Decimal(4), "USD")]})

    assert loading.rows("run_id, gpu_hours, cost_method, wasted_certain_cost", "marts.run_costs") == [
        ("a", None, "none", None),
        ("b", 0, "none", None),
    ]


def test_a_row_that_begins_with_a_hash_is_a_row(loading: Loading) -> None:
    loading.write("run_id,state,line", "#1,failed,a", "2,failed,b", "#3,failed,c", name="runs.csv")
    report = loading.load(loading.source("runs-files"))

    assert loading.rows("run_id") == [("#1",), ("#3",), ("2",)]
    assert report.loaded[0].passed_over == ("line",)


def test_quotes_blank_lines_and_columns_without_a_name_are_no_fault(loading: Loading) -> None:
    (loading.folder / "runs.csv").write_bytes(
        b'\xef\xbb\xbfRun_ID, State,\r\n\r\n"a, ""b""\r\nc",failed,\r\nd,done,"x\r\n"\r\n'
    )
    report = loading.load(loading.source("runs-files"))

    assert loading.rows("run_id, state") == [('a, "b"\r\nc', "failed"), ("d", "completed")]
    assert report.loaded[0].passed_over == ("column 3",)


def test_a_folder_of_a_partition_adds_no_column(loading: Loading) -> None:
    folder = loading.folder / "run_name=x"
    folder.mkdir()
    (folder / "runs.csv").write_text("run_id,state\na,failed\n", encoding="utf-8")
    loading.warehouse.execute(f"copy (select 'b' as run_id, 'failed' as state) to '{folder / 'runs.parquet'}'")
    loading.load(loading.source("runs-files"))

    assert loading.rows("run_id, run_name") == [("a", None), ("b", None)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run_id,state\na,failed\nb\n", "line 3: Expected Number of Columns: 2 Found: 1"),
        ("run_id,state\na,failed,1\n", "line 2: Expected Number of Columns: 2 Found: 3"),
        ('run_id,state\n"a\nb",failed\n\nc\n', "line 5: Expected Number of Columns: 2 Found: 1"),
        ('run_id,state\n"a"b,failed\n', "line 2: Value with unterminated quote found"),
        ('run_id,state\na,failed\n"b,failed\n', "line 3: Value with unterminated quote found"),
        ("run_id,state\na,failed\r\n", "line 2 ends with another line break than the first"),
        ('run_id,state,gpu_count\n"a\nb",failed,1\n\nc,failed,x\n', "line 5 gpu_count cannot be read: x"),
        ("run_id,State,state \na,failed,done\n", "line 1: the header names state 2 times"),
        ("\nrun_id,state\n", "line 1: the header is empty"),
        ('run_id,"state\n', "line 1: the header cannot be read"),
    ],
)
def test_an_odd_csv_is_refused_with_its_line(loading: Loading, text: str, words: str) -> None:
    (loading.folder / "runs.csv").write_text(text, encoding="utf-8", newline="")
    problem = loading.refusal(loading.source("runs-files"))

    assert isinstance(problem, LoadRefused)
    assert problem.file == "runs.csv"
    assert words in str(problem)


def test_a_line_that_is_no_text_is_named(loading: Loading) -> None:
    (loading.folder / "runs.csv").write_bytes(b"run_id,state\na,failed\n\xff,failed\n")
    assert "line 3: Invalid unicode" in str(loading.refusal(loading.source("runs-files")))


def test_compressed_csv_is_read_or_unreadable(loading: Loading) -> None:
    path = loading.folder / "runs.csv.gz"
    path.write_bytes(gzip.compress(b"run_id,state\na,failed\n"))
    loading.load(loading.source("runs-files"))
    assert loading.rows("run_id") == [("a",)]

    path.write_bytes(b"run_id,state\na,failed\n")
    assert isinstance(loading.refusal(loading.source("runs-files")), SourceUnreadable)


def test_parquet_that_names_a_column_twice_is_refused(loading: Loading) -> None:
    path = loading.folder / "runs.parquet"
    loading.warehouse.execute(f"copy (select 'a' as run_id, 'failed' as state, 'done' as \"state \") to '{path}'")
    assert "names state 2 times" in str(loading.refusal(loading.source("runs-files")))
