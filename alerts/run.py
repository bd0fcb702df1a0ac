"""The two steps of a night that tell people: conclude, then deliver. Called by the front door.

`conclude` turns `analysis.budget_state`, `marts.month_news` and `marts.waste_findings` into messages in the outbox, and
marks what they say as told in the same transaction. `deliver` sends what waits there and may run again by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from alerts.conclusions import BudgetConclusion, News, by_urgency, find_news, read_conclusions
from alerts.deliver import DeliveryReport, deliver
from alerts.message import BudgetLine, Message, MessageKind, MonthLine
from alerts.months import tell_months
from alerts.outbox import (
    OutboxMessage,
    Told,
    ToldState,
    has_welcome,
    queue,
    record_told,
    record_welcome,
    told_fingerprints,
)
from alerts.route import Destination, find_destination
from alerts.settings import AlertSettings
from alerts.waste import OpenFinding, read_open_findings, tell_waste
from sql.state import StateStore
from sql.warehouse import Warehouse

__all__ = ["DeliveryReport", "conclude", "deliver"]


def conclude(
    warehouse: Warehouse, state: StateStore, settings: AlertSettings, as_of: date, now: datetime
) -> list[OutboxMessage]:
    """Put into the outbox what each route has to be told tonight; returns the new rows, none where nothing is new.

    A route is told of all its budgets the first time (the welcome digest, a baseline), later only of thresholds newly
    crossed in the period that contains `as_of`, or on the last days of the one before. The default route, which is
    finance's, also hears of months that were thought settled. Each route hears of the waste of its team. Raises
    RouteError before anything is written.
    """
    finance = find_destination(settings, None)
    by_destination: dict[Destination, list[BudgetConclusion]] = {finance: []}
    for conclusion in read_conclusions(warehouse, as_of):
        by_destination.setdefault(find_destination(settings, conclusion.team), []).append(conclusion)
    wasted: dict[Destination, list[OpenFinding]] = {}
    for finding in read_open_findings(warehouse, state, as_of):
        destination = find_destination(settings, finding.team)
        by_destination.setdefault(destination, [])
        wasted.setdefault(destination, []).append(finding)
    queued: list[OutboxMessage] = []
    with state.transaction():
        news = tell_months(warehouse, state, finance, as_of, now)
        for destination, conclusions in sorted(by_destination.items(), key=lambda item: item[0].route):
            months = news if destination == finance else {}
            telling = _Telling(
                state=state,
                destination=destination,
                months=months,
                wasted=wasted.get(destination, []),
                minimum_monthly_waste=settings.minimum_monthly_waste,
                as_of=as_of,
                now=now,
            )
            tell = _tell_news if has_welcome(state, destination.audience) else _welcome
            queued += tell(telling, conclusions)
    return queued


@dataclass(frozen=True, slots=True, kw_only=True)
class _Telling:
    """One route being told, as of when, what months are news to it, by fingerprint, and what is wasted of its team."""

    state: StateStore
    destination: Destination
    months: Mapping[str, MonthLine]
    wasted: Sequence[OpenFinding]
    minimum_monthly_waste: Decimal
    as_of: date
    now: datetime

    def queue(self, kind: MessageKind, lines: Sequence[BudgetLine], identity: Sequence[str]) -> list[OutboxMessage]:
        """Queue a message with these budgets, the months and the waste, if there are any."""
        months = tuple(self.months.values())
        waste, told = tell_waste(
            self.state,
            self.destination,
            self.wasted,
            self.minimum_monthly_waste,
            self.as_of,
            self.now,
            is_alone=not lines and not months,
        )
        if not lines and not months and waste is None:
            return []
        message = Message(
            kind=kind,
            route=self.destination.route,
            as_of=self.as_of,
            lines=by_urgency(lines),
            months=months,
            waste=waste,
        )
        return queue(self.state, self.destination, message, [*identity, *told], self.now)


def _welcome(telling: _Telling, conclusions: list[BudgetConclusion]) -> list[OutboxMessage]:
    """Queue the digest of all budgets of a route; what is crossed already counts as told."""
    lines = [conclusion.line for conclusion in conclusions if not conclusion.is_closed(telling.as_of)]
    if not lines:
        return telling.queue("budget", [], sorted(telling.months))
    record_welcome(telling.state, telling.destination.audience, telling.as_of, telling.now)
    for conclusion in conclusions:
        news = News(announced=None, included=conclusion.tellable)
        record_told(telling.state, _told(conclusion, news, "baseline"), telling.as_of, telling.now)
    return telling.queue("welcome", lines, [])


def _tell_news(telling: _Telling, conclusions: list[BudgetConclusion]) -> list[OutboxMessage]:
    """Queue one message with all that is new for a route, if anything is."""
    told = told_fingerprints(telling.state, _fingerprints(conclusions))
    lines, announced = [], []
    for conclusion in conclusions:
        news = find_news(conclusion, told, telling.as_of)
        record_told(telling.state, _told(conclusion, news, "included"), telling.as_of, telling.now)
        if news.announced is not None:
            lines.append(conclusion.line)
            announced.append(news.announced.fingerprint)
    return telling.queue("budget", lines, sorted([*announced, *telling.months]))


def _fingerprints(conclusions: list[BudgetConclusion]) -> set[str]:
    """Return the fingerprints of all that could have been told about the budgets."""
    return {
        threshold.fingerprint
        for conclusion in conclusions
        for threshold in (*conclusion.thresholds, *conclusion.tellable)
    }


def _told(conclusion: BudgetConclusion, news: News, state_of_included: ToldState) -> list[Told]:
    """Return what counts as told from now on about one budget."""
    told = [(threshold, state_of_included) for threshold in news.included]
    if news.announced is not None:
        told.append((news.announced, "announced"))
    return [
        Told(
            fingerprint=threshold.fingerprint,
            budget_id=conclusion.line.budget_id,
            threshold=threshold.threshold,
            period_start=conclusion.line.period_start,
            state=told_state,
        )
        for threshold, told_state in told
    ]
