"""Runs as CSV or parquet, and sums by outcome: what is read, and what is refused with its line."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest

from ingest.errors import LoadRefused
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
