"""Which files of an AWS bucket make up which month, and when there is nothing to load yet."""

from __future__ import annotations

import shutil
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from tests.fakes.exports import (
    cur_line,
    cur_lines,
    deliver_export,
    deliver_legacy,
    focus_charge,
    period_folder,
    write_cur,
)
from tests.ingest.night import Night, source

SEPTEMBER, OCTOBER = date(2026, 9, 1), date(2026, 10, 1)


def test_a_period_without_manifest_yet_is_no_problem(night: Night, bucket: Path) -> None:
    # project-koku/koku#967
    deliver_legacy(bucket, "2026-09", [cur_lines("5", month="2026-09", start="2026-09-30T00:00:00Z")])
    write_cur(
        bucket / f"billing/ml-cur/{period_folder('2026-10')}/20261001T010000Z/ml-cur-00001.csv.gz", cur_lines("7")
    )

    report = night.load(source(bucket))

    assert [load.delivery.billing_month for load in report.loaded] == [SEPTEMBER]
    assert night.billed() == 5
    assert night.warehouse.value("select count(*) from ops.load") == 1


def test_an_empty_bucket_is_a_source_without_data(night: Night, bucket: Path) -> None:
    # project-koku/koku#2367
    report = night.load(source(bucket))

    assert report.without_data == ["main"]
    assert report.loaded == []
    assert night.rows("1") == []


def test_a_manifest_that_names_a_missing_file_loads_nothing_of_that_version(night: Night, bucket: Path) -> None:
    # project-koku/koku#2457
    deliver_legacy(bucket, "2026-09", [cur_lines("5", month="2026-09")])
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("2")], assembly="20261002T000000Z")
    night.load(source(bucket))
    before = night.fingerprint(month=OCTOBER)
    files = deliver_legacy(bucket, "2026-10", [cur_lines("10"), cur_lines("20")], assembly="20261003T000000Z")
    kept = files[1].read_bytes()
    files[1].unlink()

    problem = night.refusal(source(bucket))

    assert (problem.source, problem.billing_month) == ("main", OCTOBER)
    assert "ml-cur-00002.csv.gz" in str(problem)
    assert "not there" in str(problem)
    assert night.fingerprint(month=OCTOBER) == before
    assert night.billed("\"x_BillingMonth\" = date '2026-10-01'") == 3

    files[1].write_bytes(kept)
    night.load(source(bucket))
    assert night.billed("\"x_BillingMonth\" = date '2026-10-01'") == 30


def test_every_chunk_of_a_manifest_is_loaded(night: Night, bucket: Path) -> None:
    # concurrencylabs/aws-cost-analysis#15
    deliver_legacy(bucket, "2026-10", [cur_lines("2.5", resource=f"i-{number}") for number in range(5)])

    [load] = night.load(source(bucket)).loaded

    assert night.billed() == Decimal("12.5")
    assert night.warehouse.row("select files, rows_read, rows_loaded from ops.load") == (5, 5, 5)
    assert len(load.delivery.files) == 5


def test_three_kinds_of_export_of_one_month_under_one_prefix_are_refused(night: Night, bucket: Path) -> None:
    # turbot/tailpipe-plugin-aws#211
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])
    deliver_export(bucket, "2026-10", [cur_lines("1")])
    deliver_export(bucket, "2026-10", [[focus_charge(x_ServiceCode="AmazonEC2")]], export="focus-12")

    problem = night.refusal(source(bucket))

    assert type(problem).__name__ == "SourceUnreadable"
    assert "2026-10: 3 exports cover" in str(problem)
    assert "ml-cur" in str(problem)
    assert "focus-12" in str(problem)
    assert "location" in str(problem.hint)
    assert night.rows("1") == []


def test_each_of_three_kinds_is_told_by_its_columns(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-08", [cur_lines("1", month="2026-08")])
    deliver_export(bucket, "2026-09", [[cur_line(cost="2", month="2026-09", resource_tags='{"user_team":"vision"}')]])
    aws = {"ProviderName": "AWS", "x_ServiceCode": "AmazonEC2"}
    deliver_export(bucket, "2026-10", [[focus_charge(cost="4", **aws)]], export="focus-12")

    night.load(source(bucket))

    kinds = night.warehouse.rows("select billing_month, export_kind from ops.load order by 1")
    assert [kind for _, kind in kinds] == ["legacy-cur", "cur-2", "aws-focus"]
    assert night.values("BilledCost") == [1, 2, 4]
    assert night.values("ProviderName") == ["AWS"] * 3


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("assembly", ["20261003T051200Z", None])
def test_a_legacy_report_loads_in_every_format_and_layout(
    night: Night, bucket: Path, suffix: str, assembly: str | None
) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1.25", "2"), cur_lines("3")], suffix=suffix, assembly=assembly)

    night.load(source(bucket))

    assert night.values("BilledCost") == [Decimal("1.25"), 2, 3]
    assert night.values("x_RowNumber") == [1, 2, 3]
    assert night.warehouse.row("select export_kind, files from ops.load") == ("legacy-cur", 2)


@pytest.mark.parametrize("suffix", [".csv.gz", ".snappy.parquet"])
@pytest.mark.parametrize("execution", ["20261003T051200Z-e1", None])
def test_a_data_export_loads_in_every_format_and_layout(
    night: Night, bucket: Path, suffix: str, execution: str | None
) -> None:
    tags = {"user_team": "vision"}
    chunks = [[cur_line(cost="1.25", resource_tags=tags), cur_line(cost="2", resource_tags=tags)]]
    deliver_export(bucket, "2026-10", chunks, suffix=suffix, execution=execution)

    night.load(source(bucket))

    assert night.values("BilledCost") == [Decimal("1.25"), 2]
    assert night.tags() == {("team", "vision")}
    assert night.warehouse.row("select export_kind, files from ops.load") == ("cur-2", 1)


@pytest.mark.parametrize("below", ["", "billing", "billing/ml-cur", f"billing/ml-cur/{period_folder('2026-10')}"])
def test_the_location_is_the_bucket_or_any_folder_below(night: Night, bucket: Path, below: str) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("2")])

    night.load(source(bucket / below))

    assert night.billed() == 3


def test_the_newest_of_two_kept_versions_is_loaded(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1")], assembly="20261009T000000Z")
    deliver_legacy(bucket, "2026-10", [cur_lines("2")], assembly="20261002T000000Z")

    night.load(source(bucket))

    # The manifest of the period's folder was written last, and names the older looking assembly.
    assert night.billed() == 2


def test_data_files_that_no_manifest_lists_are_not_read(night: Night, bucket: Path) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1"), cur_lines("2")], execution=None)
    files = deliver_export(bucket, "2026-10", [cur_lines("4")], execution=None)
    # An export that overwrites leaves a chunk that it no longer needs, emptied.
    files[0].with_name("ml-cur2-00002.csv.gz").write_bytes(b"")

    night.load(source(bucket))

    assert night.billed() == 4


def test_the_same_content_again_is_nothing_new(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1")], assembly="20261002T000000Z")
    night.load(source(bucket))
    before = night.fingerprint()
    deliver_legacy(bucket, "2026-10", [cur_lines("1")], assembly="20261003T000000Z")

    report = night.load(source(bucket))

    assert report.loaded == []
    assert len(report.unchanged) == 1
    assert night.fingerprint() == before


def test_a_restated_month_replaces_the_month(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1", "2")], assembly="20261002T000000Z")
    night.load(source(bucket))
    deliver_legacy(bucket, "2026-10", [cur_lines("1", "2", "4")], assembly="20261003T000000Z")

    night.load(source(bucket))

    assert night.billed() == 7
    assert night.warehouse.rows("select sequence, is_current, rows_loaded from ops.load order by 1") == [
        (1, False, 2),
        (2, True, 3),
    ]


def test_a_month_is_kept_when_its_files_are_gone(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-09", [cur_lines("5", month="2026-09")])
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])
    night.load(source(bucket))
    shutil.rmtree(bucket / f"billing/ml-cur/{period_folder('2026-09')}")

    night.load(source(bucket))

    assert night.billed() == 6


def test_landed_files_may_be_the_two_newest_versions_of_a_month(night: Night, bucket: Path) -> None:
    night.keep_landed = "newest"
    for day in range(1, 5):
        deliver_legacy(bucket, "2026-10", [cur_lines(str(day))], assembly=f"2026100{day}T000000Z")
        night.load(source(bucket))

    versions = night.warehouse.rows("select version from ops.load order by sequence desc limit 2")
    month = night.landing / "main" / "2026-10"
    assert {path.name for path in month.iterdir() if path.is_dir()} == {version for (version,) in versions}
    assert (month / "in-force").read_text(encoding="utf-8") == versions[0][0]
