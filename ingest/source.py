"""The seam between a source and the rest: what is configured, what it delivers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

SourceKind = Literal["aws-export", "gcp-export", "focus-export"]
DEFAULT_SETTLE_DAYS: dict[SourceKind, int] = {"aws-export": 1, "gcp-export": 2, "focus-export": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """One `[[source]]` of the configuration."""

    name: str
    kind: SourceKind
    location: Path
    """A folder or one file, absolute."""
    period: str | None = None
    """For loose files: YYYY-MM, or from-rows; None is the kind's default."""
    currency: str | None = None
    """ISO code that rows without a currency are in; loose AWS files only."""
    settle_days: int = 1
    """Days after which a day's usage counts as complete."""
    replaces: str | None = None
    """Source whose (provider, billing account, month) this one takes over."""
    was: str | None = None
    """Earlier name of this source."""
    from_month: date | None = None
    """First month that belongs to this source."""
    until_month: date | None = None
    """First month that no longer belongs to this source (half-open)."""

    def covers(self, billing_month: date) -> bool:
        """Return whether `from` and `until` leave a month to this source."""
        return (self.from_month is None or billing_month >= self.from_month) and (
            self.until_month is None or billing_month < self.until_month
        )
