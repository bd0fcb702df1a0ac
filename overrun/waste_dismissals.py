"""Findings that people dismissed: kept in the state store, so that no rebuild and no night touches them."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

from sql.state import instant_text

if TYPE_CHECKING:
    from sql.state import StateStore

Row = tuple[object, ...]

_LAST = (
    "select finding_id, dismissed_by, until, reason from waste_dismissal as latest where not exists ("
    "select 1 from waste_dismissal as later where later.finding_id = latest.finding_id"
    " and later.dismissal_id > latest.dismissal_id) order by finding_id"
)


def dismiss(state: StateStore, finding_id: str, *, by: str, until: date, reason: str, now: datetime) -> None:
    """Record that a finding is dismissed through the day `until`; the last word on a finding counts."""
    state.execute(
        "insert into waste_dismissal (finding_id, dismissed_at, dismissed_by, until, reason) values (?, ?, ?, ?, ?)",
        (finding_id, instant_text(now), by, until.isoformat(), reason),
    )


def dismissal_rows(state: StateStore) -> list[Row]:
    """Return the last word on each finding, as rows of `settings.waste_dismissal`."""
    return [(finding_id, by, date.fromisoformat(until), reason) for finding_id, by, until, reason in state.rows(_LAST)]
