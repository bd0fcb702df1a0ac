"""Reports differ in their columns from month to month and from account to account; the costs stay right."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from tests.fakes.exports import (
    csv_text,
    cur_line,
    cur_lines,
    deliver_export,
    deliver_legacy,
    legacy_manifest,
    legacy_name,
    legacy_rows,
    without,
    write_csv,
    write_manifest,
    write_text,
)
from tests.ingest.night import Night, source

COMPARED = (
    '"BilledCost", "ChargePeriodStart", "ChargePeriodEnd", "BillingAccountId", "SubAccountId", "ServiceName",'
    ' "RegionId", "AvailabilityZone", "ResourceId", "ConsumedQuantity", "x_UsageType", "x_Operation", "x_ServiceCode"'
)


def test_a_report_without_the_invoicing_entity_loads(night: Night, bucket: Path) -> None:
    # finopsfoundation/focus_converters#358
    deliver_legacy(bucket, "2026-10", [cur_lines("1.5")])

    night.load(source(bucket))

    assert night.rows('"BilledCost", "x_InvoicingEntity"') == [(Decimal("1.5"), None)]


def test_an_invoicing_entity_is_kept(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [[cur_line(bill_invoicing_entity="Amazon Web Services EMEA SARL")]])

    night.load(source(bucket))

    assert night.values("x_InvoicingEntity") == ["Amazon Web Services EMEA SARL"]


def test_the_sample_in_slash_style_and_in_snake_style_load_alike(night: Night, shared_data: Path) -> None:
    # finopsfoundation/focus_converters#161
    loaded = []
    for style in ("legacy-csv", "cur20"):
        sample = shared_data / "aws" / f"aws-cur-anonymize_sample-{style}.csv"
        night.load(source(sample, name="main", period="from-rows", currency="USD"))
        loaded.append(night.rows(COMPARED))

    assert len(loaded[0]) == 4
    assert loaded[0] == loaded[1]
    assert night.billed() == Decimal("0.0652")


def test_headers_in_slash_style_and_in_snake_style_load_alike(night: Night, tmp_path: Path) -> None:
    rows = [
        cur_line(
            cost="1.5", product_region="eu-west-1", pricing_public_on_demand_cost="2", product_instance_type="m5.large"
        ),
        cur_line(
            cost="0", item="DiscountedUsage", reservation_reservation_a_r_n="ri", reservation_effective_cost="0.75"
        ),
    ]
    loaded = []
    for name, delivered in (("legacy.csv", legacy_rows(rows)), ("snake.csv", rows)):
        place = write_csv(tmp_path / name, delivered)
        night.load(source(place, period="2026-10"))
        loaded.append(night.rows(f'{COMPARED}, "EffectiveCost", "ListCost", "CommitmentDiscountId", "SkuPriceDetails"'))

    assert loaded[0] == loaded[1]
    assert night.values("EffectiveCost") == [Decimal("1.5"), Decimal("0.75")]


@pytest.mark.parametrize(
    ("columns", "region"),
    [
        ({"product_region_code": "eu-west-1"}, "eu-west-1"),
        ({"product": '{"region":"eu-west-2"}'}, "eu-west-2"),
        ({"product_region": "eu-west-3"}, "eu-west-3"),
        ({"line_item_availability_zone": "eu-central-1b"}, "eu-central-1"),
        ({"line_item_usage_type": "USW2-BoxUsage:m5.large"}, "us-west-2"),
        ({"product_region_code": "", "product": "{}", "line_item_availability_zone": "ap-south-1a"}, "ap-south-1"),
    ],
    ids=["region code", "product map", "legacy region", "zone", "usage type", "zone behind empty ones"],
)
def test_the_region_is_found_wherever_it_stands(
    night: Night, bucket: Path, columns: dict[str, str], region: str
) -> None:
    # finopsfoundation/focus_converters#318
    deliver_export(bucket, "2026-10", [[cur_line(**columns)]])

    night.load(source(bucket))

    assert night.values("RegionId") == [region]
    assert night.values("RegionName") != [None]


def test_a_zone_that_gives_no_region_gives_no_empty_one(night: Night, bucket: Path) -> None:
    zones = ["us-east-1", "us-west-2-lax-1a", "global", ""]
    rows = [cur_line(line_item_availability_zone=zone, line_item_usage_type="Requests") for zone in zones]
    deliver_export(bucket, "2026-10", [rows])

    night.load(source(bucket))

    found = dict(zip(zones, night.rows('"RegionId", "RegionName"'), strict=True))
    assert found["us-east-1"] in {(None, None), ("us-east-1", "US East (N. Virginia)")}
    assert found["us-west-2-lax-1a"] in {(None, None), ("us-west-2", "US West (Oregon)")}
    assert found["global"] == found[""] == (None, None)


def test_a_month_without_commitments_has_no_columns_for_them(night: Night, bucket: Path) -> None:
    # opencost/opencost#1683, kubecost/kubecost#2469
    deliver_legacy(bucket, "2026-10", [cur_lines(*["0.1"] * 10)])

    night.load(source(bucket))

    assert night.billed() == 1
    assert night.rows(
        'sum("EffectiveCost"), count("CommitmentDiscountId"), count("CommitmentDiscountStatus")', "1"
    ) == [(1, 0, 0)]


def test_product_columns_that_come_and_go_do_not_break_the_view(night: Night, bucket: Path) -> None:
    # cid#926, cid#1129, cid#1385
    october = {
        "product_instance_type": "p4d.24xlarge",
        "product_instance_family": "GPU instance",
        "pricing_rate_code": "SKU.TERM.RATE",
    }
    deliver_legacy(bucket, "2026-09", [cur_lines("1", month="2026-09")])
    deliver_legacy(bucket, "2026-10", [[cur_line(cost="2", **october)]])
    deliver_legacy(bucket, "2026-11", [cur_lines("4", month="2026-11")])

    night.load(source(bucket))

    details = night.rows('"BilledCost", json_extract_string("SkuPriceDetails", \'$.InstanceSeries\')')
    assert details == [(1, None), (2, "GPU instance"), (4, None)]


def test_chunks_of_one_delivery_may_differ_in_columns(night: Night, bucket: Path) -> None:
    chunks = [
        cur_lines("1"),
        [cur_line(cost="2", product_region="eu-west-1")],
        without(cur_lines("4"), "line_item_resource_id"),
    ]
    deliver_legacy(bucket, "2026-10", chunks)

    night.load(source(bucket))

    assert night.rows('"BilledCost", "RegionId", "ResourceId"') == [
        (1, None, "i-0001"),
        (2, "eu-west-1", "i-0001"),
        (4, None, None),
    ]


def test_a_report_without_resource_ids_says_so(night: Night, bucket: Path) -> None:
    # opencost/opencost#1596, opencost-helm-chart#317
    deliver_legacy(bucket, "2026-09", [cur_lines("1", month="2026-09")])
    deliver_legacy(bucket, "2026-10", [without(cur_lines("2"), "line_item_resource_id")])

    night.load(source(bucket))

    assert night.warehouse.rows("select billing_month, has_resource_ids from ops.load order by 1") == [
        (date(2026, 9, 1), True),
        (date(2026, 10, 1), False),
    ]
    assert night.billed() == 3


def test_a_chunk_with_a_header_alone_does_not_change_types(night: Night, bucket: Path) -> None:
    # duckdb/duckdb#18579, #17451
    deliver_legacy(bucket, "2026-10", [[], [cur_line(cost="1.5", line_item_usage_amount="2"), cur_line(resource="")]])

    night.load(source(bucket))

    assert night.rows('"BilledCost", "ConsumedQuantity", "ResourceId"') == [
        (Decimal("1.5"), 2.0, "i-0001"),
        (1, 1.0, None),
    ]


@pytest.mark.parametrize(
    ("column", "last", "amount", "unreadable"),
    [("line_item_usage_amount", "1E-7", 1e-7, 0), ("pricing_public_on_demand_rate", "convertible", 1.0, 1)],
)
def test_the_last_of_many_rows_is_read_like_the_first(
    night: Night, bucket: Path, column: str, last: str, amount: float, unreadable: int
) -> None:
    # neiltron/apple-health-mcp#23
    header = [*cur_line(), "pricing_public_on_demand_rate"]
    plain = list({**cur_line(cost="0.001"), "pricing_public_on_demand_rate": "0.001"}.values())
    odd = list(plain)
    odd[header.index(column)] = last
    key = "billing/ml-cur-00001.csv.gz"
    write_text(bucket / key, csv_text([legacy_name(name) for name in header], [plain] * 25_000 + [odd]))
    write_manifest(bucket / "billing/ml-cur-Manifest.json", legacy_manifest("2026-10", [key]))

    night.load(source(bucket))

    assert night.warehouse.value("select rows_loaded from ops.load") == 25_001
    assert night.billed() == Decimal("25.001")
    assert night.rows('"ConsumedQuantity"', where='"x_RowNumber" = 25001') == [(amount,)]
    assert night.counts().get(("value does not convert, read as null", column), 0) == unreadable
