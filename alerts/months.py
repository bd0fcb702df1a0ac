"""Months that finance thought settled and that are news: unproven though final, or restated.

Reads `marts.month_news`. Each is told once, to the default route. The first time is a baseline: what is news then has
been so before anybody asked.
"""

from __future__ import annotations

import hashlib
import json
from datetime import date, datetime
from decimal import Decimal

from alerts.message import MonthLine
from alerts.outbox import Told, has_welcome, record_told, record_welcome, told_fingerprints
from alerts.route import Destination
from sql.state import StateStore
from sql.warehouse import Row, Warehouse

_QUERY = (
    "select news, source, billing_month, news_cost, coalesce(billing_currency, '') from marts.month_news"
    " where billing_month < $1 order by billing_month desc, source, news, billing_currency"
)


def tell_months(
    warehouse: Warehouse, state: StateStore, destination: Destination, as_of: date, now: datetime
) -> dict[str, MonthLine]:
    """Return what is new about months before the day of `as_of`, by fingerprint, and record it as told.

    To be called in the transaction that queues the message.
    """
    news = {_fingerprint(row): row for row in warehouse.rows(_QUERY, (as_of,))}
    audience = f"months of {destination.audience}"
    is_baseline = not has_welcome(state, audience)
    if is_baseline:
        record_welcome(state, audience, as_of, now)
    told = told_fingerprints(state, news.keys())
    new = {fingerprint: row for fingerprint, row in news.items() if fingerprint not in told}
    record_told(
        state, [_told(fingerprint, row, is_baseline=is_baseline) for fingerprint, row in new.items()], as_of, now
    )
    return {} if is_baseline else {fingerprint: _line(row) for fingerprint, row in new.items()}


def _fingerprint(row: Row) -> str:
    """Return the identity of news: a month is unproven once, and restated once per amount; each in its currency."""
    news, source, month, amount, currency = row
    parts = ["month", news, source, str(month), currency, f"{amount:f}" if news == "restated" else ""]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _told(fingerprint: str, row: Row, *, is_baseline: bool) -> Told:
    news, source, month, *_ = row
    return Told(
        fingerprint=fingerprint,
        budget_id=f"month of {source}",
        threshold=str(news),
        period_start=_as_date(month),
        state="baseline" if is_baseline else "announced",
    )


def _line(row: Row) -> MonthLine:
    news, source, month, amount, currency = row
    return MonthLine(
        news="unproven" if news == "unproven" else "restated",
        source=str(source),
        billing_month=_as_date(month),
        amount=Decimal(str(amount)),
        billing_currency=str(currency),
    )


def _as_date(value: object) -> date:
    """Return a DATE that DuckDB gave as a date."""
    if not isinstance(value, date):
        raise TypeError(f"expected a date, got {type(value).__name__}")
    return value
