"""An MLflow store, as files and as SQLite; both were written by MLflow, with a run that SIGTERM ended."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from ingest.errors import LoadRefused, SourceUnreadable
from tests.usage.loading import Loading

STORES = Path(__file__).parent / "mlflow"
COLUMNS = "experiment, run_name, state, state_raw, ended_at is null, seen_at is null, gpu_count, project"
RUNS = [
    ("vision", "broken", "failed", "FAILED", False, True, None, None),
    ("vision", "done", "completed", "FINISHED", False, True, 2, "eyes"),
    ("vision", "killed", "running", "RUNNING", True, False, None, None),
]


@pytest.mark.parametrize("store", ["mlruns", "mlflow.db"])
def test_a_store_is_read_and_a_killed_run_is_stale(loading: Loading, store: str) -> None:
    place = loading.folder / store
    if store == "mlruns":
        shutil.copytree(STORES / store, place)
    else:
        with sqlite3.connect(place) as database:
            database.executescript((STORES / "mlflow.sql").read_text(encoding="utf-8"))
    source = loading.source("mlflow", location=place, cluster="lab")
    loading.load(source)
    assert loading.run(source).unchanged == 1

    assert loading.rows(COLUMNS) == RUNS
    loading.warehouse.execute(
        "update usage.run set started_at = '2026-10-05', seen_at = '2026-10-05 01:00:00' where state = 'running'"
    )
    loading.build()
    stale = loading.rows("run_name, is_stale, end_known_by, wall_hours, certainty", "marts.failed_runs")
    assert ("killed", True, "seen", 1, "none") in stale


def test_a_run_goes_on_and_another_is_deleted(loading: Loading) -> None:
    place = shutil.copytree(STORES / "mlruns", loading.folder / "mlruns")
    source = loading.source("mlflow", location=Path(place))
    loading.load(source)
    for meta in Path(place).glob("*/*/meta.yaml"):
        text = meta.read_text(encoding="utf-8")
        if "run_name: killed" in text:
            meta.write_text(
                text.replace("end_time: null", "end_time: 1796101999000").replace("status: 1", "status: 5"),
                encoding="utf-8",
            )
        if "run_name: broken" in text:
            meta.write_text(text.replace("lifecycle_stage: active", "lifecycle_stage: deleted"), encoding="utf-8")
    loading.load(source)

    assert loading.rows("run_name, state") == [("broken", "failed"), ("done", "completed"), ("killed", "cancelled")]


def test_what_is_no_store_is_refused(loading: Loading) -> None:
    source = loading.source("mlflow")
    assert isinstance(loading.refusal(source), SourceUnreadable)
    database = loading.folder / "x.db"
    database.write_bytes(b"nothing of the kind")
    assert "no SQLite database" in str(loading.refusal(loading.source("mlflow", location=database)))


def test_a_broken_value_is_named(loading: Loading) -> None:
    place = Path(shutil.copytree(STORES / "mlruns", loading.folder / "mlruns"))
    tag = next(place.glob("*/*/tags/overrun.gpu_count"))
    tag.write_text("two", encoding="utf-8")
    problem = loading.refusal(loading.source("mlflow", location=place))
    assert isinstance(problem, LoadRefused)
    assert "gpu_count cannot be read: two" in str(problem)
