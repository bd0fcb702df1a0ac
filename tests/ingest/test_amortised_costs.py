"""Every line item type of a report with its billed and effective cost, gross and net, against an outside table."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from tests.fakes.exports import Row, cur_line, cur_lines, deliver_legacy
from tests.ingest.night import Night, source

CANCELLED = {"SavingsPlanCoveredUsage", "SavingsPlanNegation"}
"""Billed cost of the pair is 0 together: the negation is dropped."""
RI, PLAN = "arn:aws:ec2:us-east-1:111111111111:reserved-instances/a", "arn:aws:savingsplans::111111111111:savingsplan/b"


@pytest.fixture(scope="module")
def golden(shared_data: Path) -> list[dict[str, str]]:
    """Return the outside table, one row per line."""
    with (shared_data / "aws" / "synthetic" / "golden_amortized.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def report_line(row: dict[str, str], *, net: bool) -> Row:
    """Return the line of a report that a row of the table stands for."""
    line = cur_line(
        cost=row["unblended"],
        item=row["line_item_type"],
        start=f"{row['usage_hour']}:00:00Z",
        resource=row["id"],
        line_item_product_code=row["product_code"],
        pricing_public_on_demand_cost=row["pub_od"],
        reservation_reservation_a_r_n=RI if row["arn_ri"] else "",
        reservation_effective_cost=row["ri_eff"],
        savings_plan_savings_plan_a_r_n=PLAN if row["arn_sp"] else "",
        savings_plan_savings_plan_effective_cost=row["sp_eff"],
        reservation_unused_amortized_upfront_fee_for_billing_period=row["ri_unused_upf"],
        reservation_unused_recurring_fee=row["ri_unused_rec"],
        reservation_amortized_upfront_fee_for_billing_period=row["ri_amort_upf_period"],
        savings_plan_total_commitment_to_date=row["sp_total"],
        savings_plan_used_commitment=row["sp_used"],
        savings_plan_amortized_upfront_commitment_for_billing_period=row["sp_amort_upf_period"],
    )
    return {**line, "line_item_net_unblended_cost": row["net_unblended"]} if net else line


@pytest.mark.parametrize("net", [False, True], ids=["gross", "net"])
def test_each_line_item_type_has_the_costs_of_the_table(
    night: Night, bucket: Path, golden: list[dict[str, str]], *, net: bool
) -> None:
    deliver_legacy(bucket, "2026-10", [[report_line(row, net=net) for row in golden]])

    night.load(source(bucket))

    costs = {
        str(name): (billed, effective)
        for name, billed, effective in night.warehouse.rows(
            'select "ResourceId", sum("BilledCost"), sum("EffectiveCost") from focus.cost_and_usage group by 1'
        )
    }
    for row in golden:
        item, name = row["line_item_type"], row["id"]
        if item == "SavingsPlanNegation":
            assert name not in costs
            continue
        delivered = Decimal(row["expected_billed_net" if net else "expected_billed_gross"])
        amortised = Decimal(row["expected_net_amortized" if net else "expected_amortized"])
        assert costs[name] == (0 if item in CANCELLED else delivered, amortised), name


@pytest.mark.parametrize("net", [False, True], ids=["gross", "net"])
def test_the_table_adds_up_to_one_bill(night: Night, bucket: Path, golden: list[dict[str, str]], *, net: bool) -> None:
    deliver_legacy(bucket, "2026-10", [[report_line(row, net=net) for row in golden]])

    night.load(source(bucket))

    assert night.billed() == Decimal("106.73")
    assert night.rows('sum("EffectiveCost")', order="1") == [(Decimal("54.73"),)]
    assert night.warehouse.rows("select effect, rule, rows from ops.load_count order by 1") == [
        ("added", "unused part of a commitment, beside its fee", 2),
        ("dropped", "Savings Plan negation, cancelled against the usage that it covers", 1),
    ]
    assert night.warehouse.rows("select rows_read, rows_loaded from ops.load") == [(14, 15)]


@pytest.mark.parametrize("net", [False, True], ids=["gross", "net"])
def test_the_identity_of_the_table_holds(
    night: Night, bucket: Path, golden: list[dict[str, str]], *, net: bool
) -> None:
    deliver_legacy(bucket, "2026-10", [[report_line(row, net=net) for row in golden]])

    night.load(source(bucket))

    one_time = night.billed('"ChargeFrequency" = \'One-Time\' and "EffectiveCost" = 0 and "BilledCost" <> 0')
    [(upfront, effective)] = night.warehouse.rows(
        "select (select sum(amortised_upfront_cost) from ops.load_commitment),"
        ' (select sum("EffectiveCost") from focus.cost_and_usage)'
    )
    assert night.billed() == effective - upfront + one_time  # type: ignore[operator]
    assert night.warehouse.rows(
        "select commitment_discount_id, fee_cost, amortised_upfront_cost, used_cost, unused_cost, gap_cost"
        " from ops.load_commitment order by 1"
    ) == [(RI, 6, 5, Decimal("7.5"), Decimal("3.5"), 0), (PLAN, 4, 3, 5, 2, 0)]
    assert night.warehouse.value("select effective_cost_state from ops.load") == "proven"


def test_a_payer_is_net_as_a_whole_or_not_at_all(night: Night, bucket: Path) -> None:
    rows = [
        cur_line(cost="10", line_item_net_unblended_cost="9"),
        cur_line(cost="5", line_item_net_unblended_cost=""),
        cur_line(cost="-1", item="EdpDiscount", line_item_net_unblended_cost=""),
        cur_line(cost="10", payer="999999999999", line_item_net_unblended_cost=""),
        cur_line(cost="-1", item="EdpDiscount", payer="999999999999", line_item_net_unblended_cost=""),
    ]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    assert night.values("BilledCost") == [9, 5, 0, 10, -1]
    assert night.values("x_UnblendedCost") == [10, 5, -1, 10, -1]
    assert night.values("x_NetUnblendedCost") == [9, None, None, None, None]


def test_negations_that_cancel_leave_no_row(night: Night, bucket: Path) -> None:
    rows = [
        cur_line(cost="8", item="SavingsPlanCoveredUsage", savings_plan_savings_plan_effective_cost="5"),
        cur_line(cost="4", item="SavingsPlanCoveredUsage", savings_plan_savings_plan_effective_cost="2.5"),
        cur_line(cost="-12", item="SavingsPlanNegation", resource=""),
    ]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    assert night.rows('"BilledCost", "EffectiveCost", "ChargeCategory"') == [
        (0, 5, "Usage"),
        (0, Decimal("2.5"), "Usage"),
    ]


def test_negations_that_do_not_cancel_leave_one_charge_per_payer_and_currency(night: Night, bucket: Path) -> None:
    rows = [
        cur_line(cost="8", item="SavingsPlanCoveredUsage", savings_plan_savings_plan_effective_cost="5"),
        cur_line(cost="-7.5", item="SavingsPlanNegation"),
        cur_line(cost="-3", item="SavingsPlanNegation", payer="999999999999"),
        cur_line(cost="1"),
    ]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    residuals = night.rows(
        '"BillingAccountId", "BilledCost", "EffectiveCost", "ChargeCategory", "ProviderName"',
        order="1",
        where="\"x_LineItemType\" = 'SavingsPlanNegation'",
    )
    assert residuals == [
        ("111111111111", Decimal("0.5"), 0, "Adjustment", "AWS"),
        ("999999999999", -3, 0, "Adjustment", "AWS"),
    ]
    assert night.billed() == Decimal("-1.5")
    counted = night.warehouse.rows("select effect, rows from ops.load_count order by 1")
    assert counted == [("added", 2), ("dropped", 2)]


def test_payers_and_currencies_do_not_mix(night: Night, bucket: Path) -> None:
    rows = [*cur_lines("1", "2"), *cur_lines("5", payer="999999999999", line_item_currency_code="CNY")]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    totals = night.warehouse.rows(
        "select billing_account_id, billing_currency, rows_loaded, delivered_cost, billed_cost"
        " from ops.load_total order by 1"
    )
    assert totals == [("111111111111", "USD", 2, 3, 3), ("999999999999", "CNY", 1, 5, 5)]
