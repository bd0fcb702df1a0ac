"""Which months the demo covers and how far each is delivered on a given morning."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

FIRST_MONTH = date(2026, 9, 1)
OPEN_MONTH = date(2026, 11, 1)
"""The month that is still running in the demo; those before it are closed and invoiced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredMonth:
    """One billing month as it stands when it is delivered."""

    start: date
    end: date
    """First day after the month."""
    through: date
    """First day that is not delivered yet; `end` where the month is closed."""
    delivered_on: date
    """Morning on which the providers wrote it."""

    @property
    def is_closed(self) -> bool:
        """Whether the month has been invoiced and no longer changes."""
        return self.through == self.end

    @property
    def compact(self) -> str:
        """Return YYYYMM."""
        return f"{self.start:%Y%m}"

    @property
    def dashed(self) -> str:
        """Return YYYY-MM."""
        return f"{self.start:%Y-%m}"


def delivered_months(delivered_on: date) -> list[DeliveredMonth]:
    """Return the demo's months, oldest first, as they stand on the morning of `delivered_on`.

    Usage of the running month reaches through the day before. Raises ValueError outside that month's 2nd to last day.
    """
    if not OPEN_MONTH < delivered_on < _next_month(OPEN_MONTH):
        raise ValueError(f"the demo is delivered on a day from 2 to 30 November 2026, not on {delivered_on}")
    months = []
    start = FIRST_MONTH
    while start <= OPEN_MONTH:
        end = _next_month(start)
        is_running = start == OPEN_MONTH
        months.append(
            DeliveredMonth(
                start=start,
                end=end,
                through=delivered_on if is_running else end,
                delivered_on=delivered_on if is_running else end + timedelta(days=3),
            )
        )
        start = end
    return months


def _next_month(day: date) -> date:
    """Return the first day of the month after that of `day`."""
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
