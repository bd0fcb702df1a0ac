"""The life of a finding: new, still, resolved. Pure functions, called by `analysis.waste_run`.

What was found is compared with what was known. A check that was not made before, or with other numbers, finds a
baseline: what has long been so is no news, and what its other numbers leave out is forgotten. A check that could not be
made tonight, or that looks at days before those it looked at last, says nothing, so that what is known stays as it was.
A finding has ended where its check no longer claims it; it saves money where its resource is no longer charged, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Literal

Status = Literal["new", "still", "resolved"]
Check = tuple[str, str]
"""(source, check name)."""

HOURS_OF_MONTH = 730
KEPT_DAYS = 365
"""Days for which a resolved finding is kept."""
_DIGITS = 76
_PLACES = Decimal("0.000000000001")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a check found tonight, as `core.waste_judged` has it."""

    source: str
    check_name: str
    provider: str | None
    resource_id: str | None
    resource_name: str | None
    sub_account_id: str | None
    region_id: str | None
    project: str
    team: str
    billing_currency: str
    outcome: str
    is_counted: bool
    usage_cost: Decimal
    wasted_cost: Decimal
    cash_saving: Decimal
    charged_days: int
    window_start: date
    window_end: date
    evidence: str

    @property
    def finding_id(self) -> str:
        """Return the id: the same as long as source, check, what it is of and currency are the same."""
        subject = [self.resource_id] if self.resource_id else [self.sub_account_id, self.project, self.team]
        parts = [self.source, self.check_name, self.billing_currency, *subject]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]

    @property
    def monthly_cost(self) -> Decimal:
        """Return the wasted cost of a month of 730 hours at the rate of the window."""
        return _part(self.wasted_cost * HOURS_OF_MONTH, self.charged_days * 24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A finding and what became of it."""

    found: Found
    """As it was found last."""
    status: Status
    is_baseline: bool
    first_seen: date
    first_found: date
    last_found: date
    resolved_on: date | None
    so_far_cost: Decimal
    saved_cost: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Which checks were made, with which numbers, and through when [first day after the window]."""

    numbers: Mapping[Check, str]
    ends: Mapping[Check, date]
    off: frozenset[Check]
    """Checks that the configuration turns off; what they found is forgotten."""
    charged: frozenset[tuple[str, str, str]] = frozenset()
    """(source, check name, resource id) of what is still charged at the end of the check's window."""


def follow(
    found: Iterable[Found],
    known: Mapping[str, Followed],
    evaluation: Evaluation,
    numbers_before: Mapping[Check, str],
    as_of: date,
) -> list[Followed]:
    """Return every finding of tonight and those that are resolved or could not be looked for, by id."""
    followed: dict[str, Followed] = {}
    changed = {check for check, numbers in evaluation.numbers.items() if numbers_before.get(check) != numbers}
    for item in found:
        is_baseline = (item.source, item.check_name) in changed
        followed[item.finding_id] = _follow_one(item, known.get(item.finding_id), as_of, is_baseline=is_baseline)
    for finding_id, before in known.items():
        check = (before.found.source, before.found.check_name)
        if check in evaluation.off:
            continue
        if check not in evaluation.numbers or evaluation.ends[check] < before.found.window_end:
            followed[finding_id] = before
        elif check not in changed and _has_ended(before, followed.get(finding_id), evaluation):
            followed[finding_id] = _resolve(before, evaluation, as_of)
    return [followed[finding_id] for finding_id in sorted(followed) if not _is_past(followed[finding_id], as_of)]


def _has_ended(before: Followed, now: Followed | None, evaluation: Evaluation) -> bool:
    """Return whether what was claimed is over: not found, or not claimed any more and no longer charged."""
    if before.found.outcome != "waste" or (now is not None and now.found.outcome == "waste"):
        return False
    return now is None or not _is_charged(before, evaluation)


def _is_charged(followed: Followed, evaluation: Evaluation) -> bool:
    """Return whether the resource is still charged; what is of no resource always is."""
    found = followed.found
    return found.resource_id is None or (found.source, found.check_name, found.resource_id) in evaluation.charged


def _follow_one(item: Found, before: Followed | None, as_of: date, *, is_baseline: bool) -> Followed:
    """Return a finding of tonight: new where nothing was claimed of it before, else still there."""
    is_news = item.outcome == "waste" and (before is not None and before.found.outcome != "waste")
    if before is None or before.status == "resolved" or is_news:
        return Followed(
            found=item,
            status="new",
            is_baseline=is_baseline,
            first_seen=item.window_start,
            first_found=as_of,
            last_found=as_of,
            resolved_on=None,
            so_far_cost=item.wasted_cost,
            saved_cost=Decimal(0),
        )
    new_days = max((item.window_end - before.found.window_end).days, 0)
    return replace(
        before,
        found=item,
        status="new" if before.first_found >= as_of else "still",
        last_found=as_of,
        so_far_cost=_sum(before.so_far_cost, _part(item.wasted_cost * new_days, item.charged_days)),
    )


def _resolve(before: Followed, evaluation: Evaluation, as_of: date) -> Followed:
    """Return a finding that has ended, with what it would have cost since; nothing where it still does."""
    end = evaluation.ends[before.found.source, before.found.check_name]
    days = 0 if _is_charged(before, evaluation) else max((end - before.found.window_end).days, 0)
    return replace(
        before,
        status="resolved",
        resolved_on=before.resolved_on or as_of,
        saved_cost=_part(before.found.wasted_cost * days, before.found.charged_days),
    )


def _is_past(followed: Followed, as_of: date) -> bool:
    """Return whether a finding was resolved so long ago that nobody asks any more."""
    return followed.resolved_on is not None and (as_of - followed.resolved_on).days > KEPT_DAYS


def _part(amount: Decimal, divisor: int) -> Decimal:
    """Return an amount by a number of days or hours, rounded to 12 decimals."""
    with localcontext() as context:
        context.prec = _DIGITS
        return (amount / divisor).quantize(_PLACES, rounding=ROUND_HALF_EVEN)


def _sum(*amounts: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec = _DIGITS
        return sum(amounts, Decimal(0))


def numbers_of(values: Sequence[object]) -> str:
    """Return the numbers of a check as one text."""
    return json.dumps([None if value is None else str(value) for value in values])
