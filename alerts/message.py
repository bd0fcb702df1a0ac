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
MonthNews = Literal["unproven", "restated"]

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
    includes_shared: bool = False
    """Whether costs that splits give count; not in a message that was queued before there were splits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthLine:
    """One month of one source that was thought settled, in a message to finance."""

    news: MonthNews
    """`unproven`: final, but its effective cost is not; `restated`: final once, and billed otherwise now."""
    source: str
    billing_month: date
    amount: Decimal
    """What effective costs of commitments miss, or the change of billed cost [billing_currency]."""
    billing_currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WasteLine:
    """One thing that costs money for nothing."""

    finding_id: str
    is_new: bool
    """False where it has been told before, and is told again since it still is."""
    title: str
    subject: str
    """The resource, by name or id."""
    project: str
    monthly_cost: Decimal
    """Effective cost before promotional credits of a month of 730 hours [billing_currency]."""
    cash_saving_share: Decimal
    """Part of it that no commitment pays, between 0 and 1."""
    so_far_cost: Decimal
    billing_currency: str
    evidence: str
    stop_step: str
    first_seen: date


@dataclass(frozen=True, slots=True, kw_only=True)
class WasteNews:
    """What a route is told of waste: the largest findings, and how many there are besides."""

    lines: tuple[WasteLine, ...]
    """Largest first; new ones before those that still are."""
    new_count: int
    still_count: int
    is_baseline: bool
    """Whether the route hears of waste for the first time: then nothing is news, and all that is open is in it."""
    monthly_totals: tuple[tuple[str, Decimal], ...]
    """(currency, wasted in a month) of all that are meant, not only of the lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What one route is told in one night: budgets, months and waste, as far as there is anything to tell."""

    kind: MessageKind
    """`welcome` lists every budget of the route, once ever; `budget` what is new."""
    route: str
    as_of: date
    lines: tuple[BudgetLine, ...]
    """Most urgent first."""
    months: tuple[MonthLine, ...] = ()
    """Latest month first."""
    waste: WasteNews | None = None
    """None where there is nothing to tell, and in a message that was queued before waste was told."""


def to_json(message: Message) -> str:
    """Return the message as JSON text; amounts are text, so that no digit is lost."""
    return json.dumps(asdict(message), default=str, ensure_ascii=False, sort_keys=True)


def from_json(text: str) -> Message:
    """Return the message that `to_json` wrote."""
    content: dict[str, Any] = json.loads(text)
    return Message(
        kind=content["kind"],
        route=content["route"],
        as_of=date.fromisoformat(content["as_of"]),
        lines=tuple(_line(line) for line in content["lines"]),
        months=tuple(_month(month) for month in content.get("months", ())),
        waste=None if content.get("waste") is None else _waste(content["waste"]),
    )


def _waste(content: dict[str, Any]) -> WasteNews:
    """Return what is told of waste with its dates and amounts as what they are."""
    lines = tuple(
        WasteLine(
            **{
                **line,
                **{name: Decimal(line[name]) for name in ("monthly_cost", "cash_saving_share", "so_far_cost")},
                "first_seen": date.fromisoformat(line["first_seen"]),
            }
        )
        for line in content["lines"]
    )
    totals = tuple((currency, Decimal(amount)) for currency, amount in content["monthly_totals"])
    return WasteNews(**{**content, "lines": lines, "monthly_totals": totals})


def _month(content: dict[str, Any]) -> MonthLine:
    """Return one month with its date and amount as what they are."""
    first = date.fromisoformat(content["billing_month"])
    return MonthLine(**{**content, "billing_month": first, "amount": Decimal(content["amount"])})


def _line(content: dict[str, Any]) -> BudgetLine:
    """Return one line with its dates and amounts as what they are."""
    dates = {name: date.fromisoformat(content[name]) for name in _DATES if content[name] is not None}
    amounts = {name: Decimal(content[name]) for name in _AMOUNTS if content[name] is not None}
    return BudgetLine(**{**content, **dates, **amounts})
