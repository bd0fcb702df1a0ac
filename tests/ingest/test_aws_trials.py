"""What somebody met who set this up for the first time: silence where something was wrong."""

from __future__ import annotations

import json
import os
import zipfile
from datetime import date, datetime
from pathlib import Path

import pytest

from ingest.run import IngestOptions, ingest
from tests.fakes.exports import cur_line, cur_lines, deliver_export, deliver_legacy, without
from tests.ingest.night import Night, source

LONG_AGO = 1_790_000_000


def grow_old(folder: Path) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))


@pytest.mark.parametrize("below", ["exp/ml-cur2/data", "exp/ml-cur2/data/BILLING_PERIOD=2026-10"])
def test_a_location_that_leaves_the_manifests_out_is_an_error(night: Night, bucket: Path, below: str) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1")])
    grow_old(bucket)

    refusal = night.refusal(source(bucket / below))

    assert "no manifest that names them" in str(refusal)
    assert "above data and metadata" in str(refusal.hint)


def test_files_whose_manifest_is_still_to_come_are_no_error(night: Night, bucket: Path) -> None:
    for path in deliver_export(bucket, "2026-10", [cur_lines("1")]):
        assert path.is_file()
    night.now = datetime.now().astimezone()

    assert night.load(source(bucket / "exp/ml-cur2/data")).without_data == ["main"]


def test_a_location_below_the_files_says_where_to_look(night: Night, bucket: Path) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1")])

    refusal = night.refusal(source(bucket / "exp/ml-cur2/metadata"))

    assert "above both the manifest and its files" in str(refusal.hint)


@pytest.mark.parametrize("is_listed", [True, False], ids=["an empty list", "no list"])
def test_a_manifest_that_names_no_files_is_an_error_and_other_months_load(
    night: Night, bucket: Path, *, is_listed: bool
) -> None:
    deliver_export(bucket, "2026-09", [cur_lines("1", month="2026-09")])
    deliver_export(bucket, "2026-10", [cur_lines("1")], execution=None)
    [path] = (bucket / "exp/ml-cur2/metadata/BILLING_PERIOD=2026-10").glob("*Manifest.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["dataFiles"]
    path.write_text(json.dumps(content | ({"dataFiles": []} if is_listed else {})), encoding="utf-8")

    report = night.run(source(bucket))

    assert [load.delivery.billing_month.month for load in report.loaded] == [9]
    assert ["the manifest names no files" in str(problem) for problem in report.problems] == [True]


def test_a_month_that_is_asked_for_and_is_nowhere_is_a_problem(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])
    night.load(source(bucket))
    months = frozenset({date(2026, 9, 1), date(2026, 10, 1)})
    options = IngestOptions(landing=night.landing, now=night.now.replace(tzinfo=None), months=months)

    report = ingest(night.warehouse, [source(bucket)], options)

    assert [str(problem) for problem in report.problems] == [
        "2026-09: no source offers this month, and nothing of it has landed"
    ]
    assert len(report.loaded) == 1


def test_copies_within_a_zip_count_once(night: Night, bucket: Path) -> None:
    [chunk] = deliver_legacy(bucket, "2026-10", [cur_lines("1", "2")], suffix=".csv.zip")
    plain = bucket / "chunk.csv"
    [made] = deliver_legacy(bucket / "other", "2026-10", [cur_lines("1", "2")], suffix=".csv")
    plain.write_bytes(made.read_bytes())
    with zipfile.ZipFile(chunk, "w") as archive:
        archive.write(plain, "a.csv")
        archive.write(plain, "b.csv")

    night.load(source(bucket / "billing"))

    assert night.billed() == 3


def test_without_line_item_types_nothing_is_proven(night: Night, bucket: Path) -> None:
    deliver_export(bucket, "2026-10", [without([cur_line()], "line_item_line_item_type")])

    night.load(source(bucket))

    assert night.warehouse.value("select effective_cost_state from ops.load") == "unproven"
