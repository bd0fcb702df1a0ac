"""What `overrun status` says of exchange rates: the rule, and through which day the rates of each currency go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from overrun.published import has_relation

if TYPE_CHECKING:
    from sql.warehouse import Warehouse


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrencyRates:
    """The rates of one billed currency."""

    billing_currency: str
    first_day: date
    last_day: date
    """Newest day on which a rate was published that is in use."""
    source: str
    """Of the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrencyStatus:
    """The currency that the published copy converts to, and how."""

    reporting_currency: str
    rate_rule: str
    rates: tuple[CurrencyRates, ...]
    """None where everything is billed in the reporting currency."""


def read_currency(warehouse: Warehouse) -> CurrencyStatus | None:
    """Return how costs are converted; None where they are not, or where an earlier version made the copy."""
    if not has_relation(warehouse, "settings.currency"):
        return None
    configured = warehouse.row("select reporting_currency, rate_rule from settings.currency")
    if configured is None:
        return None
    rates = warehouse.rows(
        "select billing_currency, min(rate_date), max(rate_date), arg_max(source, rate_date)"
        " from settings.exchange_rate group by 1 order by 1"
    )
    return CurrencyStatus(
        reporting_currency=str(configured[0]),
        rate_rule=str(configured[1]),
        rates=tuple(
            CurrencyRates(billing_currency=str(currency), first_day=first, last_day=last, source=str(source))
            for currency, first, last, source in rates
            if isinstance(first, date) and isinstance(last, date)
        ),
    )


def currency_lines(status: CurrencyStatus | None) -> Iterator[str]:
    """Yield the block for people."""
    if status is None:
        return
    yield from ("", f"Costs in {status.reporting_currency} ({status.rate_rule})")
    if not status.rates:
        yield "  everything is billed in it: no rates are needed"
    for rates in status.rates:
        yield f"  {rates.billing_currency}: rates from {rates.first_day} to {rates.last_day} ({rates.source})"


def currency_json(status: CurrencyStatus | None) -> dict[str, object] | None:
    """Return the same as JSON values."""
    if status is None:
        return None
    return {
        "reporting_currency": status.reporting_currency,
        "rate_rule": status.rate_rule,
        "rates": [
            {
                "billing_currency": rates.billing_currency,
                "first_day": rates.first_day.isoformat(),
                "last_day": rates.last_day.isoformat(),
                "source": rates.source,
            }
            for rates in status.rates
        ],
    }
