"""NDJSON whose columns first appear far behind its beginning, since a row leaves out what is null: nothing is lost."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.exports import Row, focus_charge, gcp_row, write_gcp, write_ndjson
from tests.ingest.night import Night, source

PADDING = "x" * 500_000
"""Ten of these are more than what is read to learn the columns of a file."""
LATE: Row = {
    "consumption_model": {"id": "F00D-0000-0001", "description": "Flexible"},
    "subscription": {"instance_id": "subscriptions/flex-1"},
    "adjustment_info": {
        "id": "a",
        "description": "Corrected",
        "mode": "PARTIAL_CORRECTION",
        "type": "PRICE_CORRECTION",
    },
    "cost_at_list": Decimal(20),
    "cost_at_effective_price_default": Decimal(15),
    "price": {"effective_price": Decimal("0.5"), "list_price": Decimal("0.7"), "tier_start_amount": Decimal(3)},
    "tags": [{"key": "env", "value": "prod", "inherited": False, "namespace": "1"}],
    "transaction_type": "THIRD_PARTY_RESELLER",
    "seller_name": "Acme",
}
COLUMNS = (
    '"BilledCost", "ContractedCost", "ListCost", "ChargeDescription", "CommitmentDiscountId", "PricingCategory",'
    ' "ListUnitPrice", "ContractedUnitPrice", "SkuPriceId", "RegionId", "ResourceId", "ResourceName", "SubAccountName",'
    ' "Tags", "PublisherName", "x_PromotionalCredit", "x_CostType", "ConsumedQuantity"'
)


def plain_rows() -> list[Row]:
    """Return rows that have little more than an export must, and are longer than what columns are learnt from."""
    names = ("billing_account_id", "usage_start_time", "usage_end_time", "cost", "service", "currency", "invoice")
    row = {name: value for name, value in gcp_row(cost="1").items() if name in names}
    return [row | {"partition_date": PADDING} for _ in range(10)]


def late_row(**others: Any) -> Row:  # noqa: ANN401 - a column of any type
    """Return a row with every column that the others lack."""
    return gcp_row(cost="10", credits=[("-4", "PROMOTION"), ("-1", "COMMITTED_USAGE_DISCOUNT")], **LATE, **others)


@pytest.mark.parametrize("name", ["r.ndjson", "r.ndjson.gz"])
def test_columns_that_begin_late_are_read_like_others(night: Night, bucket: Path, name: str) -> None:
    fee = {"id": "FEE", "description": "Commitment - dollar based v1: Flex"}
    late = [late_row(), gcp_row(cost="2", credits=[("-2", "FEE_UTILIZATION_OFFSET")], sku=fee, **LATE)]
    write_gcp(bucket / name, [*late, *plain_rows()])
    night.load(source(bucket, "gcp-export"))
    found = night.rows(COLUMNS, where='"ResourceId" is not null')

    write_gcp(bucket / name, [*plain_rows(), *late])
    report = night.load(source(bucket, "gcp-export"))

    assert len(report.loaded) == 1
    assert night.rows(COLUMNS, where='"ResourceId" is not null') == found
    assert found[0][:5] == (5, 15, 20, "Corrected", "flex-1")
    assert night.billed() == 15
    assert night.counts() == {}


def test_members_of_nested_columns_that_begin_late_are_read(night: Night, bucket: Path) -> None:
    first = [row | {"project": {"id": "p"}, "usage": {"unit": "seconds"}} for row in plain_rows()]
    project = {"id": "p", "number": "1", "name": "Pea", "labels": [{"key": "center", "value": "42"}]}
    write_gcp(bucket / "r.ndjson", [*first, gcp_row(cost="2") | {"project": project}])

    night.load(source(bucket, "gcp-export"))

    columns = '"SubAccountName", "x_ProjectNumber", "ConsumedQuantity", "Tags"'
    assert night.rows(columns, where='"BilledCost" = 2') == [("Pea", "1", 3600, '{"center":"42"}')]


def test_a_file_whose_month_begins_late_stands_in_all_its_months(night: Night, bucket: Path) -> None:
    used = {"usage_start_time": "2026-10-05 09:00:00 UTC", "usage_end_time": "2026-10-05 10:00:00 UTC"}
    rows = [{name: value for name, value in row.items() if name != "invoice"} | used for row in plain_rows()]
    write_gcp(bucket / "r.ndjson", [*rows, gcp_row(cost="7", month="202611")])

    night.load(source(bucket, "gcp-export"))

    assert night.billed("\"x_BillingMonth\" = '2026-10-01'") == 10
    assert night.billed("\"x_BillingMonth\" = '2026-11-01'") == 7


def test_focus_columns_that_begin_late_are_read_like_others(night: Night, bucket: Path) -> None:
    names = ("BilledCost", "ChargePeriodStart", "BillingAccountId", "ChargeCategory", "BillingCurrency", "ServiceName")
    plain = {name: value for name, value in focus_charge().items() if name in names} | {"x_Padding": PADDING}
    late = focus_charge(
        cost="10",
        month="2026-11",
        ProviderName="Google Cloud",
        Tags={"team": "vision"},
        CommitmentDiscountId="c-1",
        x_Credits=[{"Name": "grant", "Amount": Decimal(-4), "Type": "PROMOTION"}],
        x_Project={"Id": "p", "Number": "1"},
    )
    write_ndjson(bucket / "r.ndjson", [*[plain] * 10, late])

    night.load(source(bucket, "focus-export"))

    columns = '"EffectiveCost", "CommitmentDiscountId", "x_PromotionalCredit", "Tags", "x_ProjectNumber"'
    assert night.rows(columns, where='"BilledCost" = 10') == [(10, "c-1", -4, '{"team":"vision"}', "1")]
    assert night.billed("\"x_BillingMonth\" = '2026-11-01'") == 10


def test_shards_without_a_column_are_of_one_kind_with_those_that_have_it(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "p-000000000000.json", plain_rows())
    write_gcp(bucket / "p-000000000001.json.gz", [late_row()])

    report = night.load(source(bucket, "gcp-export"))

    assert [load.export_kind for load in report.loaded] == ["gcp-detailed"]
    assert night.billed() == 15
    assert night.values("ResourceName") == [None] * 10 + ["vm-0"]


def test_a_late_column_that_nobody_knows_is_told_once(night: Night, bucket: Path) -> None:
    price = {"effective_price": Decimal(1), "brand_new": 1}
    rows = [*plain_rows(), gcp_row(cost="2", brand_new="x", price=price, Credits=[]), gcp_row(another={"a": 1})]
    file = write_gcp(bucket / "r.ndjson", rows)
    os.utime(file, (1_700_000_000, 1_700_000_000))

    report = night.load(source(bucket, "gcp-export"))

    text = "r.ndjson has columns that are not known and not loaded: Credits, another, brand_new, price.brand_new"
    assert report.notes["main"] == [text]
    assert night.load(source(bucket, "gcp-export")).notes["main"] == []


def test_hostile_names_of_columns_are_told_in_short(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", [*plain_rows(), gcp_row() | {f"\x1b[31m{n}" + "y" * 500: n for n in range(7)}])

    [note] = night.load(source(bucket, "gcp-export")).notes["main"]

    assert "\x1b" not in note
    assert note.endswith(" and 2 more")
    assert len(note) < 500


def test_a_late_column_of_a_month_that_is_stated_is_counted(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", [*plain_rows(), gcp_row(brand_new="x")])

    night.load(source(bucket, "gcp-export", period="2026-10"))

    assert night.counts() == {("unknown column, not loaded", "brand_new"): 1}


def test_a_late_column_of_a_large_file_is_told_though_not_every_row_is_looked_at(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", [*plain_rows() * 13, *(row | {"brand_new": "x"} for row in plain_rows())])
    assert (bucket / "r.ndjson").stat().st_size > 64 << 20

    night.load(source(bucket, "gcp-export", period="2026-10"))

    assert night.counts() == {("unknown column, not loaded", "brand_new"): 1}
    assert night.billed() == 140
