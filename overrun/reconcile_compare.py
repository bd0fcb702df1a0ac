"""Our raw totals against Cost Explorer's amounts, like with like. Pure.

Lines are (account, line item type, metric, currency), outer-joined: what only one side has is a line against zero. An
export without net columns has no net totals, so net metrics are not compared and that is said. A FOCUS export has
neither line item types nor those metrics: BilledCost, per account, against one metric of Cost Explorer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext

from ingest.aws.cost_explorer import METRICS, CostExplorerAnswer, RecordedCost
from ingest.aws.record_types import UNNAMED, line_item_type
from overrun.reconcile_read import LoadedMonth

TOLERANCE = Decimal("0.01")
"""How far a line may differ, in its currency: both sides round, and not alike."""
ALL_TYPES = "all"
_ACCOUNT_DIGITS = 12
_ENOUGH_DIGITS = 60
_ZERO = Decimal(0)

Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One amount on both sides, in `currency`."""

    account: str
    line_item_type: str
    metric: str
    currency: str
    ours: Decimal
    cost_explorer: Decimal

    @property
    def difference(self) -> Decimal:
        """Ours less Cost Explorer's."""
        return self.ours - self.cost_explorer

    @property
    def ties(self) -> bool:
        """Whether both sides are equal but for rounding."""
        return abs(self.difference) <= TOLERANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a month came to."""

    lines: tuple[Line, ...]
    totals: tuple[Line, ...]
    """Sums over all accounts and types, one line per metric and currency."""
    uncompared_metrics: tuple[str, ...]
    """Metrics of Cost Explorer that the export has no columns for."""
    focus_metric: str | None
    """Cost Explorer's metric that BilledCost of a FOCUS export was compared with; None for other exports."""

    @property
    def differing(self) -> tuple[Line, ...]:
        """The lines that do not tie."""
        return tuple(line for line in self.lines if not line.ties)


def compare(loaded: LoadedMonth, answer: CostExplorerAnswer) -> Comparison:
    """Return all lines of both sides, in order of account, type and metric."""
    metrics = {total.metric for total in loaded.totals}
    if metrics == {"BilledCost"}:
        return _compare_focus(loaded, answer.costs)
    ours = _summed(
        ((_account(total.account), line_item_type(total.line_item_type), total.metric, total.currency), total.amount)
        for total in loaded.totals
    )
    theirs = _summed(
        ((_account(cost.account), line_item_type(cost.record_type), cost.metric, cost.currency), cost.amount)
        for cost in answer.costs
        if cost.metric in metrics
    )
    return _comparison(ours, theirs, uncompared=[metric for metric in METRICS if metric not in metrics])


def _compare_focus(loaded: LoadedMonth, costs: Iterable[RecordedCost]) -> Comparison:
    """Compare per account; NetUnblendedCost is what is billed, and zero throughout where AWS does not fill it."""
    costs = tuple(costs)
    has_net = any(cost.amount for cost in costs if cost.metric == "NetUnblendedCost")
    metric = "NetUnblendedCost" if has_net else "UnblendedCost"
    ours = _summed(
        ((_account(total.account), ALL_TYPES, total.metric, total.currency), total.amount) for total in loaded.totals
    )
    theirs = _summed(
        ((_account(cost.account), ALL_TYPES, "BilledCost", cost.currency), cost.amount)
        for cost in costs
        if cost.metric == metric
    )
    return _comparison(ours, theirs, focus_metric=metric)


def _comparison(
    ours: Mapping[Key, Decimal],
    theirs: Mapping[Key, Decimal],
    *,
    uncompared: Iterable[str] = (),
    focus_metric: str | None = None,
) -> Comparison:
    """Join both sides."""
    total_ours = _summed((("", ALL_TYPES, *key[2:]), amount) for key, amount in ours.items())
    total_theirs = _summed((("", ALL_TYPES, *key[2:]), amount) for key, amount in theirs.items())
    return Comparison(
        lines=_joined(ours, theirs),
        totals=_joined(total_ours, total_theirs),
        uncompared_metrics=tuple(uncompared),
        focus_metric=focus_metric,
    )


def _joined(ours: Mapping[Key, Decimal], theirs: Mapping[Key, Decimal]) -> tuple[Line, ...]:
    return tuple(
        Line(
            account=account,
            line_item_type=kind,
            metric=metric,
            currency=currency,
            ours=ours.get((account, kind, metric, currency), _ZERO),
            cost_explorer=theirs.get((account, kind, metric, currency), _ZERO),
        )
        for account, kind, metric, currency in sorted({*ours, *theirs}, key=_order)
    )


def _order(key: Key) -> tuple[str, str, int, str]:
    """Sort metrics as Cost Explorer's documentation lists them."""
    account, kind, metric, currency = key
    return account, kind, METRICS.index(metric) if metric in METRICS else len(METRICS), currency


def _summed(amounts: Iterable[tuple[Key, Decimal]]) -> dict[Key, Decimal]:
    """Return the exact sum of each key; Python's own 28 digits do not hold every DECIMAL(38,12)."""
    sums: dict[Key, Decimal] = {}
    with localcontext(prec=_ENOUGH_DIGITS):
        for key, amount in amounts:
            sums[key] = sums.get(key, _ZERO) + amount
    return sums


def _account(account: str) -> str:
    """Return an account as text of twelve digits; a spreadsheet on the way may have eaten leading zeros."""
    return account.zfill(_ACCOUNT_DIGITS) if account.isdigit() else account or UNNAMED
