"""What `overrun reconcile` says of a source of GCP: totals per cost type against the invoices that were entered. Pure.

An invoice month of a billing account and currency may have several invoices, which add up. It ties where all cost types
together, tax, adjustments and rounding rows among them, differ from their sum by less than a cent. Source: Cloud
Billing documentation, "Structure of the standard data export", `invoice.month` and `cost_type`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Literal

from overrun.reconcile_show import CENT, SCHEMA_VERSION, Report
from sql.text import shortened

if TYPE_CHECKING:
    from overrun.invoices import Invoice
    from overrun.reconcile_read import LoadedMonth, RawTotal

State = Literal["ties", "differs", "no invoice"]

COST_TYPES = ("regular", "tax", "adjustment", "rounding_error")
_COLUMNS = ("billing account", "line", "before credits", "credits", "billed", "currency")
_ENOUGH_DIGITS = 60
_NAME_LIMIT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class CostType:
    """Sums over the rows of one cost type; `cost` and `credits` are None where the export does not tell them apart."""

    name: str
    cost: Decimal | None
    credits: Decimal | None
    billed: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountMonth:
    """One billing account and currency in the month: what is loaded, and its invoices."""

    billing_account: str
    currency: str
    cost_types: tuple[CostType, ...]
    invoices: tuple[Invoice, ...]

    @property
    def billed(self) -> Decimal:
        """What is loaded."""
        return sum_of(cost_type.billed for cost_type in self.cost_types)

    @property
    def invoiced(self) -> Decimal:
        """What the invoices come to."""
        return sum_of(invoice.amount for invoice in self.invoices)

    @property
    def difference(self) -> Decimal:
        """What is loaded less what is invoiced."""
        return sum_of((self.billed, -self.invoiced))

    @property
    def state(self) -> State:
        """Whether both are equal to the cent; an account that costs nothing needs no invoice."""
        if abs(self.difference) < CENT:
            return "ties"
        return "differs" if self.invoices else "no invoice"


def compare(loaded: LoadedMonth, invoices: Iterable[Invoice]) -> list[AccountMonth]:
    """Return each billing account and currency of a loaded month, or of an invoice of an account that it has."""
    grouped: dict[tuple[str, str], list[RawTotal]] = {}
    for total in loaded.totals:
        grouped.setdefault((total.billing_account, total.currency), []).append(total)
    accounts = {account for account, _ in grouped}
    billed: dict[tuple[str, str], list[Invoice]] = {}
    for invoice in invoices:
        if invoice.month == loaded.month and invoice.billing_account in accounts:
            billed.setdefault((invoice.billing_account, invoice.currency), []).append(invoice)
    return [
        AccountMonth(
            billing_account=account,
            currency=currency,
            cost_types=_cost_types(grouped.get((account, currency), ())),
            invoices=tuple(billed.get((account, currency), ())),
        )
        for account, currency in sorted({*grouped, *billed})
    ]


def _cost_types(totals: Sequence[RawTotal]) -> tuple[CostType, ...]:
    amounts: dict[str, dict[str, list[Decimal]]] = {}
    for total in totals:
        amounts.setdefault(total.line_item_type, {}).setdefault(total.metric, []).append(total.amount)
    names = sorted(amounts, key=lambda name: (COST_TYPES.index(name) if name in COST_TYPES else len(COST_TYPES), name))
    return tuple(
        CostType(
            name=name,
            cost=sum_of(amounts[name]["Cost"]) if "Cost" in amounts[name] else None,
            credits=sum_of(amounts[name]["Credits"]) if "Credits" in amounts[name] else None,
            billed=sum_of(amounts[name].get("BilledCost", ())),
        )
        for name in names
    )


def report_of(loaded: LoadedMonth, accounts: Sequence[AccountMonth], as_of: date) -> Report:
    """Return the cost types of each account with their total, its invoices, and what lies between."""
    is_tied = all(account.state == "ties" for account in accounts)
    return Report(
        title=f"{loaded.source}, {loaded.month:%Y-%m}: ours against invoices",
        columns=_COLUMNS,
        rows=[row for account in accounts for row in _rows(account)],
        sentences=tuple(_sentences(loaded.month, accounts, as_of)),
        as_json={
            "schema_version": SCHEMA_VERSION,
            "source": loaded.source,
            "month": f"{loaded.month:%Y-%m}",
            "ties": is_tied,
            "accounts": [_account_json(account) for account in accounts],
        },
        is_tied=is_tied,
    )


def _rows(account: AccountMonth) -> Iterator[tuple[object, ...]]:
    def row(
        line: str, billed: Decimal, cost: Decimal | None = None, credit: Decimal | None = None
    ) -> tuple[object, ...]:
        cells = (
            shortened(line, _NAME_LIMIT),
            *(None if amount is None else plain_amount(amount) for amount in (cost, credit, billed)),
        )
        return (account.billing_account, *cells, account.currency)

    for kind in account.cost_types:
        yield row(kind.name, kind.billed, kind.cost, kind.credits)
    yield row("total", account.billed)
    for invoice in account.invoices:
        yield row(f"invoice {invoice.invoice_id}", invoice.amount)
    if account.invoices and account.state == "ties":
        yield row("rounding", account.difference)
    elif account.state != "ties":
        yield row("difference", account.difference)


def _sentences(month: date, accounts: Sequence[AccountMonth], as_of: date) -> Iterator[str]:
    differing = [account for account in accounts if account.state == "differs"]
    missing = [account for account in accounts if account.state == "no invoice"]
    for account in differing:
        yield (
            f"Does not tie: {account.billing_account} differs from its invoices by {plain_amount(account.difference)}"
            f" {account.currency}. Several invoices of a month add up: is one missing?"
        )
    for account in missing:
        yield (
            f"No invoice of {account.billing_account} in {account.currency} is entered: give its total with"
            f' --invoice "{month:%Y%m} {account.billing_account} AMOUNT {account.currency} ID", or --invoices FILE.'
        )
    if not differing and not missing:
        yield "Ties: no billing account differs from its invoices by a cent or more. The next night calls it final."
    yield "Rounding and difference are what is loaded less what is invoiced."
    if month.replace(day=1) == as_of.replace(day=1):
        yield f"{month:%Y-%m} has not ended on {as_of}, and is not invoiced yet."


def _account_json(account: AccountMonth) -> dict[str, object]:
    return {
        "billing_account": account.billing_account,
        "currency": account.currency,
        "state": account.state,
        "billed": f"{account.billed:f}",
        "invoiced": f"{account.invoiced:f}" if account.invoices else None,
        "difference": f"{account.difference:f}",
        "cost_types": [
            {
                "cost_type": kind.name,
                "cost": None if kind.cost is None else f"{kind.cost:f}",
                "credits": None if kind.credits is None else f"{kind.credits:f}",
                "billed": f"{kind.billed:f}",
            }
            for kind in account.cost_types
        ],
        "invoices": [{"id": invoice.invoice_id, "amount": f"{invoice.amount:f}"} for invoice in account.invoices],
    }


def plain_amount(amount: Decimal) -> Decimal:
    """Return an amount with all its digits that are not zero, cents at least."""
    whole, _, decimals = f"{amount:f}".partition(".")
    return Decimal(f"{whole}.{decimals.rstrip('0'):0<2}")


def sum_of(amounts: Iterable[Decimal]) -> Decimal:
    """Return the exact sum; Python's own 28 digits do not hold every DECIMAL(38,12)."""
    with localcontext(prec=_ENOUGH_DIGITS):
        return sum(amounts, Decimal(0))
