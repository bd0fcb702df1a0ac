"""Thresholds of budgets: crossed or not, and since when."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from analysis.budget import Threshold, judge_thresholds


def _spend(*amounts: str) -> dict[date, Decimal]:
    return {date(2026, 10, day): Decimal(amount) for day, amount in enumerate(amounts, start=1)}


def _judged(spend: dict[date, Decimal] | None, *amounts: str) -> list[tuple[str, str, date | None]]:
    thresholds = [Threshold(text=amount, amount=Decimal(amount)) for amount in amounts]
    return [(found.threshold.text, found.state, found.crossed_on) for found in judge_thresholds(spend, thresholds)]


def test_crossed_on_is_the_first_day_that_reaches_the_threshold() -> None:
    spend = _spend("50", "30", "20", "1")
    assert _judged(spend, "100", "80", "102") == [
        ("80", "crossed", date(2026, 10, 2)),
        ("100", "crossed", date(2026, 10, 3)),
        ("102", "ok", None),
    ]


def test_the_order_of_days_does_not_count() -> None:
    spend = dict(reversed(_spend("50", "30", "20").items()))
    assert _judged(spend, "80") == [("80", "crossed", date(2026, 10, 2))]


def test_a_later_credit_takes_the_total_below_the_threshold_again() -> None:
    assert _judged(_spend("100", "-30"), "80") == [("80", "ok", None)]
    assert _judged(_spend("100", "-30", "10"), "80") == [("80", "crossed", date(2026, 10, 1))]


def test_no_spend_crosses_nothing_and_no_threshold_gives_no_state() -> None:
    assert _judged({}, "0", "10") == [("0", "ok", None), ("10", "ok", None)]
    assert _judged(_spend("1")) == []


def test_unknown_spend_is_unknown_for_every_threshold() -> None:
    assert _judged(None, "80", "100") == [("80", "unknown", None), ("100", "unknown", None)]


def test_the_last_of_38_digits_decides() -> None:
    spend = _spend("99999999999999999999999999", "-0.000000000001")
    assert _judged(spend, "99999999999999999999999999") == [("99999999999999999999999999", "ok", None)]
    assert _judged(spend, "99999999999999999999999998.999999999999")[0][1] == "crossed"
