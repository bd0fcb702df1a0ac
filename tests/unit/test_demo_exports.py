"""The demo's exports: the same bytes each time, the providers' own layouts, every kind of row, the promised story."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from overrun.demo.exports import write_exports

FIRST, SECOND = date(2026, 11, 19), date(2026, 11, 20)
MONTHS = ("2026-09", "2026-10", "2026-11")
EXPORT = Path("aws/acme/ml-cur2")
GCP_TABLE = "gcp_billing_export_resource_v1_0123AB_4567CD_89EF01"
Rows = list[dict[str, Any]]

AWS_TOTALS = {
    (FIRST, "2026-09"): (12571, "127571.7410022267"),
    (FIRST, "2026-10"): (13225, "138909.5619943361"),
    (FIRST, "2026-11"): (7789, "86412.5092741114"),
    (SECOND, "2026-11"): (8224, "91604.3961218094"),
}
"""Rows and sum of the unblended cost."""
GCP_TOTALS = {
    (FIRST, "2026-09"): (8560, "38187.0394734845"),
    (FIRST, "2026-10"): (8623, "38464.9712201039"),
    (FIRST, "2026-11"): (4945, "21868.6616136070"),
    (SECOND, "2026-11"): (5231, "23192.6858616601"),
}
"""Rows and sum of cost and credits."""


AWS_COLUMNS = [
    "bill_billing_period_start_date",
    "bill_invoice_id",
    "bill_payer_account_id",
    "identity_line_item_id",
    "line_item_line_item_type",
    "line_item_resource_id",
    "line_item_tax_type",
    "line_item_unblended_cost",
    "line_item_usage_account_id",
    "line_item_usage_start_date",
    "line_item_usage_type",
    "reservation_effective_cost",
    "reservation_unused_recurring_fee",
    "savings_plan_savings_plan_effective_cost",
    "savings_plan_total_commitment_to_date",
    "savings_plan_used_commitment",
]


@dataclass(frozen=True)
class Delivery:
    """Both exports as they stand on one morning, read without DuckDB."""

    root: Path
    aws: dict[str, Rows]
    gcp: dict[str, Rows]

    def aws_all(self) -> Rows:
        return [row for month in MONTHS for row in self.aws[month]]

    def gcp_all(self) -> Rows:
        return [row for month in MONTHS for row in self.gcp[month]]


def money(value: float | None) -> Decimal:
    return Decimal(repr(value)) if value is not None else Decimal(0)


def manifest(root: Path, month: str) -> dict[str, Any]:
    path = root / EXPORT / "metadata" / f"BILLING_PERIOD={month}" / "ml-cur2-Manifest.json"
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def listed_files(root: Path, month: str) -> list[Path]:
    prefix = "s3://acme-billing/exports/"
    return [root / uri.removeprefix(prefix) for uri in manifest(root, month)["dataFiles"]]


def read_aws(root: Path, month: str) -> Rows:
    return [row for path in listed_files(root, month) for row in pq.read_table(path, columns=AWS_COLUMNS).to_pylist()]


def read_gcp(root: Path, month: str) -> Rows:
    path = root / "gcp" / "detailed" / f"{GCP_TABLE}_{month.replace('-', '')}.ndjson.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def checksums(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def deliveries(tmp_path_factory: pytest.TempPathFactory) -> dict[date, Delivery]:
    result = {}
    for day in (FIRST, SECOND):
        root = tmp_path_factory.mktemp(f"delivered-{day}")
        write_exports(root, day)
        result[day] = Delivery(
            root,
            {month: read_aws(root, month) for month in MONTHS},
            {month: read_gcp(root, month) for month in MONTHS},
        )
    return result


@pytest.fixture
def first(deliveries: dict[date, Delivery]) -> Delivery:
    return deliveries[FIRST]


@pytest.fixture
def second(deliveries: dict[date, Delivery]) -> Delivery:
    return deliveries[SECOND]


def test_a_later_delivery_over_an_earlier_one_gives_the_same_bytes_and_removes_nothing(
    second: Delivery, tmp_path: Path
) -> None:
    other = tmp_path / "gcp" / "detailed" / "notes.txt"
    other.parent.mkdir(parents=True)
    other.write_text("mine", encoding="utf-8")
    write_exports(tmp_path, FIRST)
    write_exports(tmp_path, SECOND)
    assert other.read_text(encoding="utf-8") == "mine"
    other.unlink()
    assert checksums(tmp_path) == checksums(second.root)


def test_the_second_delivery_changes_november_only(first: Delivery, second: Delivery) -> None:
    before, after = checksums(first.root), checksums(second.root)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed
    assert all("2026-11" in name or "202611" in name for name in changed)
    assert f"gcp/detailed/{GCP_TABLE}_202611.ndjson.gz" in changed


def test_the_second_delivery_is_the_first_and_one_more_day(first: Delivery, second: Delivery) -> None:
    def settled(rows: Rows, before: datetime) -> dict[str, dict[str, Any]]:
        running = {"RIFee", "Tax"}
        return {
            row["identity_line_item_id"]: row
            for row in rows
            if row["line_item_usage_start_date"] < before and row["line_item_line_item_type"] not in running
        }

    last_day = datetime.fromisoformat("2026-11-19T00:00:00")
    assert settled(first.aws["2026-11"], last_day) == settled(second.aws["2026-11"], last_day)
    assert first.gcp["2026-11"] == [row for row in second.gcp["2026-11"] if row["usage_start_time"] < "2026-11-19"]


@pytest.mark.parametrize("day", [date(2026, 11, 2), date(2026, 11, 30)])
def test_the_running_month_can_be_delivered_on_any_day(day: date, tmp_path: Path) -> None:
    write_exports(tmp_path, day)
    days = {row["line_item_usage_start_date"].date() for row in read_aws(tmp_path, "2026-11")}
    assert days == november_until(day)
    assert {row["usage_start_time"][:10] for row in read_gcp(tmp_path, "2026-11")} >= {str(one) for one in days}


@pytest.mark.parametrize("day", [date(2026, 11, 1), date(2026, 12, 1), date(2026, 10, 20)])
def test_a_day_outside_the_demo_is_refused(day: date, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="from 2 to 30 November 2026"):
        write_exports(tmp_path, day)
    assert not list(tmp_path.iterdir())


def test_each_manifest_lists_exactly_the_files_of_its_period(first: Delivery) -> None:
    for month in MONTHS:
        document = manifest(first.root, month)
        folder = first.root / EXPORT / "data" / f"BILLING_PERIOD={month}"
        assert sorted(listed_files(first.root, month)) == sorted(folder.iterdir())
        assert list(document) == ["executionId", "exportArn", "columns", "dataFiles", "additionalOutputFiles"]
    assert len(listed_files(first.root, "2026-10")) > 1
    written = {path.name for path in (first.root / "gcp" / "detailed").iterdir()}
    assert written == {f"{GCP_TABLE}_{month.replace('-', '')}.ndjson.gz" for month in MONTHS}


def test_no_temporary_file_is_left(first: Delivery) -> None:
    assert not list(first.root.rglob(".*"))


def test_the_parquet_files_have_the_columns_and_types_of_the_manifest(first: Delivery) -> None:
    names = {"string": "string", "double": "double", "timestamp[us]": "timestamp"}
    maps = {"map<string, string>", "map<string, double>"}
    for month in MONTHS:
        columns = {column["name"]: column["type"] for column in manifest(first.root, month)["columns"]}
        assert len(columns) == 128
        for path in listed_files(first.root, month):
            schema = pq.read_schema(path)
            assert schema.names == list(columns)
            for field in schema:
                given = columns[field.name]
                assert given in maps if str(field.type).startswith("map") else given == names[str(field.type)]
            compressions = {pq.read_metadata(path).row_group(0).column(0).compression}
            assert compressions == {"SNAPPY"}


def test_the_detailed_export_has_every_field_of_the_schema(first: Delivery, shared_data: Path) -> None:
    schema = json.loads((shared_data.parent / "reference" / "gcp-export-schemas.json").read_text(encoding="utf-8"))
    fields = schema["tables"]["detailed"]["fields"]
    for row in first.gcp["2026-10"]:
        assert_fields(row, fields)


def assert_fields(record: dict[str, Any], fields: Iterable[dict[str, Any]]) -> None:
    expected = {field["name"]: field for field in fields}
    assert record.keys() == expected.keys()
    for name, field in expected.items():
        value = record[name]
        if field["mode"] == "REPEATED":
            assert isinstance(value, list)
        for inner in (
            [] if value is None or field["type"] != "RECORD" else value if isinstance(value, list) else [value]
        ):
            assert_fields(inner, field["fields"])
        if value is not None and field["type"] in {"NUMERIC", "STRING", "TIMESTAMP"}:
            assert isinstance(value, str)
        if value is not None and field["type"] == "FLOAT":
            assert isinstance(value, float)


@pytest.mark.parametrize(("day", "month"), list(AWS_TOTALS))
def test_an_aws_month_has_its_known_total(deliveries: dict[date, Delivery], day: date, month: str) -> None:
    rows = deliveries[day].aws[month]
    assert (len(rows), str(sum(money(row["line_item_unblended_cost"]) for row in rows))) == AWS_TOTALS[day, month]


@pytest.mark.parametrize(("day", "month"), list(GCP_TOTALS))
def test_a_gcp_month_has_its_known_total(deliveries: dict[date, Delivery], day: date, month: str) -> None:
    rows = deliveries[day].gcp[month]
    total = sum(money(row["cost"]) + sum(money(credit["amount"]) for credit in row["credits"]) for row in rows)
    assert (len(rows), str(total)) == GCP_TOTALS[day, month]


def test_costs_are_short_doubles(first: Delivery) -> None:
    costs = [row["line_item_unblended_cost"] for row in first.aws_all()] + [row["cost"] for row in first.gcp_all()]
    assert all(money(cost) == round(money(cost), 10) for cost in costs)


def test_line_items_are_unique_within_a_period(first: Delivery) -> None:
    for month in MONTHS:
        ids = [row["identity_line_item_id"] for row in first.aws[month]]
        assert len(set(ids)) == len(ids)


def test_usage_reaches_through_the_day_before_delivery(deliveries: dict[date, Delivery]) -> None:
    for day, delivery in deliveries.items():
        usage = [row for row in delivery.aws["2026-11"] if row["line_item_line_item_type"] == "Usage"]
        assert {row["line_item_usage_start_date"].date() for row in usage} == november_until(day)
        started = {row["usage_start_time"][:10] for row in delivery.gcp["2026-11"]}
        assert started - {"2026-10-31"} == {str(one) for one in november_until(day)}
        assert max(row["export_time"] for row in delivery.gcp["2026-11"])[:10] == str(day)


def november_until(day: date) -> set[date]:
    return {date(2026, 11, 1) + timedelta(days=number) for number in range(day.day - 1)}


def test_only_closed_months_have_an_invoice(first: Delivery) -> None:
    for month in MONTHS:
        invoices = {row["bill_invoice_id"] for row in first.aws[month]}
        assert len(invoices) == 1
        assert (invoices == {None}) == (month == "2026-11")
        starts = {row["bill_billing_period_start_date"] for row in first.aws[month]}
        assert starts == {datetime.fromisoformat(f"{month}-01T00:00:00")}


def test_every_kind_of_aws_row_is_there(first: Delivery) -> None:
    kinds = {row["line_item_line_item_type"] for row in first.aws["2026-10"]}
    assert kinds == {
        "Usage", "DiscountedUsage", "SavingsPlanCoveredUsage", "SavingsPlanNegation", "SavingsPlanRecurringFee",
        "RIFee", "Tax", "Credit", "Refund", "Fee",
    }  # fmt: skip
    usage_types = {row["line_item_usage_type"] for row in first.aws["2026-10"]}
    assert usage_types >= {
        "BoxUsage:p4d.24xlarge", "BoxUsage:g5.xlarge", "SpotUsage:g5.xlarge", "BoxUsage:m6i.4xlarge",
        "EBS:VolumeUsage.gp3", "DataTransfer-Out-Bytes", "DataTransfer-Regional-Bytes", "TimedStorage-ByteHrs",
        "USE1-Train:ml.p4d.24xlarge", "USE1-Host:ml.g5.xlarge", "USE1-Claude3.5Sonnet-input-tokens",
        "USE1-Claude3.5Sonnet-output-tokens", "InstanceUsage:db.r6g.xlarge",
    }  # fmt: skip
    jobs = [row for row in first.aws["2026-10"] if (row["line_item_usage_type"] or "").startswith("USE1-Train")]
    assert all(
        row["line_item_resource_id"].startswith("arn:aws:sagemaker:us-east-1:")
        for row in jobs
        if row["line_item_line_item_type"] == "Usage"
    )
    taxed = {row["line_item_usage_account_id"] for row in first.aws["2026-10"] if row["line_item_tax_type"]}
    assert len(taxed) == 6
    assert {row["bill_payer_account_id"] for row in first.aws_all()} == {"111111111111"}


def test_negations_cancel_the_covered_usage_of_each_day(second: Delivery) -> None:
    left: defaultdict[tuple[datetime, str], Decimal] = defaultdict(Decimal)
    for row in second.aws_all():
        if row["line_item_line_item_type"] in {"SavingsPlanCoveredUsage", "SavingsPlanNegation"}:
            key = (row["line_item_usage_start_date"], row["line_item_usage_account_id"])
            left[key] += money(row["line_item_unblended_cost"])
    assert len(left) == 2 * (30 + 31 + 19)
    assert set(left.values()) == {Decimal(0)}


def test_the_savings_plan_is_used_in_part_and_its_use_ties(second: Delivery) -> None:
    used: defaultdict[datetime, Decimal] = defaultdict(Decimal)
    for row in second.aws_all():
        if row["line_item_line_item_type"] == "SavingsPlanCoveredUsage":
            used[row["line_item_usage_start_date"]] += money(row["savings_plan_savings_plan_effective_cost"])
    fees = [row for row in second.aws_all() if row["line_item_line_item_type"] == "SavingsPlanRecurringFee"]
    for fee in fees:
        commitment = money(fee["savings_plan_total_commitment_to_date"])
        assert commitment == money(fee["line_item_unblended_cost"])
        assert money(fee["savings_plan_used_commitment"]) == used[fee["line_item_usage_start_date"]] < commitment
    assert len(fees) == len(used)


def test_the_reservation_is_used_in_part_and_ties_in_a_closed_month(first: Delivery) -> None:
    rows = first.aws["2026-10"]
    used = sum(money(row["reservation_effective_cost"]) for row in rows)
    (fee,) = [row for row in rows if row["line_item_line_item_type"] == "RIFee"]
    unused = money(fee["reservation_unused_recurring_fee"])
    assert unused > 0
    assert money(fee["line_item_unblended_cost"]) == used + unused


def test_every_kind_of_gcp_row_is_there(first: Delivery) -> None:
    rows = first.gcp["2026-10"]
    assert {row["cost_type"] for row in rows} == {"regular", "tax", "adjustment", "rounding_error"}
    assert {row["service"]["description"] for row in rows} >= {
        "Compute Engine", "Vertex AI", "Cloud Storage", "BigQuery",
    }  # fmt: skip
    skus = {row["sku"]["description"] for row in rows}
    assert skus >= {"Nvidia Tesla A100 GPU running in Americas", "Nvidia H100 80GB GPU running in Americas"}
    credits = Counter(credit["type"] for row in rows for credit in row["credits"])
    assert credits.keys() == {"COMMITTED_USAGE_DISCOUNT", "SUSTAINED_USAGE_DISCOUNT", "PROMOTION"}
    assert all(credit["amount"] < 0 for row in rows for credit in row["credits"])
    fees = [row for row in rows if row["sku"]["description"].startswith("Commitment v1: ")]
    assert fees
    assert all(row["project"] is None for row in fees + [row for row in rows if row["cost_type"] == "tax"])
    assert all(row["adjustment_info"] for row in rows if row["cost_type"] == "adjustment")
    assert all(row["cost"] != 0 for row in rows)
    assert any(tag["namespace"] for row in rows for tag in row["tags"])
    assert any(label["key"].endswith("machine_spec") for row in rows for label in row["system_labels"])


def test_late_usage_of_october_is_on_novembers_invoice(first: Delivery) -> None:
    late = [row for row in first.gcp["2026-11"] if row["usage_start_time"] < "2026-11-01"]
    assert late
    assert {row["invoice"]["month"] for row in late} == {"202611"}
    assert all(row["usage_start_time"] >= "2026-10-31" for row in late)
