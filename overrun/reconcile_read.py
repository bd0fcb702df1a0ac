"""What `overrun reconcile` compares, on our side: the raw totals kept at load, read from the published copy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from overrun.exits import CommandFailed, Exit
from overrun.published import has_relation, open_copy
from sql.contract import COST_AND_USAGE, LOAD, LOAD_RAW_TOTAL, LOAD_TOTAL
from sql.parts import next_month

if TYPE_CHECKING:
    from pathlib import Path

    from overrun.reconcile_invoices import BilledCharges
    from sql.warehouse import Warehouse


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTotal:
    """Sum of one delivered cost column over the rows of one account and line item type, in `currency`."""

    billing_account: str
    account: str
    line_item_type: str
    metric: str
    currency: str
    amount: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedMonth:
    """The raw totals of the load in force of one (source, month)."""

    source: str
    month: date
    totals: tuple[RawTotal, ...]


def read_loaded_month(copy: Path, source: str, month: date | None, *, ended_by: date | None = None) -> LoadedMonth:
    """Return the raw totals of `month`; raises CommandFailed without any.

    Where it is None: of the last loaded month, or of the last one that has ended on the day `ended_by`, if any has.
    """
    with open_copy(copy) as warehouse:
        months = _months(warehouse, source)
        if not months:
            raise CommandFailed(
                f"nothing of source {source} is loaded", code=Exit.USAGE, hint="run overrun nightly once"
            )
        chosen = _last(months, ended_by) if month is None else month
        if chosen not in months:
            raise CommandFailed(
                f"{chosen:%Y-%m} of source {source} is not loaded",
                code=Exit.USAGE,
                hint=f"loaded are {months[0]:%Y-%m} to {months[-1]:%Y-%m}; name one with --month",
            )
        totals = _totals(warehouse, source, chosen)
    if not totals:
        raise CommandFailed(
            f"no raw totals are kept of {chosen:%Y-%m} of source {source}",
            code=Exit.USAGE,
            hint="an earlier version loaded it: run overrun rebuild, which loads it again from its landed files",
        )
    return LoadedMonth(source=source, month=chosen, totals=totals)


def read_billed_accounts(copy: Path, source: str) -> dict[date, dict[str, set[str]]]:
    """Return the currencies of each billing account in each loaded month of a source."""
    found: dict[date, dict[str, set[str]]] = {}
    with open_copy(copy) as warehouse:
        if not has_relation(warehouse, LOAD_TOTAL.full_name):
            return found
        rows = warehouse.rows(
            "select distinct load.billing_month, total.billing_account_id, total.billing_currency"
            f" from {LOAD_TOTAL.full_name} as total inner join {LOAD.full_name} as load using (load_id)"
            " where load.is_current and load.source = ?",
            [source],
        )
    for month, account, currency in rows:
        if isinstance(month, date):
            found.setdefault(month, {}).setdefault(str(account), set()).add(str(currency))
    return found


def read_charges(copy: Path, months: Collection[date], source: str | None) -> list[BilledCharges]:
    """Return the charges of months by source, account, issuer, invoice and currency; of one source, or of all."""
    from overrun.reconcile_invoices import BilledCharges

    with open_copy(copy) as warehouse:
        listed = ", ".join(f"date '{month}'" for month in sorted(months))
        rows = warehouse.rows(
            'select "x_Source", "x_LoadId", "x_BillingMonth", coalesce("BillingAccountId", \'\'),'
            ' coalesce("x_InvoicingEntity", "InvoiceIssuerName", \'\'), coalesce("InvoiceIssuerName", \'\'),'
            ' coalesce("InvoiceId", \'\'), coalesce("BillingCurrency", \'\'), sum("BilledCost"),'
            ' coalesce(sum(case when "ChargeCategory" = \'Tax\' then "BilledCost" end), 0)'
            f' from {COST_AND_USAGE.full_name} where "x_BillingMonth" in ({listed}) and (? is null or "x_Source" = ?)'
            " group by all order by all",
            [source, source],
        )
    return [
        BilledCharges(
            source=str(name),
            load_id=str(load_id),
            month=date.fromisoformat(str(month)),
            billing_account=str(account),
            issuer=str(issuer),
            sender=str(sender),
            invoice_id=str(invoice_id),
            currency=str(currency),
            billed=Decimal(str(billed)),
            tax=Decimal(str(tax)),
        )
        for name, load_id, month, account, issuer, sender, invoice_id, currency, billed, tax in rows
    ]


def read_accounts(copy: Path, source: str | None) -> set[str]:
    """Return the billing accounts of everything that is loaded, or of what is loaded of one source."""
    with open_copy(copy) as warehouse:
        if not has_relation(warehouse, LOAD_TOTAL.full_name):
            return set()
        rows = warehouse.rows(
            f"select distinct coalesce(total.billing_account_id, '') from {LOAD_TOTAL.full_name} as total"
            f" inner join {LOAD.full_name} as load using (load_id) where load.is_current"
            " and (? is null or load.source = ?)",
            [source, source],
        )
    return {str(row[0]) for row in rows}


def _last(months: list[date], ended_by: date | None) -> date:
    ended = [month for month in months if ended_by is None or next_month(month) <= ended_by]
    return ended[-1] if ended else months[-1]


def _months(warehouse: Warehouse, source: str) -> list[date]:
    """Return the loaded months of a source, in order."""
    if not has_relation(warehouse, LOAD.full_name):
        return []
    rows = warehouse.rows(
        f"select billing_month from {LOAD.full_name} where is_current and source = ? order by 1", [source]
    )
    return [row[0] for row in rows if isinstance(row[0], date)]


def _totals(warehouse: Warehouse, source: str, month: date) -> tuple[RawTotal, ...]:
    if not has_relation(warehouse, LOAD_RAW_TOTAL.full_name):
        return ()
    rows = warehouse.rows(
        "select raw.billing_account_id, raw.sub_account_id, raw.line_item_type, raw.metric, raw.billing_currency,"
        " sum(raw.amount)"
        f" from {LOAD_RAW_TOTAL.full_name} as raw inner join {LOAD.full_name} as load using (load_id)"
        " where load.is_current and load.source = ? and load.billing_month = ? and raw.amount is not null"
        " group by all order by all",
        [source, month],
    )
    return tuple(
        RawTotal(
            billing_account=str(billing_account or ""),
            account=str(account or ""),
            line_item_type=str(line_item_type or ""),
            metric=str(metric),
            currency=str(currency or ""),
            amount=Decimal(str(amount)),
        )
        for billing_account, account, line_item_type, metric, currency, amount in rows
    )
