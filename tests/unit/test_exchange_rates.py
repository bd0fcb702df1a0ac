"""Which rate holds for a day or a month: pairs, inverses, crosses, the three rules, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from overrun.config import CurrencySettings, RateRule
from overrun.exchange_rates import Row, day_rates, exchange_rate_rows, first_gap, rate_missing, rounded
from overrun.rate_file import WrittenRate
from sql.errors import CheckFailed
from tests.fakes.parts import load_part, make_warehouse

OCTOBER, NOVEMBER = date(2026, 10, 1), date(2026, 11, 1)
AFTER = date(2026, 12, 15)


def lines(*texts: str) -> list[WrittenRate]:
    """Return rates from `2026-10-01 EUR USD 1.08 [SOURCE]`."""
    found = []
    for line, text in enumerate(texts, start=2):
        day, from_currency, to_currency, rate, *source = text.split()
        found.append(
            WrittenRate(
                line=line, day=date.fromisoformat(day), from_currency=from_currency, to_currency=to_currency,
                rate=Decimal(rate), source=" ".join(source) or "ECB",
            )
        )  # fmt: skip
    return found


def settings(rule: RateRule = "charge-day", carry_days: int = 5, rates: str | None = "rates.csv") -> CurrencySettings:
    path = None if rates is None else Path(rates)
    return CurrencySettings(reporting_currency="EUR", rates=path, rule=rule, carry_days=carry_days)


def rows_of(
    rates: Sequence[WrittenRate],
    rule: RateRule,
    as_of: date,
    months: Sequence[date] = (OCTOBER,),
    carry_days: int = 5,
) -> list[Row]:
    """Return the rows of `settings.exchange_rate` where USD is billed in `months`."""
    charge = {"BilledCost": "1", "EffectiveCost": "1", "ChargeCategory": "Usage"}
    with make_warehouse() as warehouse:
        for month in months:
            usd = charge | {"BillingCurrency": "USD", "ChargePeriodStart": f"{month} 00:00:00"}
            load_part(warehouse, source="aws", month=month, charges=[usd, usd | {"BillingCurrency": "EUR"}])
        return exchange_rate_rows(settings(rule, carry_days), rates, warehouse, as_of)


# From pairs to a rate


@pytest.mark.parametrize(
    ("written", "rate", "made_from"),
    [
        (["2026-10-01 USD EUR 0.92"], "0.920000000000", "USD to EUR 0.92"),
        (["2026-10-01 EUR USD 1.0834"], "0.923020121839", "EUR to USD 1.0834"),
        (["2026-10-01 EUR USD 1.0834", "2026-10-01 USD EUR 0.92"], "0.920000000000", "USD to EUR 0.92"),
        (["2026-10-01 GBP USD 1.25", "2026-10-01 GBP EUR 1.15"], "0.920000000000", "GBP to USD 1.25, GBP to EUR 1.15"),
        (["2026-10-01 USD JPY 150", "2026-10-01 EUR JPY 160"], "0.937500000000", "USD to JPY 150, EUR to JPY 160"),
        (
            ["2026-10-01 USD JPY 150", "2026-10-01 EUR JPY 160", "2026-10-01 USD CHF 0.9", "2026-10-01 CHF EUR 1.05"],
            "0.945000000000",
            "USD to CHF 0.9, CHF to EUR 1.05",
        ),
    ],
    ids=["pair", "inverse", "pair before inverse", "cross", "cross of inverses", "cross by alphabet"],
)
def test_one_day(written: list[str], rate: str, made_from: str) -> None:
    (found,) = day_rates(lines(*written), "USD", "EUR")
    assert (rounded(found.exact), found.made_from) == (Decimal(rate), made_from)


def test_a_way_of_three_pairs_or_over_two_days_is_no_way() -> None:
    chain = lines("2026-10-01 USD CHF 0.9", "2026-10-01 CHF GBP 0.9", "2026-10-01 GBP EUR 1.1")
    assert day_rates(chain, "USD", "EUR") == []
    assert day_rates(lines("2026-10-01 USD CHF 0.9", "2026-10-02 CHF EUR 1.1"), "USD", "EUR") == []


def test_sources_of_both_lines_are_named() -> None:
    (found,) = day_rates(lines("2026-10-01 USD CHF 0.9 SNB", "2026-10-01 CHF EUR 1.1 ECB"), "USD", "EUR")
    assert found.source == "SNB, ECB"


def test_what_would_keep_too_few_digits_is_not_derived_but_taken_as_written() -> None:
    assert day_rates(lines("2026-10-01 USD VND 1000001"), "VND", "USD") == []
    assert len(day_rates(lines("2026-10-01 USD VND 1000000"), "VND", "USD")) == 1
    assert len(day_rates(lines("2026-10-01 VND USD 0.000000000001"), "VND", "USD")) == 1
    assert day_rates(lines("2026-10-01 VND USD 0.000000000001"), "USD", "VND") == []


# charge-day


def test_a_rate_holds_until_the_next_and_over_a_weekend_but_not_longer() -> None:
    rates = lines("2026-10-01 USD EUR 0.92", "2026-10-02 USD EUR 0.93", "2026-10-12 USD EUR 0.94")
    rows = rows_of(rates, "charge-day", AFTER)
    assert [row[:5] for row in rows] == [
        ("USD", date(2026, 10, 1), date(2026, 10, 2), Decimal("0.920000000000"), date(2026, 10, 1)),
        ("USD", date(2026, 10, 2), date(2026, 10, 8), Decimal("0.930000000000"), date(2026, 10, 2)),
        ("USD", date(2026, 10, 12), date(2026, 10, 18), Decimal("0.940000000000"), date(2026, 10, 12)),
    ]


def test_the_newest_rate_holds_for_days_that_have_not_come_until_it_is_stale() -> None:
    rates = lines("2026-10-12 USD EUR 0.94")
    assert rows_of(rates, "charge-day", date(2026, 10, 17))[0][2] is None
    assert rows_of(rates, "charge-day", date(2026, 10, 18))[0][2] == date(2026, 10, 18)
    planned = [*rates, *lines("2027-01-01 USD EUR 0.95")]
    assert [row[2] for row in rows_of(planned, "charge-day", date(2026, 10, 17))] == [date(2027, 1, 1), None]


def test_without_carry_days_each_day_needs_its_own() -> None:
    rates = lines("2026-10-01 USD EUR 0.92", "2026-10-05 USD EUR 0.93")
    assert [row[2] for row in rows_of(rates, "charge-day", AFTER, carry_days=0)] == [
        date(2026, 10, 2),
        date(2026, 10, 6),
    ]


# month-end


def test_month_end_is_the_last_rate_on_or_before_the_last_day() -> None:
    rates = lines("2026-10-29 USD EUR 0.91", "2026-10-30 USD EUR 0.92", "2026-11-02 USD EUR 0.95")
    (row,) = rows_of(rates, "month-end", AFTER)
    assert row[1:6] == (OCTOBER, NOVEMBER, Decimal("0.920000000000"), date(2026, 10, 30), 1)


def test_while_the_month_runs_month_end_is_the_newest_so_far() -> None:
    rates = lines("2026-09-30 USD EUR 0.91", "2026-10-02 USD EUR 0.92")
    assert rows_of(rates, "month-end", date(2026, 10, 1))[0][3] == Decimal("0.92")
    assert rows_of(rates[:1], "month-end", date(2026, 10, 4))[0][3:5] == (Decimal("0.91"), date(2026, 9, 30))
    assert rows_of(rates[:1], "month-end", date(2026, 10, 6)) == []


def test_month_end_is_missing_where_the_month_ends_long_after_the_last_rate() -> None:
    rates = lines("2026-10-20 USD EUR 0.91", "2026-11-02 USD EUR 0.95")
    assert rows_of(rates, "month-end", AFTER) == []
    assert first_gap(settings("month-end"), day_rates(rates, "USD", "EUR"), OCTOBER, OCTOBER, AFTER) == date(
        2026, 10, 31
    )


# month-average


def business_days(month: date, *rates: str, start: int = 1, step: int = 3) -> list[WrittenRate]:
    return lines(*(f"{month.replace(day=start + step * number)} USD EUR {rate}" for number, rate in enumerate(rates)))


def test_the_mean_is_over_the_published_days_of_the_month_and_exact() -> None:
    outside = lines("2026-09-30 USD EUR 9", "2026-11-01 USD EUR 9")
    inside = business_days(OCTOBER, *["0.91", "0.92", "0.92"] * 3, "0.91", "0.91")
    (row,) = rows_of([*outside, *inside], "month-average", AFTER)
    # (5 x 0.91 + 6 x 0.92) / 11
    assert row[1:6] == (OCTOBER, NOVEMBER, Decimal("0.915454545455"), date(2026, 10, 31), 11)
    assert row[6] == "mean of 11 days, 2026-10-01 to 2026-10-31"


def test_the_mean_of_inverses_is_not_the_inverse_of_the_mean() -> None:
    rates = lines("2026-10-01 EUR USD 1", "2026-10-02 EUR USD 2")
    (row,) = rows_of(rates, "month-average", date(2026, 10, 3))
    assert row[3] == Decimal("0.75")


def test_while_the_month_runs_the_mean_is_of_the_days_so_far() -> None:
    rates = lines("2026-09-30 USD EUR 0.80", "2026-10-01 USD EUR 0.91", "2026-10-02 USD EUR 0.93")
    assert rows_of(rates[:1], "month-average", date(2026, 10, 1))[0][3] == Decimal("0.80")
    assert rows_of(rates[:2], "month-average", date(2026, 10, 1))[0][3] == Decimal("0.91")
    assert rows_of(rates, "month-average", date(2026, 10, 4))[0][3:6] == (Decimal("0.92"), date(2026, 10, 2), 2)


def test_a_mean_needs_no_rate_from_before_its_month_but_none_of_its_own_may_be_missing() -> None:
    # October's file begins on the 3rd: those days are no gap. Its end is, and so is a hole.
    whole = business_days(OCTOBER, *["0.9"] * 10, start=3)
    assert len(rows_of(whole, "month-average", AFTER)) == 1
    ways = day_rates(whole, "USD", "EUR")
    rule = settings("month-average")
    assert first_gap(rule, ways, OCTOBER, OCTOBER, AFTER) is None
    assert first_gap(rule, ways[:8], OCTOBER, OCTOBER, AFTER) == date(2026, 10, 30)
    assert first_gap(rule, [*ways[:2], *ways[6:]], OCTOBER, OCTOBER, AFTER) == date(2026, 10, 12)
    assert first_gap(rule, ways[4:], OCTOBER, OCTOBER, AFTER) == OCTOBER
    assert first_gap(rule, [], OCTOBER, OCTOBER, AFTER) == OCTOBER


def test_months_and_currencies_that_are_loaded_are_asked_for_and_no_others() -> None:
    rates = lines("2026-10-30 USD EUR 0.92", "2026-10-30 CNY EUR 0.13", "2026-11-30 USD EUR 0.95")
    rows = rows_of(rates, "month-end", AFTER, months=[OCTOBER, NOVEMBER])
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("USD", OCTOBER, Decimal("0.92")),
        ("USD", NOVEMBER, Decimal("0.95")),
    ]
    assert rows_of([], "charge-day", AFTER) == []


# What is missing


def failure(month: date = OCTOBER, day: date = date(2026, 10, 20), days: int = 3) -> CheckFailed:
    return CheckFailed("core.exchange_rate", "a sentence", [("USD", "EUR", month, day, days)])


def test_a_missing_rate_is_told_by_pair_and_day_with_what_to_do() -> None:
    error = rate_missing(failure(), settings(), lines("2026-10-01 EUR USD 1.08", "2026-10-02 EUR USD 1.09"), AFTER)
    assert str(error) == (
        "no rate from USD to EUR on 2026-10-20: 3 days of 2026-10 with costs in USD need one (charge-day)"
    )
    assert error.hint == (
        "add the day to rates.csv: its rates of USD go from 2026-10-01 to 2026-10-02, and one holds 5 days longer where"
        " none is published (carry_days)"
    )


def test_a_cost_beyond_its_month_needs_the_rate_of_the_month_s_last_day() -> None:
    error = rate_missing(failure(day=date(2026, 11, 20)), settings(), [], AFTER)
    assert "on 2026-10-31:" in str(error)
    assert error.hint is not None
    assert "no line of it leads from USD to EUR, nor do two through a third currency" in error.hint


def test_without_a_file_the_hint_is_to_name_one() -> None:
    error = rate_missing(failure(), settings(rates=None), [], AFTER)
    assert error.hint == "name a file of rates in [currency], with the columns date,from,to,rate,source"
