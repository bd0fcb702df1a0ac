"""Budgets: from the daily spend of one period to the state of each threshold. Pure functions, called by `analysis.run`.

Thresholds on actual spend look at every loaded day, complete or not: a missing day can only understate the spend.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, localcontext
from typing import Literal

State = Literal["ok", "crossed", "unknown"]

STATUSES = ("no data", "open", "estimated", "restated", "final")
"""How settled a month is in a source, as in `marts.month_status`; the least settled first."""
_DIGITS = 76
"""Twice the digits of DECIMAL(38,12), so that no sum is rounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """One threshold of a budget."""

    text: str
    """As written in the configuration."""
    amount: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdState:
    """What became of a threshold in the period."""

    threshold: Threshold
    state: State
    crossed_on: date | None
    """First day on which the running total reached the threshold; None unless crossed."""


def judge_thresholds(
    daily_spend: Mapping[date, Decimal] | None, thresholds: Sequence[Threshold]
) -> list[ThresholdState]:
    """Return the state of each threshold, lowest first, given the spend of each day of one period.

    `daily_spend` None means that the spend cannot be known (charges in another currency). A threshold is crossed when
    the total of all days has reached it; credits of a later day can take a total below a threshold again.
    """
    ordered = sorted(thresholds, key=lambda threshold: (threshold.amount, threshold.text))
    if daily_spend is None:
        return [ThresholdState(threshold=threshold, state="unknown", crossed_on=None) for threshold in ordered]
    running = list(_running_totals(daily_spend))
    return [_judge(running, threshold) for threshold in ordered]


def least_settled(statuses: Collection[str]) -> str:
    """Return the status of a month from its status in each source; without any source there is no data."""
    return min(statuses, key=STATUSES.index, default=STATUSES[0])


def _judge(running: Sequence[tuple[date, Decimal]], threshold: Threshold) -> ThresholdState:
    """Return the state of one threshold; without any day nothing is crossed, not even a threshold of zero."""
    if not running or running[-1][1] < threshold.amount:
        return ThresholdState(threshold=threshold, state="ok", crossed_on=None)
    crossed_on = next(day for day, total in running if total >= threshold.amount)
    return ThresholdState(threshold=threshold, state="crossed", crossed_on=crossed_on)


def _running_totals(daily_spend: Mapping[date, Decimal]) -> Iterator[tuple[date, Decimal]]:
    """Yield (day, total through that day) in order of days."""
    total = Decimal(0)
    for day in sorted(daily_spend):
        with localcontext() as context:
            context.prec = _DIGITS
            total += daily_spend[day]
        yield day, total
