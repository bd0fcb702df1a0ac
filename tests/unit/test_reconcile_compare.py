"""Raw totals against Cost Explorer's amounts: joined on both sides, under one name for each type."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.aws.cost_explorer import CostExplorerAnswer, RecordedCost
from ingest.aws.record_types import line_item_type
from overrun.reconcile_compare import Comparison, compare
from overrun.reconcile_read import LoadedMonth, RawTotal

Amount = tuple[str, str, str, str]
"""(account, type, metric, amount)."""


def compared(ours: Sequence[Amount], theirs: Sequence[Amount], unit: str = "USD") -> Comparison:
    loaded = LoadedMonth(
        source="aws",
        month=date(2026, 10, 1),
        totals=tuple(
            RawTotal(
                billing_account="",
                account=account,
                line_item_type=kind,
                metric=metric,
                currency="USD",
                amount=Decimal(amount),
            )
            for account, kind, metric, amount in ours
        ),
    )
    answer = CostExplorerAnswer(
        costs=tuple(
            RecordedCost(account=account, record_type=kind, metric=metric, currency=unit, amount=Decimal(amount))
            for account, kind, metric, amount in theirs
        ),
        is_estimated=False,
        pages=1,
    )
    return compare(loaded, answer)


def lines(comparison: Comparison) -> list[tuple[str, str, str, Decimal, Decimal]]:
    return [
        (line.account, line.line_item_type, line.metric, line.ours, line.cost_explorer) for line in comparison.lines
    ]


@pytest.mark.parametrize(
    ("exported", "recorded"),
    [
        ("Usage", "Usage"),
        ("DiscountedUsage", "DiscountedUsage"),
        ("DiscountedUsage", "Reservation applied usage"),
        ("RIFee", "Recurring"),
        ("RIFee", "Recurring reservation fee"),
        ("Fee", "Upfront"),
        ("Fee", "Support"),
        ("Fee", "Other out-of-cycle charges"),
        ("SavingsPlanCoveredUsage", "Savings Plan Covered Usage"),
        ("SavingsPlanNegation", "Savings Plan Negation"),
        ("SavingsPlanRecurringFee", "Savings Plan Recurring Fee"),
        ("SavingsPlanUpfrontFee", "SavingsPlanUpfrontFee"),
        ("EdpDiscount", "Enterprise Discount Program Discount"),
        ("PrivateRateDiscount", "Private Rate Card Discount"),
        ("BundledDiscount", "Bundled Discount"),
        ("SppDiscount", "Solution Provider Program Discount"),
        ("Tax", "Tax"),
        ("Credit", "Credit"),
        ("Refund", "Refund"),
    ],
)
def test_both_sides_call_a_line_alike(exported: str, recorded: str) -> None:
    assert line_item_type(exported) == line_item_type(recorded) == exported


def test_several_record_types_that_are_one_in_the_export_are_one_line() -> None:
    account = "111111111111"
    comparison = compared(
        [(account, "Fee", "UnblendedCost", "30")],
        [(account, "Upfront", "UnblendedCost", "10"), (account, "Support", "UnblendedCost", "20")],
    )
    assert lines(comparison) == [(account, "Fee", "UnblendedCost", Decimal(30), Decimal(30))]
    assert comparison.differing == ()


def test_an_unknown_record_type_is_a_line_of_its_own() -> None:
    comparison = compared(
        [("111111111111", "Usage", "UnblendedCost", "1")],
        [("111111111111", "Usage", "UnblendedCost", "1"), ("111111111111", "Moon Fee", "UnblendedCost", "5")],
    )
    (line,) = comparison.differing
    amounts = (line.ours, line.cost_explorer, line.difference)
    assert line.line_item_type == "MoonFee"
    assert amounts == (Decimal(0), Decimal(5), Decimal(-5))


def test_leading_zeros_of_accounts_are_kept_and_given_back() -> None:
    theirs = [("012345678901", "Usage", "UnblendedCost", "1")]
    assert not compared([("012345678901", "Usage", "UnblendedCost", "1")], theirs).differing
    comparison = compared([("12345678901", "Usage", "UnblendedCost", "1")], theirs)
    assert lines(comparison) == [("012345678901", "Usage", "UnblendedCost", Decimal(1), Decimal(1))]


def test_metrics_that_the_export_has_no_columns_for_are_named_and_not_compared() -> None:
    comparison = compared(
        [("111111111111", "Usage", "UnblendedCost", "1")],
        [("111111111111", "Usage", metric, "1") for metric in ("UnblendedCost", "NetUnblendedCost", "AmortizedCost")],
    )
    assert [line.metric for line in comparison.lines] == ["UnblendedCost"]
    assert comparison.uncompared_metrics == ("NetUnblendedCost", "AmortizedCost", "NetAmortizedCost")


@pytest.mark.parametrize(
    ("theirs", "is_tied"), [("1.00", True), ("1.01", True), ("0.99", True), ("1.0100000001", False)]
)
def test_a_line_differs_beyond_a_cent(theirs: str, is_tied: bool) -> None:
    account = "111111111111"
    comparison = compared([(account, "Usage", "UnblendedCost", "1")], [(account, "Usage", "UnblendedCost", theirs)])
    assert [line.ties for line in comparison.lines] == [is_tied]


def test_another_currency_is_another_line() -> None:
    amount = [("111111111111", "Usage", "UnblendedCost", "1")]
    comparison = compared(amount, amount, unit="INR")
    assert [(line.currency, line.ours, line.cost_explorer) for line in comparison.differing] == [
        ("INR", Decimal(0), Decimal(1)),
        ("USD", Decimal(1), Decimal(0)),
    ]
    assert len(comparison.totals) == 2


def test_focus_is_compared_per_account_with_the_net_cost() -> None:
    account = "111111111111"
    theirs = [
        (account, "Usage", "UnblendedCost", "10"),
        (account, "Usage", "NetUnblendedCost", "8"),
        (account, "Tax", "UnblendedCost", "1"),
        (account, "Tax", "NetUnblendedCost", "1"),
    ]
    comparison = compared([(account, "Usage", "BilledCost", "8"), (account, "Tax", "BilledCost", "1")], theirs)
    assert lines(comparison) == [(account, "all", "BilledCost", Decimal(9), Decimal(9))]
    assert comparison.focus_metric == "NetUnblendedCost"
    assert comparison.uncompared_metrics == ()


def test_focus_is_compared_with_the_unblended_cost_where_there_is_no_net_cost() -> None:
    account = "111111111111"
    theirs = [(account, "Usage", "UnblendedCost", "10"), (account, "Usage", "NetUnblendedCost", "0")]
    comparison = compared([(account, "Usage", "BilledCost", "10")], theirs)
    assert comparison.focus_metric == "UnblendedCost"
    assert comparison.differing == ()


AMOUNTS = st.lists(
    st.tuples(
        st.sampled_from(["111111111111", "022222222222", "22222222222"]),
        st.sampled_from(["Usage", "Fee", "Upfront", "Support", "Recurring", "RIFee", "Moon Fee", ""]),
        st.just("UnblendedCost"),
        st.decimals(min_value=-(10**9), max_value=10**9, places=12).map(str),
    ),
    min_size=1,
)


@given(ours=AMOUNTS, theirs=AMOUNTS)
def test_no_amount_is_lost_in_the_comparison(ours: list[Amount], theirs: list[Amount]) -> None:
    comparison = compared(ours, theirs)
    (total,) = comparison.totals
    assert total.ours == sum(line.ours for line in comparison.lines) == sum(Decimal(row[3]) for row in ours)
    assert total.cost_explorer == sum(Decimal(row[3]) for row in theirs)
