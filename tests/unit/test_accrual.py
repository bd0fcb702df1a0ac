"""What is booked for missing days: the same weekdays of the last four weeks, less what is loaded already."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from overrun.accrual import PROFILE_DAYS, Calendar, DayCost, Key, accrue, calendar_of
from overrun.chargeback import journal_of
from overrun.closed_months import Figure

KEY: Key = ("AWS", "1", "vision", "research", None, "6000", "EC2", "Compute", "USD")
OCTOBER, NOVEMBER = date(2026, 10, 1), date(2026, 11, 1)
COMPLETE = date(2026, 10, 28)


def cost(day: date, amount: str, key: Key = KEY) -> DayCost:
    return DayCost(key=key, day=day, costs=(Decimal(amount),) * 4)


def calendar(first_day: date = date(2026, 1, 1), complete_through: date = COMPLETE) -> Calendar:
    return calendar_of(first_day, complete_through, OCTOBER, NOVEMBER)


def booked(*days: DayCost, on: Calendar | None = None) -> list[Decimal]:
    return [figure.billed_cost for figure in accrue("aws", days, on or calendar())]


def test_the_calendar_is_the_last_four_weeks_and_the_days_after_them() -> None:
    found = calendar()
    assert len(found.profile) == PROFILE_DAYS
    assert (found.profile[0], found.profile[-1]) == (OCTOBER, COMPLETE)
    assert found.missing == (date(2026, 10, 29), date(2026, 10, 30), date(2026, 10, 31))
    assert calendar(first_day=date(2026, 10, 20)).profile[0] == date(2026, 10, 20)
    assert calendar(complete_through=date(2026, 10, 31)).missing == ()
    assert calendar(complete_through=date(2026, 9, 20)).missing[0] == OCTOBER


def test_a_weekday_is_the_mean_of_its_like() -> None:
    thursdays = [COMPLETE - timedelta(days=6 + 7 * week) for week in range(4)]
    days = [cost(day, "10") for day in thursdays[:3]] + [cost(COMPLETE, "99")]
    assert booked(*days) == [Decimal("7.5")]


def test_without_a_like_weekday_all_complete_days_count() -> None:
    short = calendar(first_day=date(2026, 10, 27))
    assert booked(cost(date(2026, 10, 27), "4"), cost(COMPLETE, "2"), on=short) == [Decimal(9)]


def test_what_is_loaded_of_a_missing_day_is_taken_off_and_never_more() -> None:
    days = [cost(COMPLETE - timedelta(days=number), "10") for number in range(PROFILE_DAYS)]
    partly = [cost(date(2026, 10, 29), "4"), cost(date(2026, 10, 30), "50")]
    assert booked(*days, *partly) == [Decimal(16)]


def test_nothing_to_book_is_no_figure() -> None:
    assert booked(on=calendar()) == []
    assert booked(cost(COMPLETE, "5"), on=calendar(complete_through=date(2026, 10, 31))) == []


def test_an_accrual_names_its_project_and_no_charge() -> None:
    (figure,) = accrue("aws", [cost(date(2026, 10, 22), "10")], calendar())
    assert (figure.kind, figure.project, figure.team, figure.charge_rows) == ("accrual", "vision", "research", 0)
    assert (figure.billed_cost, figure.list_cost) == (Decimal("2.5"), Decimal("2.5"))


def figure(amount: Decimal, project: str = "p", currency: str = "USD", kind: str = "actual") -> Figure:
    return Figure(
        source="aws", kind="accrual" if kind == "accrual" else "actual", provider=None, billing_account_id=None,
        invoice_id=None, sub_account_id=None, tag_set_id=None, service_name=None, service_category="Compute",
        charge_category="Usage", project=project, team="t", cost_centre=None, gl_account=None,
        billing_currency=currency,
        billed_cost=amount, effective_cost=amount * 2, cost_before_credits=amount, list_cost=None, charge_rows=1,
    )  # fmt: skip


AMOUNTS = st.decimals(min_value=-(10**6), max_value=10**6, places=12)
FIGURES = st.lists(st.builds(figure, AMOUNTS, st.sampled_from("abc"), st.sampled_from(["USD", "EUR"])), max_size=20)


@given(FIGURES)
def test_a_journal_adds_up_to_its_total_rounded_once(figures: list[Figure]) -> None:
    lines = journal_of(figures, "billed")
    for currency in ("USD", "EUR"):
        exact = sum((one.billed_cost for one in figures if one.billing_currency == currency), Decimal(0))
        booked_total = sum((line.amount for line in lines if line.billing_currency == currency), Decimal(0))
        assert booked_total == exact.quantize(Decimal("0.01"))


@given(FIGURES, st.randoms(use_true_random=False))
def test_a_journal_does_not_depend_on_the_order_of_figures(figures: list[Figure], random: object) -> None:
    shuffled = list(figures)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert journal_of(shuffled, "effective") == journal_of(figures, "effective")


def test_a_journal_has_debit_credit_and_what_is_accrued() -> None:
    lines = journal_of(
        [
            figure(Decimal("10.004")),
            figure(Decimal(2), kind="accrual"),
            figure(Decimal(-3), "q"),
            figure(Decimal(0), "r"),
        ],
        "billed",
    )
    assert [(line.project, line.debit, line.credit, line.exact_accrual) for line in lines] == [
        ("p", Decimal("12.00"), None, Decimal(2)),
        ("q", None, Decimal("3.00"), Decimal(0)),
    ]
