"""The Cloud Billing export: credits, invoice months, tax and rounding rows, rows without a project, new columns."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from tests.fakes.exports import gcp_row, write_gcp, write_ndjson, write_parquet
from tests.ingest.night import Night, source

FORMATS = ["r.ndjson", "r.ndjson.gz", "r.csv", "r.csv.gz", "r.parquet"]
JULY, AUGUST = date(2026, 7, 1), date(2026, 8, 1)


@pytest.mark.parametrize("file", FORMATS)
def test_several_credits_on_a_row_do_not_multiply_its_cost(night: Night, bucket: Path, file: str) -> None:
    # GoogleCloudPlatform/bigquery-utils#289
    credits = [("-1", "COMMITTED_USAGE_DISCOUNT"), ("-2", "PROMOTION")]
    write_gcp(bucket / file, [gcp_row(cost="10", credits=credits), gcp_row(cost="5", credits=credits[1:])])

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"BilledCost", "EffectiveCost", "x_UnblendedCost", "x_PromotionalCredit"') == [
        (7, 7, 10, -2),
        (3, 3, 5, -2),
    ]
    assert night.warehouse.rows("select rows_read, rows_loaded, provider from ops.load") == [(2, 2, "Google Cloud")]


def test_credits_are_kept_as_delivered(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", [gcp_row(credits=[("-0.25", "PROMOTION")]), gcp_row()])

    night.load(source(bucket, "gcp-export"))

    [delivered, none] = night.values("x_Credits")
    assert [(credit["type"], credit["amount"]) for credit in json.loads(str(delivered))] == [("PROMOTION", -0.25)]
    assert none is None


def test_credits_of_a_usage_row_do_not_make_it_a_credit(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", [gcp_row(cost="1", credits=[("-1", "PROMOTION")])])

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"ChargeCategory", "x_CreditKind", "BilledCost"') == [("Usage", None, 0)]


def test_usage_that_crosses_over_into_two_invoices_is_kept_under_both(night: Night, bucket: Path) -> None:
    # project-koku/koku#3098
    start, end = "2026-08-01 02:00:00 UTC", "2026-08-01 03:00:00 UTC"
    rows = [
        gcp_row(cost="1", month="202607", start=start, end=end),
        gcp_row(cost="2", month="202608", start=start, end=end),
    ]
    write_gcp(bucket / "r.ndjson", rows)

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"x_BillingMonth", "BilledCost", "ChargePeriodStart", "BillingPeriodStart"') == [
        (JULY, 1, _at(8, 1, 2), _at(7, 1)),
        (AUGUST, 2, _at(8, 1, 2), _at(8, 1)),
    ]


def _at(month: int, day: int, hour: int = 0) -> datetime:
    """Return an instant as the warehouse gives it."""
    return datetime(2026, month, day, hour)  # noqa: DTZ001 - instants in the warehouse are UTC without zone


def test_windows_that_overlap_a_month_do_not_count_a_day_twice(night: Night, bucket: Path) -> None:
    # project-koku/koku#5707
    def day(number: int, cost: str) -> dict[str, object]:
        month = 7 if number > 15 else 8
        start, end = f"2026-{month:02d}-{number:02d} 00:00:00 UTC", f"2026-{month:02d}-{number:02d} 01:00:00 UTC"
        return gcp_row(cost=cost, month=f"2026{month:02d}", start=start, end=end)

    place = bucket / "r.ndjson"
    write_gcp(place, [day(30, "1"), day(31, "2")])
    night.load(source(bucket, "gcp-export"))
    write_gcp(place, [day(30, "1"), day(31, "2"), day(1, "4")])
    night.load(source(bucket, "gcp-export"))
    write_gcp(place, [day(30, "1"), day(31, "2"), day(1, "4"), day(2, "8")])
    night.load(source(bucket, "gcp-export"))

    assert (
        night.billed(
            "\"ChargePeriodStart\" >= timestamp '2026-07-31' and \"ChargePeriodStart\" < timestamp '2026-08-01'"
        )
        == 2
    )
    assert night.billed() == 15


def test_a_month_whose_rows_did_not_change_is_read_again_to_the_same_total(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "a.ndjson", [gcp_row(cost="1", month="202607"), gcp_row(cost="2", month="202608")])
    night.load(source(bucket, "gcp-export"))
    before = night.tables()

    report = night.load(source(bucket, "gcp-export"))

    assert report.loaded == []
    assert night.tables() == before


def test_late_usage_belongs_to_the_month_of_its_invoice(night: Night, bucket: Path) -> None:
    # project-koku/koku#5721
    write_gcp(
        bucket / "r.ndjson",
        [gcp_row(month="202608", start="2026-07-31 23:00:00 UTC", end="2026-08-01 00:00:00 UTC")],
    )

    night.load(source(bucket, "gcp-export"))

    assert night.rows(
        '"x_BillingMonth", "ChargePeriodStart", "BillingPeriodStart", "BillingPeriodEnd", "ChargeClass"'
    ) == [(AUGUST, _at(7, 31, 23), _at(8, 1), _at(9, 1), None)]


def test_the_pacific_invoice_period_stands_beside(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", [gcp_row(month="202611", start="2026-11-05 00:00:00 UTC")])

    night.load(source(bucket, "gcp-export"))

    # Daylight saving ends within November.
    assert night.rows('"x_InvoicePeriodStart", "x_InvoicePeriodEnd"') == [(_at(11, 1, 7), _at(12, 1, 8))]


@pytest.mark.parametrize("file", FORMATS)
def test_every_cost_type_counts_towards_the_invoice(night: Night, bucket: Path, file: str) -> None:
    costs = ["0.1", "0.2", "33.3349"]
    rows = [
        *(gcp_row(cost=cost) for cost in costs),
        gcp_row(cost="6.36", cost_type="tax", project=None),
        gcp_row(cost="-0.0049", cost_type="rounding_error", project=None),
        gcp_row(cost="-0.5", cost_type="adjustment"),
    ]
    write_gcp(bucket / file, rows)

    night.load(source(bucket, "gcp-export"))

    assert night.billed() == Decimal("39.49")
    assert night.rows('"x_CostType", "ChargeCategory", "BilledCost", "ListCost", "ChargeFrequency"')[3:] == [
        ("tax", "Tax", Decimal("6.36"), Decimal("6.36"), "One-Time"),
        ("rounding_error", "Adjustment", Decimal("-0.0049"), Decimal("-0.0049"), "One-Time"),
        ("adjustment", "Adjustment", Decimal("-0.5"), Decimal("-0.5"), "One-Time"),
    ]


def test_a_thousand_tenths_are_a_hundred(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.parquet", [gcp_row(cost="0.1", credits=[("-0.01", "PROMOTION")])] * 1000)

    night.load(source(bucket, "gcp-export"))

    assert night.billed() == 90
    assert night.rows('sum("x_UnblendedCost"), sum("x_PromotionalCredit")', order="1") == [(100, -10)]


@pytest.mark.parametrize("file", FORMATS)
def test_a_row_without_a_project_is_kept(night: Night, bucket: Path, file: str) -> None:
    rows = [gcp_row(cost="1"), gcp_row(cost="2", cost_type="tax", project=None), gcp_row(cost="4", project=None)]
    write_gcp(bucket / file, rows)

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"SubAccountId", "SubAccountType", "BilledCost", "BillingAccountId"') == [
        ("ml-train", "Project", 1, "01ABCD-EF0123-456789"),
        (None, None, 2, "01ABCD-EF0123-456789"),
        (None, None, 4, "01ABCD-EF0123-456789"),
    ]


PRICE = {"effective_price": Decimal("0.5"), "tier_start_amount": Decimal(0), "list_price": Decimal("0.75")}


@pytest.mark.parametrize("suffix", ["ndjson", "csv", "parquet"])
def test_an_older_file_without_prices_and_a_newer_one_with_unknown_columns_load(
    night: Night, bucket: Path, suffix: str
) -> None:
    older = {
        name: value for name, value in gcp_row(cost="1").items() if name not in {"tags", "currency_conversion_rate"}
    }
    newer = gcp_row(cost="2", price=PRICE, cost_at_list=Decimal("0.75"), carbon_class="low", transaction_type="GOOGLE")
    write_gcp(bucket / f"1.{suffix}", [older])
    write_gcp(bucket / f"2.{suffix}", [newer])

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"BilledCost", "ListCost", "ListUnitPrice"', order='"BilledCost"') == [
        (1, 1, 1),
        (2, Decimal("0.75"), Decimal("0.75")),
    ]
    assert night.counts() == {("unknown column, not loaded", "carbon_class"): 1}


def test_an_empty_invoice_month_is_that_of_the_usage_and_counted(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", [gcp_row(cost="1", month=None, start="2026-10-05 03:00:00 UTC"), gcp_row(cost="2")])

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"x_BillingMonth", "BilledCost"') == [(date(2026, 10, 1), 1), (date(2026, 10, 1), 2)]
    assert night.counts() == {("empty invoice month, the month of the usage taken", ""): 1}


@pytest.mark.parametrize(
    ("usage", "month"),
    [
        ("2026-11-01 06:59:59 UTC", date(2026, 10, 1)),
        ("2026-11-01 07:00:00 UTC", date(2026, 11, 1)),
        ("2026-12-01 07:59:59 UTC", date(2026, 11, 1)),
        ("2026-12-01 08:00:00 UTC", date(2026, 12, 1)),
        ("2026-03-01 07:59:59 UTC", date(2026, 2, 1)),
        ("2026-04-01 07:00:00 UTC", date(2026, 4, 1)),
    ],
)
@pytest.mark.parametrize("file", ["r.ndjson", "r.csv", "r.parquet"])
def test_an_empty_invoice_month_is_that_of_the_usage_on_the_pacific_coast(
    night: Night, bucket: Path, file: str, usage: str, month: date
) -> None:
    write_gcp(bucket / file, [gcp_row(month=None, start=usage, end=usage)])

    night.load(source(bucket, "gcp-export"))

    assert night.values("x_BillingMonth") == [month]


def test_a_row_with_no_month_at_all_is_not_lost(night: Night, bucket: Path) -> None:
    write_ndjson(bucket / "r.ndjson", [gcp_row(cost="1"), gcp_row(cost="2", month=None) | {"usage_start_time": None}])

    report = night.run(source(bucket, "gcp-export"))

    # Either the load says that it cannot place the row, or the row is there.
    assert report.problems or night.billed() == 3


@pytest.mark.parametrize("file", FORMATS)
def test_labels_and_tags_land_on_their_keys(night: Night, bucket: Path, file: str) -> None:
    labels = [{"key": "team", "value": "vision"}, {"key": 'odd, "key" €', "value": "x"}]
    row = gcp_row(labels=labels, system_labels=[{"key": "compute.googleapis.com/cores", "value": "4"}])
    write_gcp(bucket / file, [row, gcp_row()])

    night.load(source(bucket, "gcp-export"))

    tags = {key: value for key, value in night.tags() if "goog" not in key}
    assert tags == {"team": "vision", 'odd, "key" €': "x"}
    assert night.rows('"Tags" is null') == [(False,), (True,)]


def test_a_marketplace_seller_is_the_publisher(night: Night, bucket: Path) -> None:
    rows = [
        gcp_row(transaction_type="GOOGLE", seller_name=None),
        gcp_row(transaction_type="THIRD_PARTY_RESELLER", seller_name="Acme"),
    ]
    write_gcp(bucket / "r.ndjson", rows)

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"ProviderName", "InvoiceIssuerName", "PublisherName"') == [
        ("Google Cloud", "Google Cloud", "Google Cloud"),
        ("Google Cloud", "Google Cloud", "Acme"),
    ]


def test_every_format_gives_the_same_charges(night: Night, bucket: Path) -> None:
    rows = [
        gcp_row(cost="1.25", credits=[("-0.5", "PROMOTION")], labels=[{"key": "team", "value": "vision"}]),
        gcp_row(cost="2", project=None, cost_type="tax"),
    ]
    loaded = []
    for number, file in enumerate(FORMATS):
        own = [row | {"billing_account_id": f"A-{number}"} for row in rows]
        write_gcp(bucket / str(number) / file, own)
        night.load(source(bucket / str(number), "gcp-export", name=f"s{number}"))
        columns = '* exclude ("x_Source", "x_LoadId", "BillingAccountId", "x_Credits", "x_TagSetId")'
        loaded.append(night.rows(columns, where=f"\"x_Source\" = 's{number}'"))

    assert [night.warehouse.value("select count(distinct export_kind) from ops.load")] == [1]
    for other in loaded[1:]:
        assert other == loaded[0]


@pytest.mark.parametrize("file", FORMATS)
def test_an_export_without_resources_is_the_standard_one(night: Night, bucket: Path, file: str) -> None:
    write_gcp(bucket / file, [{name: value for name, value in gcp_row().items() if name != "resource"}])

    night.load(source(bucket, "gcp-export"))

    assert night.warehouse.rows("select export_kind, has_resource_ids from ops.load") == [("gcp-standard", False)]


def test_an_empty_parquet_file_is_a_file_without_rows(night: Night, bucket: Path) -> None:
    import pyarrow as pa

    types = {
        "billing_account_id": pa.string(),
        "cost": pa.float64(),
        "usage_start_time": pa.timestamp("us", "UTC"),
        "resource": pa.struct([("name", pa.string()), ("global_name", pa.string())]),
    }
    write_parquet(bucket / "a.parquet", [], types)
    write_gcp(bucket / "b.ndjson", [gcp_row(cost="1")])

    night.load(source(bucket, "gcp-export"))

    assert night.billed() == 1


def test_a_credit_beyond_twelve_decimals_is_rounded_once_and_the_rest_recorded(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", [gcp_row(cost="1", credits=[("-0.0000000000006", "PROMOTION")])])

    night.load(source(bucket, "gcp-export"))

    assert night.billed() == Decimal("0.999999999999")
    assert night.rest() == Decimal("4e-13")


@pytest.mark.parametrize("file", ["r.ndjson", "r.csv"])
def test_credits_that_are_null_are_none(night: Night, bucket: Path, file: str) -> None:
    write_gcp(bucket / file, [gcp_row(cost="1") | {"credits": "null" if file == "r.csv" else None}, gcp_row(cost="2")])

    night.load(source(bucket, "gcp-export"))

    assert night.billed() == 3


@pytest.mark.parametrize("file", FORMATS)
def test_records_and_lists_that_are_null_are_read_as_nothing(night: Night, bucket: Path, file: str) -> None:
    names = ("project", "service", "sku", "usage", "location", "resource", "labels", "system_labels", "tags", "credits")
    within = {"project": {"id": "ml", "number": "1", "name": "ml", "labels": None}}
    rows = [gcp_row(cost="3"), gcp_row(cost="2") | dict.fromkeys(names), gcp_row(cost="1") | within]
    write_gcp(bucket / file, rows)

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"BilledCost", "SubAccountId", "Tags", "ConsumedQuantity", "ServiceName"') == [
        (3, "ml-train", None, 3600, "Compute Engine"),
        (2, None, None, None, "Unknown"),
        (1, "ml", None, 3600, "Compute Engine"),
    ]
