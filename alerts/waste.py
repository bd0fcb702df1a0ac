"""What each route is told of waste: new findings each night, those that still are once a week.

Reads `marts.waste_findings`. The first time that a route hears of waste is a baseline: all that is open, none of it
news. What is told and that it was told is decided in the transaction that queues the message.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal, localcontext
from typing import Any

from alerts.message import WasteLine, WasteNews
from alerts.route import Destination
from sql.state import StateStore, instant_text
from sql.warehouse import Warehouse

MOST_LINES = 10
DAYS_BETWEEN_REMINDERS = 7
_DIGITS = 76
_COLUMNS = (
    "finding_id", "team", "title", "subject", "project", "monthly_cost", "cash_saving", "wasted_cost", "so_far_cost",
    "billing_currency", "evidence", "stop_step", "first_seen", "first_found", "is_baseline",
)  # fmt: skip
_QUERY = (
    "select finding_id, team, title, coalesce(resource_name, resource_id) as subject, project, monthly_cost,"
    " cash_saving, wasted_cost, so_far_cost, billing_currency, evidence, stop_step, first_seen, first_found,"
    " is_baseline from marts.waste_findings where is_counted and outcome = 'waste' and status in ('new', 'still')"
    " and first_found <= $1 order by monthly_cost desc, finding_id"
)
_UNATTRIBUTED = "unattributed"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFinding:
    """One finding that is wasted now and counts."""

    team: str | None
    """None is the default route: nobody is known to own it."""
    line: WasteLine
    first_found: date
    is_baseline: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Telling:
    """One route, what is open for it, and when."""

    state: StateStore
    audience: str
    findings: Sequence[OpenFinding]
    as_of: date
    now: datetime


def read_open_findings(warehouse: Warehouse, state: StateStore, as_of: date) -> list[OpenFinding]:
    """Return what is wasted now, largest first, without what people have dismissed by this moment."""
    rows = [dict(zip(_COLUMNS, row, strict=True)) for row in warehouse.rows(_QUERY, (as_of,))]
    until: dict[str, str] = dict(state.rows("select finding_id, until from waste_dismissal order by dismissal_id"))
    return [_finding(row) for row in rows if until.get(str(row["finding_id"]), "") < as_of.isoformat()]


def tell_waste(  # noqa: PLR0913 - what a telling is made of
    state: StateStore,
    destination: Destination,
    findings: Sequence[OpenFinding],
    minimum_monthly: Decimal,
    as_of: date,
    now: datetime,
    *,
    is_alone: bool,
) -> tuple[WasteNews | None, list[str]]:
    """Return what a route is told of its `findings`, with what identifies it, and record it as told.

    To be called in the transaction that queues the message. `is_alone` where the message would say nothing else: then
    less than `minimum_monthly` waits until it is more, or another message goes.
    """
    telling = _Telling(
        state=state, audience=f"waste of {destination.audience}", findings=findings, as_of=as_of, now=now
    )
    reminded = _reminded_on(telling)
    told = _told(telling)
    is_baseline = reminded is None
    new = [] if is_baseline else [item for item in findings if _is_news(item, told)]
    new_ids = {item.line.finding_id for item in new}
    is_reminding = is_baseline or (as_of - (reminded or as_of)).days >= DAYS_BETWEEN_REMINDERS
    still = [item for item in findings if item.line.finding_id not in new_ids] if is_reminding else []
    meant = [*new, *still]
    totals = _totals(meant)
    if meant and is_alone and max(totals.values()) < minimum_monthly:
        return None, []
    _record(telling, meant, is_reminding=is_reminding)
    if not meant:
        return None, []
    news = WasteNews(
        lines=tuple(replace(item.line, is_new=item.line.finding_id in new_ids) for item in meant[:MOST_LINES]),
        new_count=len(new),
        still_count=len(still),
        is_baseline=is_baseline,
        monthly_totals=tuple(sorted(totals.items())),
    )
    identity = [
        f"waste {item.line.finding_id} {item.first_found} {'' if item.line.finding_id in new_ids else as_of}"
        for item in meant
    ]
    return news, sorted(identity)


def _is_news(item: OpenFinding, told: Collection[tuple[str, str]]) -> bool:
    """Return whether a finding is new and not told: what a check finds the first time that it is made is none."""
    return not item.is_baseline and (item.line.finding_id, item.first_found.isoformat()) not in told


def _reminded_on(telling: _Telling) -> date | None:
    """Return when the route last heard of all that is open; None where it never has."""
    rows = telling.state.rows("select as_of from waste_reminder where audience = ?", (telling.audience,))
    return date.fromisoformat(rows[0][0]) if rows else None


def _told(telling: _Telling) -> set[tuple[str, str]]:
    rows = telling.state.rows("select finding_id, first_found from waste_told where audience = ?", (telling.audience,))
    return {(finding_id, first_found) for finding_id, first_found in rows}


def _record(telling: _Telling, told: Sequence[OpenFinding], *, is_reminding: bool) -> None:
    """Record what the route has been told."""
    telling.state.execute_many(
        "insert into waste_told (audience, finding_id, first_found, told_at, as_of) values (?, ?, ?, ?, ?)"
        " on conflict do nothing",
        [
            (
                telling.audience,
                item.line.finding_id,
                item.first_found.isoformat(),
                instant_text(telling.now),
                telling.as_of.isoformat(),
            )
            for item in told
        ],
    )
    if is_reminding:
        telling.state.execute(
            "insert or replace into waste_reminder (audience, as_of) values (?, ?)",
            (telling.audience, telling.as_of.isoformat()),
        )


def _totals(findings: Sequence[OpenFinding]) -> dict[str, Decimal]:
    totals: dict[str, Decimal] = {}
    with localcontext() as context:
        context.prec = _DIGITS
        for item in findings:
            currency = item.line.billing_currency
            totals[currency] = totals.get(currency, Decimal(0)) + item.line.monthly_cost
    return totals


def _finding(row: dict[str, Any]) -> OpenFinding:
    line = WasteLine(
        finding_id=row["finding_id"],
        is_new=False,
        title=row["title"] or "Waste",
        subject=row["subject"] or "",
        project=row["project"],
        monthly_cost=row["monthly_cost"],
        cash_saving_share=_share(row["cash_saving"], row["wasted_cost"]),
        so_far_cost=row["so_far_cost"],
        billing_currency=row["billing_currency"],
        evidence=row["evidence"],
        stop_step=row["stop_step"],
        first_seen=row["first_seen"],
    )
    team = None if row["team"] == _UNATTRIBUTED else row["team"]
    return OpenFinding(team=team, line=line, first_found=row["first_found"], is_baseline=row["is_baseline"])


def _share(part: Decimal, whole: Decimal) -> Decimal:
    return (part / whole).quantize(Decimal("0.0001")) if whole else Decimal(0)
