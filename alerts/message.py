"""What a message says, before any channel gives it a form. Stored as JSON in the outbox, read by `alerts.render`.

Money stays Decimal and travels with its currency; names are as delivered and are cleaned by the renderer.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

MessageKind = Literal["welcome", "budget"]
BudgetStanding = Literal["ok", "crossed", "unknown"]

_DATES = ("period_start", "period_end", "crossed_on", "complete_through")
_AMOUNTS = ("spent_amount", "gross_amount", "net_amount", "limit_amount")


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLine:
    """One budget in a message."""

    budget_id: str
    standing: BudgetStanding
    """`unknown` where charges are in another currency than the limit; then no spend is shown."""
    threshold: str | None
    """Highest threshold crossed in this period, as written in the configuration; None if none is."""
    crossed_on: date | None
    """Day on which the running total reached that threshold."""
    spent_amount: Decimal | None
    """On the budget's basis, [billing_currency]; a partial last day is in it, so it is a lower bound."""
    gross_amount: Decimal | None
    """The same before promotional credits."""
    net_amount: Decimal | None
    """The same after promotional credits."""
    limit_amount: Decimal | None
    billing_currency: str
    basis: str
    """effective, billed or list."""
    includes_credits: bool
    includes_tax: bool
    includes_refunds: bool
    period_start: date
    period_end: date
    """First day after the period."""
    complete_through: date | None
    """Last day on which every source is complete; None if unknown."""
    month_status: str | None = None
    """How settled the period's month is in its least settled source, as in `marts.month_status`; None in a message
    that was queued before messages said so."""
    is_month_restated: bool = False
    """Whether one of the sources changed the month after it was final."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What one route is told in one night."""

    kind: MessageKind
    """`welcome` lists every budget of the route, once ever; `budget` those with a newly crossed threshold."""
    route: str
    as_of: date
    lines: tuple[BudgetLine, ...]
    """Most urgent first; never empty."""


def to_json(message: Message) -> str:
    """Return the message as JSON text; amounts are text, so that no digit is lost."""
    return json.dumps(asdict(message), default=str, ensure_ascii=False, sort_keys=True)


def from_json(text: str) -> Message:
    """Return the message that `to_json` wrote."""
    content: dict[str, Any] = json.loads(text)
    lines = tuple(_line(line) for line in content["lines"])
    return Message(
        kind=content["kind"], route=content["route"], as_of=date.fromisoformat(content["as_of"]), lines=lines
    )


def _line(content: dict[str, Any]) -> BudgetLine:
    """Return one line with its dates and amounts as what they are."""
    dates = {name: date.fromisoformat(content[name]) for name in _DATES if content[name] is not None}
    amounts = {name: Decimal(content[name]) for name in _AMOUNTS if content[name] is not None}
    return BudgetLine(**{**content, **dates, **amounts})
