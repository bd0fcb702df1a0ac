"""Every layout in which AWS writes exports to a bucket, as a folder synced from it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import SourceUnreadable
from tests.fakes.exports import (
    Row,
    cur2_manifest,
    cur_line,
    cur_lines,
    deliver_export,
    deliver_legacy,
    focus_charge,
    header_of,
    legacy_manifest,
    period_folder,
    without,
    write_bytes,
    write_csv,
    write_cur,
    write_cur_parquet,
    write_manifest,
    write_parquet,
    write_text,
)
from tests.ingest.night import Night, source

BY_MONTH = (
    'select strftime("x_BillingMonth", \'%Y-%m\'), sum("BilledCost") from focus.cost_and_usage group by 1 order by 1'
)


def deliver_athena(bucket: Path, month: str, costs: Sequence[str], *, manifest_beside_data: bool) -> Path:
    """Deliver a month of a report made for Athena: parquet in year=/month= folders, the report's name twice."""
    report = bucket / "cur/ml-cur"
    folder = f"year={month[:4]}/month={int(month[5:])}"
    names = [f"ml-cur-{number:05d}.snappy.parquet" for number in range(1, len(costs) + 1)]
    for name, cost in zip(names, costs, strict=True):
        write_cur_parquet(report / "ml-cur" / folder / name, [cur_line(cost=cost, month=month)])
    keys = [f"cur/ml-cur/ml-cur/{folder}/{name}" for name in names]
    place = report / "ml-cur" / folder if manifest_beside_data else report / period_folder(month)
    write_manifest(place / "ml-cur-Manifest.json", legacy_manifest(month, keys))
    write_parquet(report / "ml-cur/cost_and_usage_data_status/status.parquet", [{"status": "READY"}])
    write_text(report / period_folder(month) / "crawler-cfn.yml", "AWSTemplateFormatVersion: 2010-09-09\n")
    write_text(report / period_folder(month) / "ml-cur-create-table.sql", "CREATE EXTERNAL TABLE x (y STRING)\n")
    return report / "ml-cur" / folder


@pytest.mark.parametrize("manifest_beside_data", [True, False], ids=["beside the data", "in the period's folder"])
@pytest.mark.parametrize("below", ["", "cur", "cur/ml-cur"])
def test_a_report_for_athena_loads_from_its_month_folders(
    night: Night, bucket: Path, below: str, *, manifest_beside_data: bool
) -> None:
    deliver_athena(bucket, "2026-09", ["1", "2"], manifest_beside_data=manifest_beside_data)
    deliver_athena(bucket, "2026-10", ["4"], manifest_beside_data=manifest_beside_data)

    night.load(source(bucket / below))

    assert night.warehouse.rows(BY_MONTH) == [("2026-09", 3), ("2026-10", 4)]


def test_a_report_for_athena_that_has_fewer_files_than_before_is_what_its_manifest_lists(
    night: Night, bucket: Path
) -> None:
    deliver_athena(bucket, "2026-10", ["1", "2"], manifest_beside_data=False)
    night.load(source(bucket))
    deliver_athena(bucket, "2026-10", ["8"], manifest_beside_data=False)

    night.load(source(bucket))

    assert night.billed() == 8


@pytest.mark.parametrize("suffix", [".csv.gz", ".snappy.parquet"])
def test_an_empty_chunk_that_is_listed_is_corrupt(night: Night, bucket: Path, suffix: str) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1"), cur_lines("2")], execution=None, suffix=suffix)
    night.load(source(bucket))
    before = night.fingerprint()
    paths = deliver_export(bucket, "2026-10", [cur_lines("4"), cur_lines("8")], execution=None, suffix=suffix)
    paths[1].write_bytes(b"")

    problem = night.refusal(source(bucket))

    assert isinstance(problem, SourceUnreadable)
    assert f"ml-cur2-00002{suffix}: the file is empty" in str(problem)
    assert night.fingerprint() == before


@pytest.mark.parametrize("suffix", [".csv.gz", ".snappy.parquet"])
def test_an_empty_chunk_that_is_not_listed_is_what_an_overwrite_left(night: Night, bucket: Path, suffix: str) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1"), cur_lines("2")], execution=None, suffix=suffix)
    night.load(source(bucket))
    [path] = deliver_export(bucket, "2026-10", [cur_lines("4")], execution=None, suffix=suffix)
    path.with_name(f"ml-cur2-00002{suffix}").write_bytes(b"")

    night.load(source(bucket))

    assert night.billed() == 4


def test_of_several_executions_the_one_that_the_partitions_manifest_names_is_loaded(night: Night, bucket: Path) -> None:
    first, second, third = (f"2026100{day}T051200Z-7f2a9c0d-{day}" for day in (2, 4, 3))
    deliver_export(bucket, "2026-10", [cur_lines("1")], execution=first)
    deliver_export(bucket, "2026-10", [cur_lines("2"), cur_lines("4")], execution=second)
    night.load(source(bucket))
    assert night.billed() == 6

    # An execution that was begun earlier and written later: its folder looks older.
    deliver_export(bucket, "2026-10", [cur_lines("8")], execution=third)
    night.run(source(bucket), accept_shrink=True)

    assert night.billed() == 8


@pytest.mark.parametrize("partition", ["BILLING_PERIOD", "billing_period", "Billing_Period"])
@pytest.mark.parametrize("execution", ["20261003T051200Z-e1/", ""])
def test_the_partitions_name_is_read_in_any_case(night: Night, bucket: Path, partition: str, execution: str) -> None:
    inner = f"{partition}=2026-10/{execution}"
    key = f"exp/ml/data/{inner}ml-00001.csv.gz"
    write_csv(bucket / key, cur_lines("3"))
    for place in {inner, f"{partition}=2026-10/"}:
        write_manifest(bucket / f"exp/ml/metadata/{place}ml-Manifest.json", cur2_manifest([key], export="ml"))

    night.load(source(bucket))

    assert night.warehouse.rows(BY_MONTH) == [("2026-10", 3)]


ONLY_IN_1_2 = ("InvoiceId", "PricingCurrency", "CapacityReservationId", "BillingAccountType", "SubAccountType")
"""Some of the columns that FOCUS 1.0 has not."""


def aws_charge(**columns: Any) -> Row:  # noqa: ANN401 - a column of any type
    """Return a charge of AWS's FOCUS 1.2 export."""
    aws = {"ProviderName": "AWS", "PublisherName": "AWS", "InvoiceIssuerName": "Amazon Web Services, Inc."}
    own = {"x_ServiceCode": "AmazonEC2", "x_Operation": "RunInstances", "x_UsageType": "BoxUsage:m5.large"}
    newer = {"InvoiceId": "4711", "PricingCurrency": "USD", "BillingAccountType": "Payer", "SubAccountType": "Linked"}
    return focus_charge(**aws, **own, **newer, Tags={"team": "vision"}, **columns)


def focus_parquet(path: Path, rows: Sequence[Row]) -> None:
    """Write charges as AWS writes parquet: costs DOUBLE, instants TIMESTAMP, tags MAP."""
    import pyarrow as pa

    kinds: dict[str, Any] = {"Tags": pa.map_(pa.string(), pa.string())}
    for name in header_of(rows):
        if name.endswith("Cost"):
            kinds[name] = pa.float64()
        elif name.endswith(("Start", "End")):
            kinds[name] = pa.timestamp("ms")
    write_parquet(path, [{name: _typed(value, kinds.get(name)) for name, value in row.items()} for row in rows], kinds)


def _typed(value: object, kind: object) -> object:
    """Return a value as pyarrow takes it."""
    if isinstance(value, Mapping):
        return list(value.items())
    if str(kind) == "double":
        return float(str(value))
    return datetime.fromisoformat(str(value).removesuffix("Z")) if str(kind).startswith("timestamp") else value


@pytest.mark.parametrize("version", ["1.0", "1.2"])
@pytest.mark.parametrize("suffix", [".csv.gz", ".snappy.parquet"])
def test_a_focus_export_of_aws_loads_in_both_versions(night: Night, bucket: Path, version: str, suffix: str) -> None:
    rows = [aws_charge(cost="1.25"), aws_charge(cost="2", ChargeCategory="Purchase")]
    rows = rows if version == "1.2" else without(rows, *ONLY_IN_1_2)
    [path] = deliver_export(bucket, "2026-10", [rows], export="focus", suffix=".csv.gz")
    if suffix.endswith("parquet"):
        key = path.relative_to(bucket).as_posix().replace(".csv.gz", suffix)
        focus_parquet(bucket / key, rows)
        for manifest in bucket.rglob("*-Manifest.json"):
            write_manifest(manifest, cur2_manifest([key], export="focus"))

    night.load(source(bucket))

    assert night.rows('"BilledCost", "ProviderName", "x_ServiceCode", "BillingAccountId"') == [
        (Decimal("1.25"), "AWS", "AmazonEC2", "111111111111"),
        (2, "AWS", "AmazonEC2", "111111111111"),
    ]
    assert night.values("InvoiceId") == (["4711"] * 2 if version == "1.2" else [None] * 2)
    assert night.tags() == {("team", "vision")}
    assert night.warehouse.value("select export_kind from ops.load") == "aws-focus"


REQUIRED = (
    "line_item_usage_account_id",
    "line_item_line_item_type",
    "line_item_usage_start_date",
    "line_item_unblended_cost",
    "line_item_currency_code",
)


@pytest.mark.parametrize("suffix", [".csv.gz", ".snappy.parquet"])
def test_an_export_of_the_required_columns_alone_loads(night: Night, bucket: Path, suffix: str) -> None:
    lines = [cur_line(cost="1.5"), cur_line(cost="0.25", item="Tax")]
    rows = [{name: row[name] for name in REQUIRED} for row in lines]
    deliver_export(bucket, "2026-10", [rows], suffix=suffix)

    night.load(source(bucket))

    columns = '"BilledCost", "ChargeCategory", "SubAccountId", "BillingAccountId", "BillingCurrency", "ResourceId"'
    assert night.rows(columns) == [
        (Decimal("1.5"), "Usage", "222222222222", "222222222222", "USD", None),
        (Decimal("0.25"), "Tax", "222222222222", "222222222222", "USD", None),
    ]


@pytest.mark.parametrize("column", REQUIRED[:1] + REQUIRED[2:4])
def test_an_export_without_a_required_column_is_refused_and_says_which(night: Night, bucket: Path, column: str) -> None:
    deliver_export(bucket, "2026-10", [without(cur_lines("1"), column)])

    problem = night.refusal(source(bucket))

    assert isinstance(problem, SourceUnreadable)
    assert column in str(problem)


def test_maps_of_a_csv_export_are_json_text_and_give_what_maps_of_parquet_give(night: Night, tmp_path: Path) -> None:
    maps: Row = {
        "resource_tags": {"user_team": "vision", "aws_created_by": "ada"},
        "cost_category": {"unit": "ml"},
        "product": {"product_name": "Amazon EC2", "region": "eu-west-1", "vcpu": "4"},
        "discount": {"EDP": "-0.1"},
    }
    columns = '"ServiceName", "RegionId", "Tags", "x_Discounts", "x_CostCategories", "BilledCost"'
    loaded = []
    for suffix in (".csv.gz", ".snappy.parquet"):
        deliver_export(tmp_path / suffix, "2026-10", [[cur_line(**maps)]], suffix=suffix)
        night.load(source(tmp_path / suffix))
        loaded.append(night.rows(columns))

    assert loaded[0] == loaded[1]
    [(service, region, tags, discounts, categories, _)] = loaded[0]
    assert (service, region) == ("Amazon EC2", "eu-west-1")
    assert json.loads(str(tags)) == {"team": "vision", "aws:created_by": "ada"}
    assert json.loads(str(discounts)) == {"EDP": "-0.1"}
    assert json.loads(str(categories)) == {"unit": "ml"}


def test_the_result_of_an_athena_query_loads_as_a_loose_file(night: Night, bucket: Path) -> None:
    rows = [cur_line(cost="1.5", resource_tags_user_team="vision"), cur_line(cost="2", resource_tags_user_team="")]
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(header_of(rows))
    writer.writerows(row.values() for row in rows)
    write_text(bucket / "results/6f1d9a3e-8c2b-4a57.csv", stream.getvalue())
    write_bytes(bucket / "results/6f1d9a3e-8c2b-4a57.csv.metadata", b"\x08\x01\x12")

    report = night.load(source(bucket, period="2026-10"))

    assert night.values("BilledCost") == [Decimal("1.5"), 2]
    assert night.tags() == {("team", "vision")}
    assert report.passed_over == {"main": ["6f1d9a3e-8c2b-4a57.csv.metadata"]}


@pytest.mark.parametrize(
    ("below", "kind", "cost"),
    [("billing", "legacy-cur", 1), ("exp/ml-cur2", "cur-2", 2), ("exp/focus-12", "aws-focus", 4)],
)
def test_each_of_three_kinds_under_one_prefix_loads_from_its_own_folder(
    night: Night, bucket: Path, below: str, kind: str, cost: int
) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])
    deliver_export(bucket, "2026-10", [[cur_line(cost="2", resource_tags={"user_team": "vision"})]])
    deliver_export(bucket, "2026-10", [[aws_charge(cost="4")]], export="focus-12")

    night.load(source(bucket / below))

    assert night.warehouse.rows("select export_kind from ops.load") == [(kind,)]
    assert night.billed() == cost


@pytest.mark.parametrize(
    "prefix", ["/", "", "billing/", "/billing/", "billing//", "a/b/"], ids=lambda prefix: prefix or "none"
)
def test_keys_with_slashes_before_and_behind_the_prefix_name_their_files(
    night: Night, bucket: Path, prefix: str
) -> None:
    folder = f"{prefix.strip('/')}/ml-cur/{period_folder('2026-10')}/20261003T051200Z".strip("/")
    write_cur(bucket / folder / "ml-cur-00001.csv.gz", cur_lines("3"))
    key = f"{prefix}/ml-cur/{period_folder('2026-10')}/20261003T051200Z/ml-cur-00001.csv.gz"
    write_manifest(bucket / folder / "ml-cur-Manifest.json", legacy_manifest("2026-10", [key]))

    night.load(source(bucket))

    assert night.billed() == 3


def test_files_may_arrive_in_any_order_around_their_manifest(night: Night, bucket: Path) -> None:
    first, second = deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("2")])
    kept = {path: path.read_bytes() for path in (first, second, *bucket.rglob("*-Manifest.json"))}
    manifests = [path for path in kept if path.suffix == ".json"]
    for path in kept:
        path.unlink()

    second.write_bytes(kept[second])
    assert night.run(source(bucket)).problems == []
    assert night.rows("1") == []
    for path in manifests:
        path.write_bytes(kept[path])
    assert "not there" in str(night.refusal(source(bucket)))
    assert night.rows("1") == []
    first.write_bytes(kept[first])

    night.load(source(bucket))

    assert night.values("BilledCost") == [1, 2]
