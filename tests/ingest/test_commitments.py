"""Reservations and Savings Plans: the unused part beside the fee, the identity, and what is said where it has a gap."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sql.runner import build
from sql.settings import replace_settings
from tests.fakes.exports import Row, cur_line, deliver_export, deliver_legacy
from tests.ingest.night import Night, source

RI = "arn:aws:ec2:us-east-1:111111111111:reserved-instances/a"
PLAN = "arn:aws:savingsplans::111111111111:savingsplan/b"
STATE = "select effective_cost_state from ops.load where is_current"


def reserved(cost: str, **others: str) -> Row:
    return cur_line(
        cost="0", item="DiscountedUsage", reservation_reservation_a_r_n=RI, reservation_effective_cost=cost, **others
    )


def reservation_fee(cost: str, *, upfront: str, unused: tuple[str, str], **others: str) -> Row:
    return cur_line(
        cost=cost,
        item="RIFee",
        resource="",
        reservation_reservation_a_r_n=RI,
        reservation_effective_cost="",
        reservation_amortized_upfront_fee_for_billing_period=upfront,
        reservation_unused_amortized_upfront_fee_for_billing_period=unused[0],
        reservation_unused_recurring_fee=unused[1],
        reservation_unused_quantity="31",
        **others,
    )


def covered(cost: str, on_demand: str, **others: str) -> list[Row]:
    return [
        cur_line(
            cost=on_demand,
            item="SavingsPlanCoveredUsage",
            savings_plan_savings_plan_a_r_n=PLAN,
            savings_plan_savings_plan_effective_cost=cost,
            **others,
        ),
        cur_line(cost=f"-{on_demand}", item="SavingsPlanNegation", resource="", **others),
    ]


def plan_fee(cost: str, *, total: str, used: str, upfront: str, **others: str) -> Row:
    return cur_line(
        cost=cost,
        item="SavingsPlanRecurringFee",
        resource="",
        line_item_product_code="ComputeSavingsPlans",
        savings_plan_savings_plan_a_r_n=PLAN,
        savings_plan_total_commitment_to_date=total,
        savings_plan_used_commitment=used,
        savings_plan_amortized_upfront_commitment_for_billing_period=upfront,
        **others,
    )


def test_the_unused_part_of_a_fee_is_a_usage_charge_of_its_own(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [[reserved("7.5"), reservation_fee("6", upfront="5", unused=("1.5", "2"))]])

    night.load(source(bucket))

    rows = night.rows(
        '"x_RowNumber", "ChargeCategory", "ChargeFrequency", "PricingCategory", "CommitmentDiscountStatus",'
        ' "CommitmentDiscountQuantity", "ConsumedQuantity", "BilledCost", "EffectiveCost", "ListCost"'
    )
    assert rows == [
        (-2, "Usage", "Usage-Based", "Committed", "Unused", 31, None, 0, Decimal("3.5"), 0),
        (1, "Usage", "Usage-Based", "Committed", "Used", 1, 1, 0, Decimal("7.5"), 0),
        (2, "Purchase", "Recurring", "Standard", None, 1, None, 6, 0, 6),
    ]
    assert night.warehouse.value(STATE) == "proven"
    assert night.counts()["unused part of a commitment, beside its fee", ""] == 1


def test_a_fee_that_is_used_up_has_no_unused_charge(night: Night, bucket: Path) -> None:
    rows = [*covered("4", "8"), plan_fee("4", total="4", used="4", upfront="0")]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    assert night.values("EffectiveCost") == [4, 0]
    assert night.warehouse.value(STATE) == "proven"


def test_a_gap_in_the_identity_is_kept_with_its_amount_and_marks_the_month_unproven(night: Night, bucket: Path) -> None:
    rows = [*covered("4", "8"), plan_fee("5", total="4.5", used="4", upfront="0")]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    assert night.warehouse.rows("select fee_cost, used_cost, unused_cost, gap_cost from ops.load_commitment") == [
        (5, 4, Decimal("0.5"), Decimal("-0.5"))
    ]
    assert night.warehouse.value(STATE) == "unproven"
    assert night.billed() == 5


def test_a_gap_within_a_cent_is_rounding(night: Night, bucket: Path) -> None:
    rows = [*covered("4.003", "8"), plan_fee("5", total="5", used="4", upfront="0")]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    assert night.warehouse.rows("select gap_cost from ops.load_commitment") == [(Decimal("0.003"),)]
    assert night.warehouse.value(STATE) == "proven"


@pytest.mark.parametrize(
    ("group", "rule"),
    [
        ("reservation_effective_cost", "reservation without amortised costs, EffectiveCost is BilledCost"),
        (
            "savings_plan_savings_plan_effective_cost",
            "Savings Plan without amortised costs, EffectiveCost is BilledCost",
        ),
    ],
)
def test_commitments_whose_amortised_costs_are_not_exported_stay_as_billed(
    night: Night, bucket: Path, group: str, rule: str
) -> None:
    rows = [
        reserved("7.5"),
        reservation_fee("6", upfront="5", unused=("1.5", "2")),
        *covered("4", "8"),
        plan_fee("5", total="5", used="4", upfront="0"),
    ]
    deliver_export(bucket, "2026-10", [[{name: row[name] for name in row if name != group} for row in rows]])

    night.load(source(bucket))

    assert night.counts()[rule, ""] == 2
    assert night.warehouse.value(STATE) == "unproven"
    kind = "RIFee" if group.startswith("reservation") else "SavingsPlanRecurringFee"
    assert night.rows('"BilledCost" = "EffectiveCost"', where=f"\"x_LineItemType\" = '{kind}'") == [(True,)]
    assert night.billed() == 11


def test_net_payers_have_the_net_part_of_fees_that_no_usage_took(night: Night, bucket: Path) -> None:
    rows = [
        {
            **covered("5", "8")[0],
            "line_item_net_unblended_cost": "7.2",
            "savings_plan_net_savings_plan_effective_cost": "4.5",
        },
        {**covered("5", "8")[1], "line_item_net_unblended_cost": "-7.2"},
        {
            **plan_fee("7", total="7", used="5", upfront="0"),
            "line_item_net_unblended_cost": "6.3",
            "savings_plan_net_recurring_commitment_for_billing_period": "6.3",
        },
        {**reserved("7.5"), "line_item_net_unblended_cost": "0", "reservation_net_effective_cost": "6.75"},
        {
            **reservation_fee("6", upfront="5", unused=("1.5", "2")),
            "line_item_net_unblended_cost": "5.4",
            "reservation_net_amortized_upfront_fee_for_billing_period": "4.5",
            "reservation_net_unused_amortized_upfront_fee_for_billing_period": "1.35",
            "reservation_net_unused_recurring_fee": "1.8",
        },
    ]
    deliver_export(bucket, "2026-10", [rows])

    night.load(source(bucket))

    assert night.rows('"EffectiveCost"', where="\"CommitmentDiscountStatus\" = 'Unused'") == [
        (Decimal("3.15"),),
        (Decimal("1.8"),),
    ]
    assert night.warehouse.rows("select gap_cost from ops.load_commitment") == [(0,), (0,)]
    assert night.warehouse.value(STATE) == "proven"


def test_daily_costs_have_the_unused_part_on_the_days_that_have_passed(night: Night, bucket: Path) -> None:
    """The fee stands on the first day and covers the month: 310 unused over 31 days, not on one."""
    rows = [
        reservation_fee("310", upfront="0", unused=("0", "310")),
        *(
            cur_line(cost="1", start=f"2026-10-{day:02d}T23:00:00Z", end=f"2026-10-{day:02d}T23:59:59Z")
            for day in range(1, 31)
        ),
        cur_line(cost="1", start="2026-10-31T23:00:00Z", end="2026-11-01T00:00:00Z"),
    ]
    deliver_legacy(bucket, "2026-10", [rows])
    night.load(source(bucket))
    replace_settings(night.warehouse, {})

    build(night.warehouse)

    days = night.warehouse.rows(
        "select charge_date, sum(effective_cost), sum(billed_cost) from marts.project_daily_cost group by 1 order by 1"
    )
    assert len(days) == 31
    assert all(abs(Decimal(str(effective)) - 11) < Decimal("1e-9") for _, effective, _ in days)
    assert sum(Decimal(str(effective)) for _, effective, _ in days) == 341
    assert [billed for _, _, billed in days] == [311, *[1] * 30]
    assert night.rows('sum("EffectiveCost")', order="1") == [(341,)]


cents = st.decimals(min_value="0.01", max_value="900", places=2)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    hours=st.lists(st.tuples(cents, cents), min_size=1, max_size=6),
    reservation=st.lists(cents, min_size=0, max_size=4),
    unused=st.tuples(cents, cents),
    upfront=cents,
)
def test_the_identity_is_exact_on_any_month(
    night: Night,
    tmp_path_factory: pytest.TempPathFactory,
    hours: list[tuple[Decimal, Decimal]],
    reservation: list[Decimal],
    unused: tuple[Decimal, Decimal],
    upfront: Decimal,
) -> None:
    bucket = tmp_path_factory.mktemp("bucket")
    rows: list[Row] = []
    for used, rest in hours:
        total = used + rest
        rows += covered(str(used), str(2 * used))
        rows.append(plan_fee(str(total - rest / 2), total=str(total), used=str(used), upfront=str(rest / 2)))
    cost = sum(reservation) + sum(unused)
    rows += [reserved(str(one)) for one in reservation]
    rows.append(reservation_fee(str(cost - upfront), upfront=str(upfront), unused=(str(unused[0]), str(unused[1]))))
    deliver_export(bucket, "2026-10", [rows])

    night.run(source(bucket), accept_shrink=True)

    assert night.warehouse.rows(
        "select sum(abs(gap_cost)), count(*) from ops.load_commitment semi join"
        " (select load_id from ops.load where is_current) as load using (load_id)"
    ) == [(0, 2)]
    assert night.warehouse.value(STATE) == "proven"


AMOUNT = st.decimals(min_value="-500", max_value="500", places=4).map(str)
AS_DELIVERED = (
    "Usage", "Fee", "Tax", "Credit", "Refund", "OtherOutOfCycleCharges", "FlatRateSubscription", "EdpDiscount",
    "PrivateRateDiscount", "SppDiscount", "RiVolumeDiscount", "BundledDiscount", "Discount", "DistributorDiscount",
    "SomethingNew",
)  # fmt: skip
PURCHASES = ("SavingsPlanUpfrontFee", "reserved Fee", "purchase Refund")


def one_time(item: str, cost: str) -> Row:
    """Return a purchase, or the refund of one, that is spread over the term."""
    if item == "reserved Fee":
        return cur_line(cost=cost, item="Fee", reservation_reservation_a_r_n=RI)
    kind = item.removeprefix("purchase ")
    return cur_line(
        cost=cost, item=kind, line_item_product_code="ComputeSavingsPlans", savings_plan_savings_plan_a_r_n=PLAN
    )


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    plain=st.lists(st.tuples(st.sampled_from(AS_DELIVERED), AMOUNT), max_size=12),
    purchases=st.lists(st.tuples(st.sampled_from(PURCHASES), AMOUNT), max_size=4),
    hours=st.lists(st.tuples(cents, cents), min_size=1, max_size=4),
    is_net=st.booleans(),
)
def test_what_is_billed_is_what_is_charged_less_upfront_parts_and_with_one_time_purchases(
    night: Night,
    tmp_path_factory: pytest.TempPathFactory,
    plain: list[tuple[str, str]],
    purchases: list[tuple[str, str]],
    hours: list[tuple[Decimal, Decimal]],
    *,
    is_net: bool,
) -> None:
    """On months with every line item type: billed = effective - amortised upfront + one-time purchases and refunds."""
    bucket = tmp_path_factory.mktemp("bucket")
    rows = [cur_line(cost=cost, item=item) for item, cost in plain]
    rows += [one_time(item, cost) for item, cost in purchases]
    for used, rest in hours:
        rows += covered(str(used), str(2 * used))
        rows.append(plan_fee(str(used + rest / 2), total=str(used + rest), used=str(used), upfront=str(rest / 2)))
    rows += [reserved("3.5"), reservation_fee("6", upfront="1", unused=("1.5", "2"))]
    if is_net:
        rows = [{**row, "line_item_net_unblended_cost": row["line_item_unblended_cost"]} for row in rows]
    deliver_export(bucket, "2026-10", [rows])

    night.run(source(bucket), accept_shrink=True)

    discounts = sum(Decimal(cost) for item, cost in plain if item.endswith("Discount")) if is_net else 0
    [(billed, effective, upfront)] = night.warehouse.rows(
        'select sum("BilledCost"), sum("EffectiveCost"), (select sum(amortised_upfront_cost) from ops.load_commitment'
        " semi join (select load_id from ops.load where is_current) as load using (load_id))"
        " from focus.cost_and_usage"
    )
    assert billed == effective - upfront + sum(Decimal(cost) for _, cost in purchases)  # type: ignore[operator]
    assert billed == sum(Decimal(str(row["line_item_unblended_cost"])) for row in rows) - discounts
    assert night.warehouse.value(STATE) == "proven"


def test_lines_that_name_no_commitment_are_checked_together(night: Night, bucket: Path) -> None:
    rows = [*covered("300", "400"), plan_fee("16.8", total="16.8", used="16.8", upfront="0")]
    deliver_export(bucket, "2026-10", [[{**row, "savings_plan_savings_plan_a_r_n": ""} for row in rows]])

    night.load(source(bucket))

    assert night.warehouse.rows("select commitment_discount_id, gap_cost from ops.load_commitment") == [
        ("", Decimal("283.2"))
    ]
    assert night.warehouse.value(STATE) == "unproven"


def test_an_empty_used_commitment_is_none(night: Night, bucket: Path) -> None:
    deliver_export(bucket, "2026-10", [[plan_fee("5", total="5", used="", upfront="0"), *covered("0", "0")]])

    night.load(source(bucket))

    assert night.rows('"EffectiveCost"', where="\"CommitmentDiscountStatus\" = 'Unused'") == [(5,)]
    assert night.warehouse.value(STATE) == "proven"


def test_a_fee_that_does_not_tell_its_unused_part_is_counted(night: Night, bucket: Path) -> None:
    fee = cur_line(cost="5", item="SavingsPlanRecurringFee", savings_plan_savings_plan_a_r_n=PLAN)
    deliver_export(bucket, "2026-10", [[*covered("5", "8"), fee]])

    night.load(source(bucket))

    assert night.counts()["recurring fee that does not tell what of it is unused", ""] == 1
    assert night.warehouse.value(STATE) == "unproven"


def test_capacity_reservations_are_no_commitments(night: Night, bucket: Path) -> None:
    reservation = "arn:aws:ec2:us-east-1:111111111111:capacity-reservation/cr-1"
    row = cur_line(
        reservation_reservation_a_r_n=reservation,
        line_item_usage_type="UnusedBox:m5.large",
        reservation_effective_cost="",
    )
    deliver_export(bucket, "2026-10", [[row]])

    night.load(source(bucket))

    assert night.rows('"CapacityReservationId", "CapacityReservationStatus", "CommitmentDiscountId"') == [
        (reservation, "Unused", None)
    ]


def test_discount_rows_that_net_costs_do_not_account_for_are_counted(night: Night, bucket: Path) -> None:
    rows = [
        cur_line(cost="100", line_item_net_unblended_cost=""),
        cur_line(cost="0", line_item_net_unblended_cost="0"),
        cur_line(cost="-10", item="EdpDiscount", line_item_net_unblended_cost=""),
    ]
    deliver_export(bucket, "2026-10", [rows])

    night.load(source(bucket))

    assert night.counts()["discount row that net costs do not account for", ""] == 1


def test_tag_keys_that_come_to_one_are_counted(night: Night, bucket: Path) -> None:
    row = cur_line(resource_tags={"user_team": "zeta", "user:team": "alpha"})
    deliver_export(bucket, "2026-10", [[row]])

    night.load(source(bucket))

    assert night.tags() == {("team", "alpha")}
    assert night.counts()["tags whose keys came to one, the first value in the alphabet taken", "team"] == 1


def test_a_commitment_has_its_term_in_the_ledger_and_its_use_in_the_mart(night: Night, bucket: Path) -> None:
    term = {"savings_plan_start_time": "2025-12-01T00:00:00.000Z", "savings_plan_end_time": "2026-11-30T23:59:59.000Z"}
    reservation = {
        "reservation_start_time": "2026-01-01T00:00:00.000Z", "reservation_end_time": "2026-12-31T23:59:59.000Z",
    }  # fmt: skip
    rows = [
        *covered("4", "8"), plan_fee("5", total="5", used="4", upfront="0", **term),
        reserved("6", pricing_public_on_demand_cost="9"),
        reservation_fee("8", upfront="0", unused=("0", "2"), **reservation),
    ]  # fmt: skip
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))
    replace_settings(night.warehouse, {"settings.night": [(date(2026, 11, 20),)]})
    build(night.warehouse)

    assert night.warehouse.rows("select starts_at::date, ends_at::date from ops.load_commitment order by all") == [
        (date(2025, 12, 1), date(2026, 11, 30)),
        (date(2026, 1, 1), date(2026, 12, 31)),
    ]
    assert night.warehouse.rows(
        "select commitment_type, used_cost, unused_cost, utilisation_percent, savings_cost, expiry"
        " from marts.commitment_usage order by all"
    ) == [
        ("Reserved Instance", 6, 2, 75, 1, "within 60 days"),
        ("Savings Plan", 4, 1, 80, 3, "within 30 days"),
    ]
