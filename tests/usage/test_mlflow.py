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


def tag(store: Path, run_name: str, key: str, value: str) -> str:
    """Set a tag of a run; return the id of the run."""
    folder = next(path.parent for path in store.glob("*/*/tags/mlflow.runName") if path.read_text("utf-8") == run_name)
    path = folder / key
    path.parent.mkdir(exist_ok=True)
    path.write_text(value, encoding="utf-8")
    return folder.parent.name


@pytest.fixture
def store(loading: Loading) -> Path:
    return Path(shutil.copytree(STORES / "mlruns", loading.folder / "mlruns"))


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


def test_a_kind_that_one_run_says_leaves_the_others_batch_runs(loading: Loading, store: Path) -> None:
    tag(store, "done", "overrun.kind", "Notebook")
    loading.load(loading.source("mlflow", location=store))
    loading.build()

    assert loading.rows("run_name, kind") == [("broken", "batch"), ("done", "notebook"), ("killed", "batch")]


def test_a_run_may_name_its_cluster_and_others_are_of_that_of_the_source(loading: Loading, store: Path) -> None:
    tag(store, "done", "overrun.cluster", "west")
    loading.load(loading.source("mlflow", location=store, cluster="lab"))

    assert loading.rows("run_name, cluster") == [("broken", "lab"), ("done", "west"), ("killed", "lab")]


def test_tags_that_are_no_columns_are_passed_over(loading: Loading, store: Path) -> None:
    tag(store, "done", "overrun.gpu_cuont", "2")
    tag(store, "broken", "overrun.state_raw", "x")
    tag(store, "broken", "owner/mail", "x")
    report = loading.load(loading.source("mlflow", location=store))

    assert report.loaded[0].passed_over == ("overrun.gpu_cuont", "overrun.state_raw")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("overrun.gpu_count", "abc", "overrun.gpu_count cannot be read: abc"),
        ("overrun.kind", "Interactiv", "overrun.kind is none of batch, array_task,"),
        ("overrun.cpu_count", "-1", "overrun.cpu_count must not be negative: -1"),
    ],
)
def test_a_tag_that_cannot_be_read_is_named_with_its_run(
    loading: Loading, store: Path, key: str, value: str, words: str
) -> None:
    run_id = tag(store, "done", key, value)
    problem = loading.refusal(loading.source("mlflow", location=store))

    assert isinstance(problem, LoadRefused)
    assert f"run {run_id} {words}" in str(problem)


def test_a_tag_that_is_no_text_is_named_with_its_run(loading: Loading, store: Path) -> None:
    run_id = tag(store, "done", "note", "")
    next(store.glob(f"*/{run_id}/tags/note")).write_bytes(b"\xff\xfe\xfa")

    assert f"run {run_id} note is no text in UTF-8" in str(loading.refusal(loading.source("mlflow", location=store)))


def test_slices_are_parts_of_an_accelerator(loading: Loading, store: Path) -> None:
    tag(store, "done", "overrun.gpu_count", "7")
    tag(store, "done", "overrun.accelerator", "a100_1g.5gb")
    loading.load(loading.source("mlflow", location=store))

    assert loading.rows("gpu_count", "usage.run where run_name = 'done'") == [(1,)]
