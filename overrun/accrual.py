"""What is booked for days of a month that are missing when it is closed. Pure.

A day is missing where it comes after the source's last complete day. Its usage is estimated for each combination of
project, team, service and so on from the calendar profile of the last PROFILE_DAYS complete days: the mean of the same
weekday; where the source has no such weekday yet, the mean of all of these days. What is loaded of the day already is
taken off, and never more than that: an accrual is not negative. Taxes, fees, purchases and credits are not foreseen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from overrun.closed_months import Figure

PROFILE_DAYS = 28
"""Four weeks, so that every weekday is there four times."""
_PLACES = Decimal("0.000000000001")
_ENOUGH_DIGITS = 60
_ZERO = Decimal(0)

Key = tuple[str | None, str | None, str, str, str | None, str | None, str | None, str | None, str]
"""(provider, billing account, project, team, cost centre, ledger account, service, service category, currency)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCost:
    """Usage of one combination on one day: billed, effective, before credits, list."""

    key: Key
    day: date
    costs: tuple[Decimal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """The days that a source's accrual is made from and for; `profile` and `missing` are in order."""

    profile: tuple[date, ...]
    missing: tuple[date, ...]

    def like(self, day: date) -> tuple[date, ...]:
        """Return the days of the profile that say what `day` costs."""
        same = tuple(other for other in self.profile if other.weekday() == day.weekday())
        return same or self.profile


def calendar_of(first_day: date, complete_through: date, month: date, next_month: date) -> Calendar:
    """Return the last complete days of a source that has usage from `first_day` on, and the missing ones of `month`."""
    begin = max(first_day, complete_through - timedelta(days=PROFILE_DAYS - 1))
    first_missing = max(month, complete_through + timedelta(days=1))
    return Calendar(
        profile=_days(begin, complete_through), missing=_days(first_missing, next_month - timedelta(days=1))
    )


def _days(first: date, last: date) -> tuple[date, ...]:
    return tuple(first + timedelta(days=number) for number in range((last - first).days + 1))


def accrue(source: str, days: Sequence[DayCost], calendar: Calendar) -> Iterator[Figure]:
    """Yield what is booked for the missing days, one figure per combination, zeros left out."""
    by_key: dict[Key, dict[date, tuple[Decimal, ...]]] = {}
    for cost in days:
        by_key.setdefault(cost.key, {})[cost.day] = cost.costs
    for key, costs in by_key.items():
        billed, effective, before_credits, listed = _booked(costs, calendar)
        if not (billed or effective or before_credits or listed):
            continue
        provider, account, project, team, cost_centre, gl_account, service, category, currency = key
        yield Figure(
            source=source,
            kind="accrual",
            provider=provider,
            billing_account_id=account,
            invoice_id=None,
            sub_account_id=None,
            tag_set_id=None,
            service_name=service,
            service_category=category,
            charge_category="Usage",
            project=project,
            team=team,
            cost_centre=cost_centre,
            gl_account=gl_account,
            billing_currency=currency,
            billed_cost=billed,
            effective_cost=effective,
            cost_before_credits=before_credits,
            list_cost=listed,
            charge_rows=0,
        )


def _booked(costs: dict[date, tuple[Decimal, ...]], calendar: Calendar) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """Return the four amounts over all missing days."""
    nothing = (_ZERO,) * 4
    totals = list(nothing)
    with localcontext(prec=_ENOUGH_DIGITS):
        for day in calendar.missing:
            like = calendar.like(day)
            for position, loaded in enumerate(costs.get(day, nothing)):
                known = sum((costs.get(other, nothing)[position] for other in like), _ZERO)
                mean = (known / max(len(like), 1)).quantize(_PLACES, rounding=ROUND_HALF_EVEN)
                totals[position] += max(mean - loaded, _ZERO)
    billed, effective, before_credits, listed = totals
    return billed, effective, before_credits, listed
