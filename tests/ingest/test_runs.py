"""Exports that leave earlier runs beside the newest: rows count once, or the source is refused."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest

from ingest.errors import SourceUnreadable
from ingest.runs import Written, of_newest_runs, without_leftovers
from tests.fakes.exports import gcp_row, write_gcp
from tests.ingest.night import NOW, Night, source

HOUR = 3600 * 1_000_000_000
NOW_NS = 1000 * HOUR


def written(**hours: float) -> list[Written]:
    """Return files by name, with `__` for a slash, written so many hours ago."""
    return [Written(PurePosixPath(name), NOW_NS - int(ago * HOUR)) for name, ago in hours.items()]


def files(hours: dict[str, float]) -> list[Written]:
    return written(**hours)


def kept(hours: dict[str, float]) -> list[str]:
    return [str(file.path) for file in of_newest_runs(files(hours), NOW_NS)[0]]


def test_the_newest_run_by_its_instant_counts_in_each_folder() -> None:
    assert kept(
        {
            "t/202609/20261002T0500Z/p.parquet": 50,
            "t/202610/20261102T0500Z/p.parquet": 30,
            "t/202610/20261103T0500Z/p.parquet": 5,
        }
    ) == ["t/202609/20261002T0500Z/p.parquet", "t/202610/20261103T0500Z/p.parquet"]


def test_a_run_that_is_still_being_written_does_not_count() -> None:
    assert kept({"t/20261102T0500/p.avro": 30, "t/20261103T0500/p.avro": 0.2}) == ["t/20261102T0500/p.avro"]


def test_a_run_without_the_mark_that_others_have_does_not_count() -> None:
    found = kept({"t/run=a/p.avro": 30, "t/run=a/_SUCCESS": 29, "t/run=b/p.avro": 5})

    assert found == ["t/run=a/_SUCCESS", "t/run=a/p.avro"]


def test_runs_that_nothing_tells_apart_are_refused() -> None:
    with pytest.raises(SourceUnreadable, match="2 runs of t lie side by side"):
        kept({"t/run=a/p.avro": 30, "t/run=b/p.avro": 5})


def test_folders_of_days_add_up() -> None:
    days = {"t/2026-10-01/p.parquet": 30.0, "t/dt=20261002/p.parquet": 5.0}

    assert kept(days) == list(days)


def test_shards_left_behind_by_a_larger_run_do_not_count() -> None:
    found, left = without_leftovers(
        files({"p-000000000000.avro": 1, "p-000000000001.avro": 1.1, "p-000000000002.avro": 25, "other.avro": 99})
    )

    assert [str(file.path) for file in found] == ["p-000000000000.avro", "p-000000000001.avro", "other.avro"]
    assert left == ["p-000000000002.avro (left behind by an earlier run)"]


def test_shards_of_several_runs_in_between_are_refused() -> None:
    with pytest.raises(SourceUnreadable, match="several runs") as refused:
        without_leftovers(files({"p-000000000000.avro": 25, "p-000000000001.avro": 1}))

    assert "empty the folder" in str(refused.value.hint)


def test_a_night_loads_the_newest_run_only(night: Night, bucket: Path) -> None:
    for run, cost in (("20261102T0500Z", "5"), ("20261103T0500Z", "7")):
        path = bucket / run / "p-000000000000.ndjson"
        write_gcp(path, [gcp_row(cost=cost)])
        os.utime(path, (NOW.timestamp() - 7200, NOW.timestamp() - 7200))

    report = night.load(source(bucket, "gcp-export"))

    assert night.billed() == 7
    assert "20261102T0500Z" in str(report.passed_over)
