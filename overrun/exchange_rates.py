"""The rates that convert costs to the reporting currency: rows of `settings.exchange_rate`, by the configured rule.

The file gives rates of pairs on days. Of one day, the pair itself goes first, then its inverse, then a cross through a
currency that both have a rate with (the first in the alphabet). Inverses, crosses and means are worked out exactly and
rounded once, to 12 decimals; one below 0.000001 is not taken, since too few digits would be left of it.

A rate holds until the next, but `carry_days` after its own day at most. Days that have not come yet take the newest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

from overrun.rate_file import WrittenRate, read_rate_file
from sql.errors import CheckFailed, RateMissing
from sql.parts import next_month

if TYPE_CHECKING:
    from overrun.config import CurrencySettings
    from sql.warehouse import Warehouse

MODEL = "core.exchange_rate"
"""The model that finds out which rates are needed."""
MISSING_RATE = "every currency and day with costs has an exchange rate"
"""The check of it that finds costs without a rate."""
_PLACES = Decimal("0.000000000001")
_ENOUGH_DIGITS = 60
_SMALLEST = Fraction(1, 1_000_000)
_LARGEST = Fraction(999_999)
_DAY = timedelta(days=1)

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRate:
    """What one unit of a billing currency is worth in the reporting currency, as published on one day."""

    day: date
    exact: Fraction
    made_from: str
    """The lines of the file, with their rates as written."""
    source: str


def read_rates(settings: CurrencySettings | None) -> tuple[WrittenRate, ...]:
    """Return the rates of the file that the configuration names, none without one; raises ConfigError."""
    return () if settings is None or settings.rates is None else read_rate_file(settings.rates)


def exchange_rate_rows(
    settings: CurrencySettings | None, written: Sequence[WrittenRate], warehouse: Warehouse, as_of: date
) -> list[Row]:
    """Return the rows of `settings.exchange_rate` for the currencies and months that are loaded."""
    if settings is None:
        return []
    needed = warehouse.rows(
        "select distinct total.billing_currency, load.billing_month from ops.load_total as total"
        " inner join ops.load as load using (load_id)"
        " where load.is_current and total.billing_currency <> ? order by all",
        [settings.reporting_currency],
    )
    months: dict[str, list[date]] = {}
    for currency, month in needed:
        if isinstance(month, date):
            months.setdefault(str(currency), []).append(month)
    by_day = _by_day(written)
    rows: list[Row] = []
    for currency, billed in months.items():
        rates = _day_rates(by_day, currency, settings.reporting_currency)
        rows += [(currency, *row) for row in _rows(settings, rates, billed, as_of)]
    return rows


def day_rates(written: Iterable[WrittenRate], from_currency: str, to_currency: str) -> list[DayRate]:
    """Return what `from_currency` is worth in `to_currency`, oldest day first."""
    return _day_rates(_by_day(written), from_currency, to_currency)


_Legs = Mapping[str, Mapping[str, WrittenRate]]
"""Currency -> other currency -> the line of the day that joins them, the pair before its inverse."""


def _by_day(written: Iterable[WrittenRate]) -> dict[date, _Legs]:
    """Return the lines of each day by both of their currencies."""
    days: dict[date, dict[str, dict[str, WrittenRate]]] = {}
    for rate in written:
        legs = days.setdefault(rate.day, {})
        legs.setdefault(rate.from_currency, {})[rate.to_currency] = rate
        legs.setdefault(rate.to_currency, {}).setdefault(rate.from_currency, rate)
    return dict(days)


def _day_rates(by_day: Mapping[date, _Legs], from_currency: str, to_currency: str) -> list[DayRate]:
    found = []
    for day in sorted(by_day):
        way = _way(by_day[day], from_currency, to_currency)
        if not way:
            continue
        exact = _worth(way, from_currency)
        is_written = len(way) == 1 and way[0].from_currency == from_currency
        if is_written or _SMALLEST <= exact <= _LARGEST:
            found.append(
                DayRate(
                    day=day,
                    exact=exact,
                    made_from=", ".join(f"{leg.from_currency} to {leg.to_currency} {leg.rate:f}" for leg in way),
                    source=", ".join(dict.fromkeys(leg.source for leg in way)),
                )
            )
    return found


def _way(legs: _Legs, from_currency: str, to_currency: str) -> tuple[WrittenRate, ...]:
    """Return the lines that lead from one currency to the other: one, or two through a currency between them."""
    here, there = legs.get(from_currency, {}), legs.get(to_currency, {})
    if to_currency in here:
        return (here[to_currency],)
    between = min(here.keys() & there.keys(), default=None)
    return () if between is None else (here[between], there[between])


def _worth(way: Sequence[WrittenRate], from_currency: str) -> Fraction:
    """Return the units of the last currency that one unit of the first is worth."""
    worth, currency = Fraction(1), from_currency
    for leg in way:
        is_inverse = leg.from_currency != currency
        worth = worth / Fraction(leg.rate) if is_inverse else worth * Fraction(leg.rate)
        currency = leg.from_currency if is_inverse else leg.to_currency
    return worth


def rounded(exact: Fraction) -> Decimal:
    """Return a rate at 12 decimals, half to even."""
    with localcontext() as context:
        context.prec = _ENOUGH_DIGITS
        return (Decimal(exact.numerator) / exact.denominator).quantize(_PLACES, rounding=ROUND_HALF_EVEN)


def _rows(settings: CurrencySettings, rates: Sequence[DayRate], months: Iterable[date], as_of: date) -> Iterator[Row]:
    """Yield (from_date, until_date, rate, rate_date, published_days, made_from, source) by the rule."""
    if settings.rule == "charge-day":
        yield from _rows_by_day(rates, settings.carry_days, as_of)
        return
    for month in months:
        counted = _counted(settings, rates, month, as_of)
        if counted:
            until = next_month(month)
            mean = rounded(sum((rate.exact for rate in counted), Fraction(0)) / len(counted))
            made_from = counted[0].made_from if len(counted) == 1 else _mean_text(counted)
            source = ", ".join(sorted({rate.source for rate in counted}))
            yield month, until, mean, counted[-1].day, len(counted), made_from, source


def _mean_text(rates: Sequence[DayRate]) -> str:
    return f"mean of {len(rates)} days, {rates[0].day} to {rates[-1].day}"


def _rows_by_day(rates: Sequence[DayRate], carry_days: int, as_of: date) -> Iterator[Row]:
    for number, rate in enumerate(rates):
        following = rates[number + 1].day if number + 1 < len(rates) else None
        is_fresh = (as_of - rate.day).days <= carry_days
        longest = None if is_fresh else rate.day + (carry_days + 1) * _DAY
        until = min((day for day in (following, longest) if day is not None), default=None)
        yield rate.day, until, rounded(rate.exact), rate.day, 1, rate.made_from, rate.source


def _counted(settings: CurrencySettings, rates: Sequence[DayRate], month: date, as_of: date) -> Sequence[DayRate]:
    """Return the rates that make up the rate of a month, none where one of them is missing."""
    if first_gap(settings, rates, month, month, as_of) is not None:
        return []
    end = _newest(rates, _last_day(month))
    if settings.rule == "month-end":
        return rates[end : end + 1]
    start = _newest(rates, month - _DAY) + 1
    # A month that has begun on days without rates: the newest stands in until there is one.
    return rates[start : end + 1] or rates[end : end + 1]


def first_gap(
    settings: CurrencySettings, rates: Sequence[DayRate], month: date, charge_day: date, as_of: date
) -> date | None:
    """Return the first day whose rate is needed for a cost of `month` on `charge_day` and not there, or None."""
    last = _last_day(month)
    day = {"charge-day": min(charge_day, last), "month-end": last, "month-average": month}[settings.rule]
    end = day
    if settings.rule == "month-average":
        following = _newest(rates, month - _DAY) + 1
        # A mean needs no rate from before its month, unless the month's own begin late.
        if following < len(rates) and (rates[following].day - month).days <= settings.carry_days:
            day = rates[following].day
        end = max(day, min(last, as_of))
    while day <= end:
        newest, known = _newest(rates, day), min(day, as_of)
        if newest < 0 or (known - rates[newest].day).days > settings.carry_days:
            return known
        day += _DAY
    return None


def _last_day(month: date) -> date:
    return next_month(month) - _DAY


def _newest(rates: Sequence[DayRate], day: date) -> int:
    """Return the position of the newest rate on or before `day`, -1 where there is none."""
    return bisect_right(rates, day, key=lambda rate: rate.day) - 1


def rate_missing(
    error: CheckFailed, settings: CurrencySettings, written: Sequence[WrittenRate], as_of: date
) -> RateMissing:
    """Return the error of a build in which `MODEL` found costs without a rate, with the pair and the day."""
    currency, reporting_currency, month, charge_day, days = error.rows[0]
    rates = day_rates(written, str(currency), str(reporting_currency))
    if not isinstance(month, date) or not isinstance(charge_day, date):
        raise TypeError(f"{MODEL} names no day")
    gap = first_gap(settings, rates, month, charge_day, as_of) or charge_day
    message = (
        f"no rate from {currency} to {reporting_currency} on {gap}: {days} days of {month:%Y-%m} with costs in"
        f" {currency} need one ({settings.rule})"
    )
    return RateMissing(message, hint=_hint(settings, rates, str(currency)))


def _hint(settings: CurrencySettings, rates: Sequence[DayRate], currency: str) -> str:
    """Return what to do about a rate that is missing."""
    if settings.rates is None:
        return "name a file of rates in [currency], with the columns date,from,to,rate,source"
    if not rates:
        pair = f"{currency} to {settings.reporting_currency}"
        return f"add rates to {settings.rates}: no line of it leads from {pair}, nor do two through a third currency"
    return (
        f"add the day to {settings.rates}: its rates of {currency} go from {rates[0].day} to {rates[-1].day}, and one"
        f" holds {settings.carry_days} days longer where none is published (carry_days)"
    )
