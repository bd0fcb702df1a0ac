"""Two clusters' accounting, as another project read and summed it, and outcomes of four more as published."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

import pytest

from tests.conftest import SHARED
from tests.usage.loading import Loading, hours

RUNS = SHARED / "data" / "runs"
EXPECTED = RUNS / "expected"
CLUSTERS = ("phillips", "pozidriv")
MEASURES = {
    "job_count": "ended_count", "total_cpu_hours": "cpu_hours", "total_node_hours": "node_hours",
    "total_wallduration_hours": "wall_hours", "total_gpu_hours": "gpu_hours",
}  # fmt: skip

pytestmark = pytest.mark.skipif(not EXPECTED.exists(), reason="the shared sample files are not there")


def table(name: str) -> Iterator[list[str]]:
    """Yield header and rows of a published table, between its lines of dashes."""
    lines = (EXPECTED / f"{name}.csv").read_text(encoding="utf-8").split("---------")[1].strip().splitlines()
    yield from csv.reader(lines)


def totals(name: str) -> dict[str, Decimal]:
    """Return the published totals by cluster."""
    return {row[0]: Decimal(row[1]) for row in list(table(name))[1:]}


def days(name: str) -> dict[tuple[str, date], Decimal]:
    """Return the published values by cluster and day."""
    header, *rows = table(name)
    clusters = [title[1:].split("]")[0] for title in header[1:]]
    return {
        (cluster, date.fromisoformat(row[0])): Decimal(value)
        for row in rows
        for cluster, value in zip(clusters, row[1:], strict=True)
        if cluster in CLUSTERS
    }


@pytest.fixture
def loaded(loading: Loading) -> Loading:
    for cluster in CLUSTERS:
        loading.load(loading.source(name=cluster, location=RUNS / f"{cluster}.log"))
    loading.build()
    return loading


def test_every_published_total_is_reproduced(loaded: Loading) -> None:
    for name, column in MEASURES.items():
        found = loaded.rows(f"cluster, sum({column})", "marts.run_daily_use group by cluster")
        published = totals(f"resource_{name}_total")
        assert {str(row[0]): hours(row[1]) for row in found} == {
            cluster: hours(published[cluster]) for cluster in CLUSTERS
        }, name


def test_every_published_day_is_reproduced(loaded: Loading) -> None:
    for name, column in MEASURES.items():
        rows = loaded.rows(f"cluster, charge_date, sum({column})", "marts.run_daily_use group by cluster, charge_date")
        found = {(str(row[0]), row[1]): hours(row[2]) for row in rows}
        published = days(f"resource_{name}_day")
        assert published
        for key, value in published.items():
            assert found.get(key, Decimal(0)) == hours(value), (name, key)


def test_runs_that_never_began_are_counted_and_use_nothing(loaded: Loading) -> None:
    never = loaded.rows(
        "cluster, sum(not_started_count)", "marts.run_outcomes where state = 'cancelled' group by cluster"
    )
    assert never == [("phillips", 239), ("pozidriv", 419)]
    assert loaded.rows("sum(run_count), round(sum(cpu_hours), 4)", "marts.run_outcomes where state = 'timeout'") == [
        (10, Decimal("16673.0256"))
    ]


def test_shares_of_gpu_time_by_outcome_are_those_published(loading: Loading) -> None:
    lines = ["cluster,state,run_count,gpu_seconds"]
    shares: dict[tuple[str, str], float] = {}
    with (RUNS / "gpu_clusters_by_status.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            for state, word in (("completed", "complete"), ("cancelled", "cancel"), ("failed", "fail")):
                if row[f"{word}_gpu_time"]:
                    count = round(float(row[f"{word}_rate_gpu"]) * int(row["gpu_job_num"]))
                    lines.append(f"{row['id']},{state},{count},{row[f'{word}_gpu_time']}")
                    shares[row["id"], state] = float(row[f"{word}_rate_gpu_time"])
    loading.write(*lines, name="outcomes.csv")
    loading.load(loading.source("runs-files"))
    loading.build()

    rows = loading.rows(
        "cluster, state, round(gpu_hours::double / sum(gpu_hours) over (partition by cluster)::double, 3)",
        "marts.run_outcomes",
    )
    assert {(str(row[0]), str(row[1])): row[2] for row in rows} == shares
    failed = loading.rows(
        "round(gpu_hours / 1000)::int", "marts.run_outcomes where cluster = 'Seren' and state = 'failed'"
    )
    assert failed == [(743,)]


def test_accounts_of_arrays_and_of_an_allocation_without_processors(loading: Loading) -> None:
    loading.load(loading.source(name="arrays", location=RUNS / "acct-arrays.log"))
    loading.load(loading.source(name="unit", location=RUNS / "acct-unit.log"))

    found = loading.rows("sweep_id, trial, kind, node_count", "usage.run where source = 'arrays' and trial = '100'")
    assert found == [("4103947", "100", "array_task", 32)]
    assert loading.rows("gpu_count, submitted_at is null", "usage.run where run_id = '5692623'") == [(2, False)]
    nodes = loading.rows("count(distinct node)", "usage.run_node where source = 'arrays'")
    assert nodes == [(32,)]
