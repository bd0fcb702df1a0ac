"""Retention: which landed versions of a month are kept.

Landed files answer what a month was before it changed, and are what a rebuild reads. A month that is not settled keeps
them all; of one that is, the version in force is enough. Called by the night for each month that the ledger knows, also
where its source delivers nothing any more.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from ingest import ledger
from sql.parts import next_month
from sql.warehouse import Warehouse

KeepLanded = Literal["open-months", "newest", "all"]
SETTLED_AFTER = timedelta(days=60)
"""After a month's end it counts as settled, invoiced or not: some exports never name an invoice."""
_NEWEST = 2
"""The version in force and the one before it, which answers what a restatement changed."""


def kept_versions(
    warehouse: Warehouse, source: str, billing_month: date, keep: KeepLanded, now: datetime
) -> list[str] | None:
    """Return the landed versions of a month that are kept, the one in force first; None keeps every one.

    `now` is UTC, without zone.
    """
    versions = ledger.versions(warehouse, source, billing_month)
    if keep == "newest":
        return versions[:_NEWEST]
    if keep == "open-months" and is_settled(warehouse, source, billing_month, now):
        return versions[:1]
    return None


def is_settled(warehouse: Warehouse, source: str, billing_month: date, now: datetime) -> bool:
    """Return whether a month is final, also after a restatement, or ended more than SETTLED_AFTER ago."""
    ended = datetime.combine(next_month(billing_month), time(tzinfo=UTC)).replace(tzinfo=None)
    if now - ended > SETTLED_AFTER:
        return True
    return now >= ended and ledger.is_invoiced(warehouse, source, billing_month)
