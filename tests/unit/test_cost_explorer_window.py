"""The part of a month that Cost Explorer can be asked for: whatever the month and the day."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.aws.cost_explorer import cost_explorer_window
from sql.parts import next_month

DAYS = st.dates(min_value=date(2017, 1, 1), max_value=date(2099, 12, 31))


@given(as_of=DAYS, months_back=st.integers(min_value=0, max_value=60))
@example(as_of=date(2028, 2, 29), months_back=0)
@example(as_of=date(2028, 3, 1), months_back=1)
@example(as_of=date(2026, 1, 1), months_back=0)
def test_a_window_is_one_that_cost_explorer_takes(as_of: date, months_back: int) -> None:
    month = as_of.replace(day=1)
    for _ in range(months_back):
        month = (month - timedelta(days=1)).replace(day=1)
    start, end = cost_explorer_window(month, as_of)
    assert start == month
    assert start < end
    assert end <= next_month(month)
    assert end <= as_of + timedelta(days=1)
    if months_back:
        assert end == next_month(month), "a month that is over is asked for as a whole"


@pytest.mark.parametrize(
    ("month", "as_of", "end"),
    [
        (date(2026, 11, 1), date(2026, 11, 1), date(2026, 11, 2)),
        (date(2026, 11, 1), date(2026, 11, 20), date(2026, 11, 21)),
        (date(2026, 11, 1), date(2026, 11, 30), date(2026, 12, 1)),
        (date(2026, 12, 1), date(2026, 12, 31), date(2027, 1, 1)),
        (date(2028, 2, 1), date(2028, 2, 28), date(2028, 2, 29)),
        (date(2028, 2, 1), date(2028, 2, 29), date(2028, 3, 1)),
        (date(2028, 2, 1), date(2028, 5, 5), date(2028, 3, 1)),
        (date(2024, 2, 1), date(2028, 5, 5), date(2024, 3, 1)),
    ],
)
def test_the_end_is_exclusive(month: date, as_of: date, end: date) -> None:
    assert cost_explorer_window(month, as_of) == (month, end)


@pytest.mark.parametrize("month", [date(2026, 12, 1), date(2026, 11, 2)])
def test_a_month_that_has_not_begun_and_a_day_are_no_months(month: date) -> None:
    with pytest.raises(ValueError, match=r"2026-1[12]"):
        cost_explorer_window(month, date(2026, 11, 30))
