"""Invoice totals that people enter, for exports whose charges name no invoice. Table `invoice` of the state store.

They come typed or in a CSV file; every problem of a text is a ValueError or CommandFailed that says what to write.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from overrun.config_values import parse_currency
from overrun.exits import CommandFailed, Exit
from sql.state import instant_from, instant_text
from sql.text import shortened

if TYPE_CHECKING:
    from pathlib import Path

    from sql.state import StateStore

COLUMNS = ("month", "billing account", "invoice id", "currency", "amount")
"""Header of a file of invoices, in any order; an underscore or capitals do as well."""
FORM = "YYYYMM ACCOUNT AMOUNT CURRENCY [ID]"
_MONTH = re.compile(r"(?P<year>[1-9]\d{3})-?(?P<month>0[1-9]|1[0-2])", re.ASCII)
_AMOUNT = re.compile(r"-?\d{1,26}(?:\.\d{1,12})?", re.ASCII)
_ID_LIMIT = 100
_LARGEST_FILE = 10 * 1024 * 1024
_FEWEST_WORDS, _MOST_WORDS = 4, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """The total of one invoice, tax included, in `currency`."""

    invoice_id: str
    """Its number; where none is given, made of month, account and currency, so that entering it again replaces it."""
    month: date
    billing_account: str
    currency: str
    amount: Decimal
    entered_at: datetime | None = None
    """When it was first entered; None before that."""


def parse_invoice(text: str) -> Invoice:
    """Return the invoice of `YYYYMM ACCOUNT AMOUNT CURRENCY [ID]`; raises ValueError."""
    words = text.split()
    if not _FEWEST_WORDS <= len(words) <= _MOST_WORDS:
        raise ValueError(f'must be "{FORM}", like "202610 01ABCD-2345EF-6789AB 1234.56 USD 5012345678"')
    month, account, amount, currency = words[:_FEWEST_WORDS]
    return _invoice(month, account, amount, currency, "".join(words[_FEWEST_WORDS:]))


def read_invoices(path: Path) -> list[Invoice]:
    """Return the invoices of a CSV file with the header COLUMNS; raises CommandFailed that names the line."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise CommandFailed(
                f"{path} is larger than {_LARGEST_FILE} bytes", code=Exit.USAGE, hint="name a file of invoice totals"
            )
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(_of_rows(csv.reader(file), path))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandFailed(
            f"{path} cannot be read ({reason})", code=Exit.USAGE, hint="name a CSV file in UTF-8"
        ) from error


def _of_rows(rows: Iterable[list[str]], path: Path) -> Iterable[Invoice]:
    header: list[str] | None = None
    for number, row in enumerate(rows, start=1):
        if not any(cell.strip() for cell in row):
            continue
        if header is None:
            header = [" ".join(cell.replace("_", " ").split()).lower() for cell in row]
            if missing := [name for name in COLUMNS if name not in header]:
                raise CommandFailed(
                    f"{path} has no column {missing[0]!r}",
                    code=Exit.USAGE,
                    hint=f"its first line must be: {','.join(COLUMNS)}",
                )
            continue
        try:
            if len(row) != len(header):
                raise ValueError(f"has {len(row)} values under {len(header)} columns; quote what has a comma")
            cells = dict(zip(header, (cell.strip() for cell in row), strict=True))
            yield _invoice(
                cells["month"], cells["billing account"], cells["amount"], cells["currency"], cells["invoice id"]
            )
        except ValueError as error:
            raise CommandFailed(f"{path}, row {number}: {error}", code=Exit.USAGE) from error


def _invoice(month: str, account: str, amount: str, currency: str, invoice_id: str) -> Invoice:
    """Return an invoice of texts; raises ValueError."""
    first_day = month_of(month)
    total = amount_of(amount)
    checked_text("billing account", account)
    checked_text("invoice id", invoice_id, may_be_empty=True)
    checked_currency(currency)
    return Invoice(
        invoice_id=invoice_id or f"{first_day:%Y%m}-{account}-{currency}",
        month=first_day,
        billing_account=account,
        currency=currency,
        amount=total,
    )


def month_of(text: str) -> date:
    """Return the first day of `YYYYMM` or `YYYY-MM`; raises ValueError."""
    match = _MONTH.fullmatch(text)
    if match is None:
        raise ValueError(f"the month {shortened(text, 20)!r} must be YYYYMM or YYYY-MM")
    return date(int(match["year"]), int(match["month"]), 1)


def amount_of(text: str, name: str = "amount") -> Decimal:
    """Return a plain decimal number; raises ValueError."""
    if not _AMOUNT.fullmatch(text):
        raise ValueError(f"the {name} {shortened(text, 40)!r} must be a plain decimal number, like 1234.56")
    return Decimal(text)


def checked_text(name: str, value: str, *, may_be_empty: bool = False) -> str:
    """Return an identifier; raises ValueError where it cannot be one."""
    if len(value) > _ID_LIMIT or not value.isprintable() or not (value or may_be_empty):
        raise ValueError(f"the {name} must be a printable text of 1 to {_ID_LIMIT} characters")
    return value


def checked_currency(text: str) -> str:
    """Return a currency code; raises ValueError."""
    try:
        parse_currency(text)
    except ValueError as error:
        raise ValueError(f"the currency {error}") from error
    return text


def entered_invoices(state: StateStore) -> list[Invoice]:
    """Return every entered invoice, in order of month, account and id."""
    rows = state.rows(
        "select invoice_id, billing_month, billing_account_id, billing_currency, amount, entered_at from invoice"
        " order by billing_month, billing_account_id, invoice_id"
    )
    return [
        Invoice(
            invoice_id=invoice_id,
            month=date.fromisoformat(month),
            billing_account=account,
            currency=currency,
            amount=Decimal(amount),
            entered_at=instant_from(entered_at),
        )
        for invoice_id, month, account, currency, amount, entered_at in rows
    ]


def invoice_rows(invoices: Iterable[Invoice]) -> list[tuple[object, ...]]:
    """Return invoices as rows of `settings.invoice`."""
    return [
        (
            invoice.invoice_id,
            invoice.month,
            invoice.billing_account,
            invoice.currency,
            invoice.amount,
            None if invoice.entered_at is None else invoice.entered_at.astimezone(UTC).replace(tzinfo=None),
        )
        for invoice in invoices
    ]


def enter_invoices(state: StateStore, invoices: Sequence[Invoice], *, now: datetime) -> None:
    """Keep invoices, all or none; one with a known id has its amount corrected, and keeps the time of its first entry.

    Raises CommandFailed where an id is given twice, or is that of an invoice of another month, account or currency.
    """
    ids = [invoice.invoice_id for invoice in invoices]
    if repeated := next((name for name in ids if ids.count(name) > 1), None):
        raise CommandFailed(
            f"invoice {repeated} is given twice",
            code=Exit.USAGE,
            hint="give each invoice of a month its own id: several of them add up",
        )
    with state.transaction():
        known = {invoice.invoice_id: invoice for invoice in entered_invoices(state)}
        for invoice in invoices:
            _refuse_other(invoice, known.get(invoice.invoice_id))
            state.execute(
                "insert into invoice (invoice_id, billing_month, billing_account_id, billing_currency, amount,"
                " entered_at) values (?, ?, ?, ?, ?, ?)"
                " on conflict (invoice_id) do update set amount = excluded.amount",
                (
                    invoice.invoice_id,
                    invoice.month.isoformat(),
                    invoice.billing_account,
                    invoice.currency,
                    f"{invoice.amount:f}",
                    instant_text(now),
                ),
            )


def _refuse_other(invoice: Invoice, known: Invoice | None) -> None:
    """Refuse an id that another invoice has."""
    if known is None:
        return
    same = (known.month, known.billing_account, known.currency)
    if same != (invoice.month, invoice.billing_account, invoice.currency):
        raise CommandFailed(
            f"invoice {invoice.invoice_id} is entered for {known.month:%Y-%m}, {known.billing_account},"
            f" {known.currency}",
            code=Exit.USAGE,
            hint=f"remove it first with --remove {invoice.invoice_id}, or correct the id",
        )


def remove_invoice(state: StateStore, invoice_id: str) -> None:
    """Forget an entered invoice; raises CommandFailed where there is none with that id."""
    if not state.execute("delete from invoice where invoice_id = ?", (invoice_id,)):
        raise CommandFailed(
            f"no invoice {invoice_id} is entered", code=Exit.USAGE, hint="--list shows what is entered, with ids"
        )
