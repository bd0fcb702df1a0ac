"""What the analysis concluded about budgets, and which of it is news.

Reads `analysis.budget_state` with the budget's definition in `settings`; decides, without any store, which crossed
thresholds have not been told yet. Called by `alerts.run`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from alerts.message import BudgetLine, BudgetStanding
from sql.warehouse import Warehouse

UNKNOWN = "unknown"
LATE_DAYS = 5
"""Days at the end of a period whose charges may arrive after it: as many as `marts.budget_status` waits for."""

_URGENCY: tuple[BudgetStanding, ...] = ("crossed", "unknown", "ok")
_COLUMNS = (
    "budget_id",
    "threshold",
    "period_start",
    "period_end",
    "team",
    "basis",
    "state",
    "spent_amount",
    "gross_amount",
    "net_amount",
    "limit_amount",
    "threshold_amount",
    "billing_currency",
    "crossed_on",
    "complete_through",
    "month_status",
    "is_month_restated",
    "includes_credits",
    "includes_tax",
    "includes_refunds",
    "includes_shared",
    "scope",
)
_QUERY = """
with
scopes as (
    select
        budget_scope.budget_id,
        string_agg(budget_scope.dimension || '=' || budget_scope.pattern, chr(10)
            order by budget_scope.dimension, budget_scope.pattern) as scope
    from settings.budget_scope
    group by budget_scope.budget_id
)
select
    budget_state.budget_id, budget_state.threshold, budget_state.period_start, budget_state.period_end,
    budget_state.team, budget_state.basis, budget_state.state, budget_state.spent_amount, budget_state.gross_amount,
    budget_state.net_amount, budget_state.limit_amount, budget_state.threshold_amount, budget_state.billing_currency,
    budget_state.crossed_on, budget_state.complete_through,
    budget_state.month_status, budget_state.is_month_restated,
    coalesce(budget.includes_credits, false) as includes_credits,
    coalesce(budget.includes_tax, false) as includes_tax,
    coalesce(budget.includes_refunds, false) as includes_refunds,
    coalesce(budget.includes_shared, false) as includes_shared,
    coalesce(scopes.scope, '') as scope
from analysis.budget_state
left join settings.budget on budget.budget_id = budget_state.budget_id
left join scopes on scopes.budget_id = budget_state.budget_id
where budget_state.period_start <= $1
order by budget_state.budget_id, budget_state.period_start, budget_state.threshold_amount, budget_state.threshold
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdConclusion:
    """One threshold of one budget in one period."""

    threshold: str
    amount: Decimal
    """The threshold as an amount in the budget's currency."""
    is_crossed: bool
    crossed_on: date | None
    fingerprint: str
    """Identity of this threshold in this period: told once, whatever the running total does afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetConclusion:
    """One budget in one period."""

    team: str | None
    line: BudgetLine
    """As a message says it, with the highest crossed threshold."""
    thresholds: tuple[ThresholdConclusion, ...]
    """By amount, lowest first."""

    def is_closed(self, as_of: date) -> bool:
        """Return whether the period ended before `as_of`; only its last days, which arrive late, are then news."""
        return self.line.period_end <= as_of

    @property
    def unknown(self) -> ThresholdConclusion | None:
        """Stand-in for a threshold where the budget cannot be judged, so that this is told once a period too."""
        if self.line.standing != UNKNOWN:
            return None
        return ThresholdConclusion(
            threshold=UNKNOWN,
            amount=Decimal(0),
            is_crossed=True,
            crossed_on=None,
            fingerprint=_fingerprint(self.line.budget_id, UNKNOWN, self.line.period_start.isoformat()),
        )

    @property
    def tellable(self) -> tuple[ThresholdConclusion, ...]:
        """What there is to tell about this budget, lowest first, whether or not it has been told."""
        if self.unknown is not None:
            return (self.unknown,)
        return tuple(threshold for threshold in self.thresholds if threshold.is_crossed)


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What is new about one budget: `announced` goes into the message, `included` is told along with it."""

    announced: ThresholdConclusion | None
    included: tuple[ThresholdConclusion, ...]


def read_conclusions(warehouse: Warehouse, as_of: date) -> list[BudgetConclusion]:
    """Return every budget in each period that the analysis judged, by budget id: that of `as_of`, or the one before."""
    by_budget: dict[object, list[dict[str, Any]]] = {}
    for values in warehouse.rows(_QUERY, (as_of,)):
        row = dict(zip(_COLUMNS, values, strict=True))
        by_budget.setdefault((row["budget_id"], row["period_start"]), []).append(row)
    return [_budget(rows) for rows in by_budget.values()]


def find_news(conclusion: BudgetConclusion, told: Collection[str], as_of: date) -> News:
    """Return what is new about a budget, given the fingerprints already `told`.

    Only the highest newly crossed threshold is announced, the lower ones are told with it; below a threshold that has
    been told nothing is announced any more. Of a period that has ended only a crossing on its last days is announced:
    their charges arrive after it. An earlier one comes from a backfill or a changed rule, and is no news.
    """
    new = [threshold for threshold in conclusion.tellable if threshold.fingerprint not in told]
    if not new:
        return News(announced=None, included=())
    if conclusion.is_closed(as_of) and not _is_of_last_days(new[-1], conclusion.line.period_end):
        return News(announced=None, included=tuple(new))
    told_amounts = [threshold.amount for threshold in conclusion.thresholds if threshold.fingerprint in told]
    if conclusion.unknown is None and any(amount >= new[-1].amount for amount in told_amounts):
        return News(announced=None, included=tuple(new))
    return News(announced=new[-1], included=tuple(new[:-1]))


def _is_of_last_days(threshold: ThresholdConclusion, period_end: date) -> bool:
    """Return whether a threshold was crossed on one of the last days of its period."""
    return threshold.crossed_on is not None and threshold.crossed_on >= period_end - timedelta(days=LATE_DAYS)


def by_urgency(lines: Sequence[BudgetLine]) -> tuple[BudgetLine, ...]:
    """Return crossed budgets first, then those that cannot be judged; within each the largest share of the limit."""
    return tuple(sorted(lines, key=lambda line: (_URGENCY.index(line.standing), -_share(line), line.budget_id)))


def _share(line: BudgetLine) -> Decimal:
    """Return spend as a share of the limit, zero where there is none."""
    if line.spent_amount is None or not line.limit_amount:
        return Decimal(0)
    return line.spent_amount / line.limit_amount


def _budget(rows: Sequence[dict[str, Any]]) -> BudgetConclusion:
    """Return one budget from its rows, one per threshold, lowest first."""
    first = rows[0]
    thresholds = tuple(_threshold(row) for row in rows)
    standing = _standing(rows)
    crossed = [threshold for threshold in thresholds if threshold.is_crossed and standing == "crossed"]
    is_known = standing != UNKNOWN
    line = BudgetLine(
        budget_id=first["budget_id"],
        standing=standing,
        threshold=crossed[-1].threshold if crossed else None,
        crossed_on=crossed[-1].crossed_on if crossed else None,
        spent_amount=first["spent_amount"] if is_known else None,
        gross_amount=first["gross_amount"] if is_known else None,
        net_amount=first["net_amount"] if is_known else None,
        limit_amount=first["limit_amount"],
        billing_currency=first["billing_currency"],
        basis=first["basis"],
        includes_credits=first["includes_credits"],
        includes_tax=first["includes_tax"],
        includes_refunds=first["includes_refunds"],
        includes_shared=first["includes_shared"],
        period_start=first["period_start"],
        period_end=first["period_end"],
        complete_through=first["complete_through"],
        month_status=first["month_status"],
        is_month_restated=first["is_month_restated"],
    )
    return BudgetConclusion(team=first["team"], line=line, thresholds=thresholds)


def _standing(rows: Sequence[dict[str, Any]]) -> BudgetStanding:
    """Return the state of a budget from the states of its thresholds: one unknown makes all of it unknown."""
    states = {row["state"] for row in rows}
    if states - {"ok", "crossed"}:
        return "unknown"
    return "crossed" if "crossed" in states else "ok"


def _threshold(row: dict[str, Any]) -> ThresholdConclusion:
    """Return one threshold; its fingerprint holds what makes it another threshold: scope, basis, amount, period."""
    fingerprint = _fingerprint(
        row["budget_id"],
        row["threshold"],
        row["period_start"].isoformat(),
        row["scope"],
        row["basis"],
        f"{row['threshold_amount']:f}",
        row["billing_currency"],
    )
    return ThresholdConclusion(
        threshold=row["threshold"],
        amount=row["threshold_amount"],
        is_crossed=row["state"] == "crossed",
        crossed_on=row["crossed_on"],
        fingerprint=fingerprint,
    )


def _fingerprint(*parts: str) -> str:
    """Return a hash of the parts that no other list of parts shares."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
