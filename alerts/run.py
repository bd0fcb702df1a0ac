"""The two steps of a night that tell people: conclude, then deliver. Called by the front door.

`conclude` turns `analysis.budget_state` into messages in the outbox, the thresholds marked as told in the same
transaction. `deliver` sends what waits there and may run again by itself.
"""

from __future__ import annotations

from datetime import date, datetime

from alerts.conclusions import BudgetConclusion, News, by_urgency, find_news, read_conclusions
from alerts.deliver import DeliveryReport, deliver
from alerts.message import Message
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
from sql.state import StateStore
from sql.warehouse import Warehouse

__all__ = ["DeliveryReport", "conclude", "deliver"]


def conclude(
    warehouse: Warehouse, state: StateStore, settings: AlertSettings, as_of: date, now: datetime
) -> list[OutboxMessage]:
    """Put into the outbox what each route has to be told tonight; returns the new rows, none where nothing is new.

    A route is told of all its budgets the first time (the welcome digest, a baseline), later only of thresholds newly
    crossed in the period that contains `as_of`, or on the last days of the one before. Raises RouteError before
    anything is written.
    """
    by_destination: dict[Destination, list[BudgetConclusion]] = {}
    for conclusion in read_conclusions(warehouse, as_of):
        by_destination.setdefault(find_destination(settings, conclusion.team), []).append(conclusion)
    queued: list[OutboxMessage] = []
    with state.transaction():
        for destination, conclusions in sorted(by_destination.items(), key=lambda item: item[0].route):
            tell = _tell_news if has_welcome(state, destination.audience) else _welcome
            queued += tell(state, destination, conclusions, as_of, now)
    return queued


def _welcome(
    state: StateStore, destination: Destination, conclusions: list[BudgetConclusion], as_of: date, now: datetime
) -> list[OutboxMessage]:
    """Queue the digest of all budgets of a route; what is crossed already counts as told."""
    lines = by_urgency([conclusion.line for conclusion in conclusions if not conclusion.is_closed(as_of)])
    if not lines:
        return []
    message = Message(kind="welcome", route=destination.route, as_of=as_of, lines=lines)
    record_welcome(state, destination.audience, as_of, now)
    for conclusion in conclusions:
        news = News(announced=None, included=conclusion.tellable)
        record_told(state, _told(conclusion, news, "baseline"), as_of, now)
    return queue(state, destination, message, [], now)


def _tell_news(
    state: StateStore, destination: Destination, conclusions: list[BudgetConclusion], as_of: date, now: datetime
) -> list[OutboxMessage]:
    """Queue one message with all that is new for a route, if anything is."""
    told = told_fingerprints(state, _fingerprints(conclusions))
    lines, announced = [], []
    for conclusion in conclusions:
        news = find_news(conclusion, told, as_of)
        record_told(state, _told(conclusion, news, "included"), as_of, now)
        if news.announced is not None:
            lines.append(conclusion.line)
            announced.append(news.announced.fingerprint)
    if not lines:
        return []
    message = Message(kind="budget", route=destination.route, as_of=as_of, lines=by_urgency(lines))
    return queue(state, destination, message, sorted(announced), now)


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
