"""Commitments of GCP: fees spread over the usage that they cover, in both models; what is unused; totals conserved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.source import SourceSettings
from sql.runner import build
from sql.settings import replace_settings
from tests.fakes.exports import gcp_row, write_gcp
from tests.ingest.night import Night, source

Row = dict[str, Any]
DOLLARS = "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE"
RESOURCES = "COMMITTED_USAGE_DISCOUNT"
OFFSET = "FEE_UTILIZATION_OFFSET"
SQL = {"id": "9662-B51E-5089", "description": "Cloud SQL"}
COMPUTE = {"id": "6F81-5844-456A", "description": "Compute Engine"}
DEFAULT = {"id": "7754-699E-0EBF", "description": "Default"}
FLEXIBLE = {"id": "F00D-0000-0001", "description": "Compute flexible CUD 1 year"}
LABEL = [{"key": "goog-originating-sku-id", "value": "2E27-4F75-95CD"}]


def fee(cost: str, text: str = "Commitment - dollar based v1: GCP for 1 year", **others: Any) -> Row:  # noqa: ANN401
    """Return the fee of a spend commitment; it has no project and no resource."""
    usage = {"amount": Decimal(1), "unit": "count", "amount_in_pricing_units": None, "pricing_unit": "count"}
    row: Row = {"sku": {"id": "FEE0", "description": text}, "resource": None, "usage": usage, "project": None}
    return gcp_row(cost=cost, **(row | others))


def usage(cost: str, credit: str | None = None, kind: str = DOLLARS, **others: Any) -> Row:  # noqa: ANN401
    """Return usage that a commitment credits."""
    return gcp_row(cost=cost, credits=[] if credit is None else [(credit, kind)], **others)


def load(night: Night, bucket: Path, rows: Sequence[Row], **settings: Any) -> SourceSettings:  # noqa: ANN401
    """Load rows, and see that the sum of EffectiveCost is that of BilledCost for each account and currency."""
    write_gcp(bucket / "r.ndjson", rows)
    main = source(bucket, "gcp-export", **settings)
    night.load(main)
    sums = night.warehouse.rows(
        'select sum("BilledCost"), sum("EffectiveCost"), sum("x_EffectiveCostProvider") from focus.cost_and_usage'
        ' group by "BillingAccountId", "BillingCurrency"'
    )
    assert all(billed == effective == provider for billed, effective, provider in sums)
    return main


def costs(night: Night, where: str = "true") -> list[tuple[object, ...]]:
    """Return category and the two costs of charges, what is unused first."""
    return night.rows('"ChargeCategory", "BilledCost", "EffectiveCost"', where=where)


@pytest.mark.parametrize(("credit", "unused"), [("50", "0"), ("40", "7.50"), ("20", "22.5")])
@pytest.mark.parametrize("how", ["price list", "published"])
def test_what_credits_leave_of_a_fee_is_unused(night: Night, bucket: Path, credit: str, unused: str, how: str) -> None:
    units = {"amount": Decimal(1), "unit": "count", "amount_in_pricing_units": Decimal(5000), "pricing_unit": "count"}
    published = {"usage": units, "sku": {"id": "F", "description": "Commitment - dollar based v1: Flex"}}
    others = published if how == "published" else {"service": SQL}
    service = COMPUTE if how == "published" else SQL
    load(night, bucket, [
        fee("37.50", "Commitment - dollar based v1: Cloud SQL for 1 year", **others),
        usage("60", f"-{credit}", service=service),
    ])  # fmt: skip

    used = Decimal("37.50") - Decimal(unused)
    expected = [("Purchase", Decimal("37.50"), 0), ("Usage", 60 - Decimal(credit), 60 - Decimal(credit) + used)]
    assert costs(night, '"x_RowNumber" > 0') == expected
    assert costs(night, '"x_RowNumber" < 0') == ([("Usage", 0, Decimal(unused))] if Decimal(unused) else [])
    assert night.warehouse.rows("select effective_cost_state from ops.load") == [("proven",)]
    assert set(night.values("x_UnusedKnown")) == {True}


OVERUSED_BEFORE = [
    fee("0.046868", labels=LABEL),
    fee("0.025132", labels=LABEL),
    usage("0.174496", "-0.065095"),
    usage("0.093568", "-0.034905"),
]
OVERUSED_AFTER = [
    fee("0.046868", consumption_model=DEFAULT, credits=[("-0.046868", OFFSET)]),
    fee("0.025132", consumption_model=DEFAULT, credits=[("-0.025132", OFFSET)]),
    usage("0.109398", consumption_model=DEFAULT),
    usage("0.058648", consumption_model=DEFAULT),
    usage("0.046868", consumption_model=FLEXIBLE),
    usage("0.025132", consumption_model=FLEXIBLE),
]


@pytest.mark.parametrize(
    ("rows", "net", "rounded"),
    [(OVERUSED_BEFORE, "0.240064", "0.24006"), (OVERUSED_AFTER, "0.240046", "0.24005")],
    ids=["before", "after"],
)
def test_an_overused_commitment_costs_the_same_in_both_models(
    night: Night, bucket: Path, rows: list[Row], net: str, rounded: str
) -> None:
    load(night, bucket, rows)

    assert night.billed() == Decimal(net)
    assert round(night.billed(), 5) == Decimal(rounded)
    assert night.rows('"x_RowNumber" < 0', order="all") == [(False,)] * len(rows)
    assert {row[2] for row in costs(night, "\"ChargeCategory\" = 'Purchase'")} == {0}


def test_an_underused_commitment_leaves_the_same_unused_in_the_credit_model(night: Night, bucket: Path) -> None:
    load(night, bucket, [
        fee("0.022994"),
        fee("0.125637", labels=LABEL),
        fee("0.067369", labels=LABEL),
        usage("0.174496", "-0.174496"),
        usage("0.093568", "-0.093568"),
    ])  # fmt: skip

    assert costs(night, '"x_RowNumber" < 0') == [("Usage", 0, Decimal("0.022994"))]
    covered = costs(night, '"ChargeCategory" = \'Usage\' and "x_RowNumber" > 0')
    assert sum(Decimal(str(row[2])) for row in covered) == Decimal("0.125637") + Decimal("0.067369")


def test_an_underused_commitment_leaves_the_same_unused_in_the_new_model(night: Night, bucket: Path) -> None:
    load(night, bucket, [
        fee("0.022994", consumption_model=DEFAULT),
        fee("0.125637", consumption_model=DEFAULT, credits=[("-0.1256348", OFFSET)]),
        fee("0.067369", consumption_model=DEFAULT, credits=[("-0.0673581", OFFSET)]),
        usage("0.125637", consumption_model=FLEXIBLE),
        usage("0.067369", consumption_model=FLEXIBLE),
    ])  # fmt: skip

    # The first has no offset; what rounding leaves of the others is kept, too.
    assert sorted(Decimal(str(row[2])) for row in costs(night, '"x_RowNumber" < 0')) == [
        Decimal("0.0000022"), Decimal("0.0000109"), Decimal("0.022994"),
    ]  # fmt: skip
    assert night.values("PricingCategory", "\"ChargeCategory\" = 'Usage'") == ["Committed"] * 5
    assert costs(night, '"ChargeCategory" = \'Usage\' and "x_RowNumber" > 0') == [
        ("Usage", Decimal("0.125637"), Decimal("0.125637")),
        ("Usage", Decimal("0.067369"), Decimal("0.067369")),
    ]


def test_a_commitment_that_is_used_up_by_many_charges_leaves_nothing(night: Night, bucket: Path) -> None:
    # Ten times 100000.1 is 1000001 as decimals, and less as doubles.
    name = "Commitment - dollar based v1: Cloud SQL for 1 year"
    load(night, bucket, [
        fee("750000.75", name, service=SQL),
        *(usage("100000.1", "-100000.1", service=SQL) for _ in range(10)),
    ])  # fmt: skip

    assert costs(night, '"x_RowNumber" < 0') == []


def test_a_fee_of_unknown_discount_is_spread_as_a_whole_and_says_so(night: Night, bucket: Path) -> None:
    load(night, bucket, [
        fee("9", "Commitment - dollar based v1: something new"),
        usage("10", "-10"),
        usage("20", "-5"),
        usage("7"),
    ])  # fmt: skip

    assert [row[2] for row in costs(night)] == [0, 6, 18, 7]
    assert night.values("x_UnusedKnown") == [False, False, False, None]
    assert night.warehouse.rows("select effective_cost_state from ops.load") == [("unproven",)]
    assert night.counts()["charge that the fee of a commitment is spread over", ""] == 2
    assert night.counts()["commitment's fee spread as a whole, what is unused of it is not known", ""] == 1


def test_a_day_without_credits_leaves_its_fee_unused(night: Night, bucket: Path) -> None:
    later = {"start": "2026-10-02 07:00:00 UTC", "end": "2026-10-02 08:00:00 UTC"}
    load(night, bucket, [
        fee("9", "Commitment - dollar based v1: something new", **later),
        usage("10", "-10"),
    ])  # fmt: skip

    assert costs(night) == [("Usage", 0, 9), ("Purchase", 9, 0), ("Usage", 0, 0)]


def test_a_day_is_a_day_on_the_pacific_coast(night: Night, bucket: Path) -> None:
    text = "Commitment - dollar based v1: something new"
    load(night, bucket, [
        fee("9", text, start="2026-10-01 07:00:00 UTC", end="2026-10-02 07:00:00 UTC"),
        usage("10", "-10", start="2026-10-02 06:00:00 UTC", end="2026-10-02 07:00:00 UTC"),
        usage("10", "-10", start="2026-10-01 06:00:00 UTC", end="2026-10-01 07:00:00 UTC"),
    ])  # fmt: skip

    assert [row[2] for row in costs(night)] == [0, 9, 0]


def test_shares_come_to_the_fee_to_the_last_decimal(night: Night, bucket: Path) -> None:
    load(night, bucket, [fee("0.1", "Commitment - dollar based v1: new"), *(usage("1", "-1") for _ in range(7))])

    assert sum(Decimal(str(row[2])) for row in costs(night)) == Decimal("0.1")
    assert {row[2] for row in costs(night, "\"ChargeCategory\" = 'Usage'")} == {
        Decimal("0.014285714286"), Decimal("0.014285714284"),
    }  # fmt: skip


def test_a_credit_that_is_taken_back_takes_its_share_back(night: Night, bucket: Path) -> None:
    load(night, bucket, [
        fee("9", "Commitment - dollar based v1: new"),
        usage("10", "-10"),
        usage("-10", "10", adjustment_info={"id": "a", "mode": "COMPLETE_NEGATION", "type": "USAGE_CORRECTION"}),
        usage("5", "-5"),
    ])  # fmt: skip

    assert [row[2] for row in costs(night)] == [0, 18, -18, 9]


def test_services_with_commitments_of_their_own_do_not_mix(night: Night, bucket: Path) -> None:
    gke = {"id": "CCD8-9BF1-090E", "description": "Kubernetes Engine"}
    load(night, bucket, [
        fee("8", "Commitment - dollar based v1: flexible"),
        fee("3", "Commitment - dollar based v1: Cloud SQL", service=SQL),
        usage("10", "-10"),
        usage("10", "-10", service=gke),
        usage("10", "-10", service=SQL),
    ])  # fmt: skip

    assert [row[2] for row in costs(night)] == [0, 0, 4, 4, 3]


def test_accounts_and_currencies_do_not_mix(night: Night, bucket: Path) -> None:
    text = "Commitment - dollar based v1: new"
    load(night, bucket, [
        fee("8", text),
        usage("10", "-10", billing_account_id="0FFFFF-000000-000000"),
        usage("10", "-10", currency="EUR", currency_conversion_rate=Decimal("0.5")),
    ])  # fmt: skip

    assert [row[2] for row in costs(night)] == [8, 0, 0, 0]


def vcpus(cost: str, hours: int, credit: str | None, **others: Any) -> Row:  # noqa: ANN401
    """Return usage of cores in seconds."""
    amount = {"amount": Decimal(3600 * hours), "unit": "seconds", "amount_in_pricing_units": Decimal(hours), "pricing_unit": "hour"}  # fmt: skip  # noqa: E501
    return usage(cost, credit, RESOURCES, usage=amount, **others)


def resource_fee(cost: str, hours: int, **others: Any) -> Row:  # noqa: ANN401
    """Return the fee of a commitment to cores."""
    amount = {"amount": Decimal(3600 * hours), "unit": "seconds", "amount_in_pricing_units": Decimal(hours), "pricing_unit": "hour"}  # fmt: skip  # noqa: E501
    return fee(cost, **({"text": "Commitment v1: Cpu in Americas for 1 Year", "usage": amount} | others))


def test_a_resource_commitment_is_used_by_the_units_that_it_covers(night: Night, bucket: Path) -> None:
    name = {"subscription": {"instance_id": "subscriptions/s-1"}}
    load(night, bucket, [
        resource_fee("6", 10, **name),
        vcpus("10", 10, "-8", **name),  # 8 of 10 hours
        vcpus("2", 2, None),
    ])  # fmt: skip

    assert night.rows(
        '"EffectiveCost", "CommitmentDiscountId", "CommitmentDiscountCategory", "CommitmentDiscountType",'
        ' "CommitmentDiscountStatus", "CommitmentDiscountQuantity", "CommitmentDiscountUnit"'
    ) == [
        (Decimal("1.2"), "s-1", "Usage", "Committed Use Discount", "Unused", 7200, "Seconds"),
        (0, "s-1", "Usage", "Committed Use Discount", None, 36000, "Seconds"),
        (Decimal("6.8"), "s-1", "Usage", "Committed Use Discount", "Used", 28800, "Seconds"),
        (2, None, None, None, None, None, None),
    ]


def test_resource_commitments_of_other_regions_and_kinds_stay_apart(night: Night, bucket: Path) -> None:
    europe = {"location": {"location": "europe-west1", "country": "BE", "region": "europe-west1", "zone": None}}
    memory = {"sku": {"id": "R", "description": "N1 Predefined Instance Ram running in Americas"}}
    load(night, bucket, [resource_fee("6", 10), vcpus("10", 10, "-10", **europe), vcpus("10", 10, "-10", **memory)])

    assert [row[2] for row in costs(night)] == [6, 0, 0, 0]


def test_a_grant_on_a_fee_changes_no_cost_before_credits(night: Night, bucket: Path) -> None:
    before = '"EffectiveCost" - "x_PromotionalCredit"'
    load(night, bucket, [
        fee("9", "Commitment - dollar based v1: new", credits=[("-4", "PROMOTION")]),
        usage("10", "-10"),
    ])  # fmt: skip

    assert night.rows(f'"BilledCost", {before}, "x_PromotionalCredit"') == [(5, 0, -4), (0, 9, 0)]


def test_commitments_keep_the_cost_of_google_where_told_so(night: Night, bucket: Path) -> None:
    load(night, bucket, OVERUSED_BEFORE, amortise=False)

    assert night.rows('"BilledCost" = "EffectiveCost"', order="all") == [(True,)] * 4
    assert night.warehouse.rows("select effective_cost_state from ops.load") == [("as delivered",)]


def test_the_identity_of_commitments_is_in_the_ledger(night: Night, bucket: Path) -> None:
    load(night, bucket, [fee("37.50", service=SQL), usage("60", "-40", service=SQL)])

    assert night.warehouse.rows("select fee_cost, used_cost, unused_cost, gap_cost from ops.load_commitment") == [
        (Decimal("37.5"), 30, Decimal("7.5"), 0)
    ]


def test_effective_cost_in_dollars_follows_the_rate(night: Night, bucket: Path) -> None:
    euro: Row = {"currency": "EUR", "currency_conversion_rate": Decimal("0.8")}
    load(night, bucket, [fee("8", "Commitment - dollar based v1: new", **euro), usage("10", "-10", **euro)])

    assert night.rows('"PricingCurrency", "EffectiveCost", "PricingCurrencyEffectiveCost"') == [
        ("USD", 0, 0), ("USD", 8, 10),
    ]  # fmt: skip


def test_a_commitment_that_no_fee_names_is_not_named(night: Night, bucket: Path) -> None:
    named: Row = {"subscription": {"instance_id": "s-9"}}
    load(night, bucket, [fee("8", "Commitment - dollar based v1: new"), usage("10", "-10", **named)])

    columns = ("Id", "Category", "Type", "Status", "Quantity", "Unit")
    assert night.rows(", ".join(f'"CommitmentDiscount{name}"' for name in columns)) == [(None,) * 6] * 2


def test_spend_commitments_in_the_new_model_are_named(night: Night, bucket: Path) -> None:
    named: Row = {"subscription": {"instance_id": "s-9"}}
    load(night, bucket, [
        fee("8", "Commitment - dollar based v1: new", consumption_model=DEFAULT, credits=[("-6", OFFSET)], **named),
        usage("6", consumption_model=FLEXIBLE, **named),
    ])  # fmt: skip

    assert night.rows(
        '"CommitmentDiscountId", "CommitmentDiscountCategory", "CommitmentDiscountStatus",'
        ' "CommitmentDiscountQuantity", "CommitmentDiscountUnit", "EffectiveCost"'
    ) == [
        ("s-9", "Spend", "Unused", 2, "USD", 2),
        ("s-9", "Spend", None, 8, "USD", 0),
        ("s-9", "Spend", "Used", 6, "USD", 6),
    ]


def commitments(night: Night) -> list[tuple[object, ...]]:
    """Return what the mart has of commitments, once it is built."""
    replace_settings(night.warehouse, {"settings.night": [(date(2026, 11, 20),)]})
    build(night.warehouse)
    return night.warehouse.rows(
        "select commitment_discount_id, purchase_cost, used_cost, unused_cost, utilisation_percent, coverage_percent,"
        " savings_cost, expiry from marts.commitment_usage order by all"
    )


def test_use_of_a_commitment_in_the_credit_model(night: Night, bucket: Path) -> None:
    name = {"subscription": {"instance_id": "subscriptions/s-1"}}
    load(night, bucket, [resource_fee("6", 10, **name), vcpus("10", 10, "-8", **name), vcpus("2", 2, None)])

    # 8 of the 12 that usage costs at public prices are covered; 4.80 of the fee are used, 1.20 are lost.
    assert commitments(night) == [
        ("s-1", 6, Decimal("4.8"), Decimal("1.2"), 80, Decimal("66.6667"), 2, None),
    ]


def test_use_of_a_commitment_in_the_new_model(night: Night, bucket: Path) -> None:
    named: Row = {"subscription": {"instance_id": "s-9"}}
    load(night, bucket, [
        fee("8", "Commitment - dollar based v1: new", consumption_model=DEFAULT, credits=[("-6", OFFSET)], **named),
        usage("6", consumption_model=FLEXIBLE, cost_at_list=Decimal(9), **named),
        usage("3", cost_at_list=Decimal(3)),
    ])  # fmt: skip

    assert commitments(night) == [("s-9", 2, 6, 2, 75, 75, 1, None)]


def test_commitments_of_which_nobody_knows_what_is_unused(night: Night, bucket: Path) -> None:
    load(night, bucket, [fee("8", "Commitment - dollar based v1: new"), usage("10", "-10")])

    assert commitments(night) == [(None, 8, 8, 0, None, 100, 2, None)]
