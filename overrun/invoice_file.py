"""A file of invoice totals of any provider, as finance keeps it: `overrun reconcile --invoice FILE`.

    billing_month,billing_account_id,issuer,invoice_id,currency,total,tax
    2026-10,111122223333,"Amazon Web Services, Inc.",1234567890,USD,1250.40,200.40

`invoice_id` and `tax` may be empty, the first of them left out. What is wrong with a line is told with its number, of
all lines at once.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from overrun.exits import CommandFailed, Exit
from overrun.invoices import amount_of, checked_currency, checked_text, month_of

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("billing_month", "billing_account_id", "issuer", "invoice_id", "currency", "total", "tax")
"""Header of the file, in any order; other columns are passed over."""
_OPTIONAL = {"invoice_id"}
_LARGEST_FILE = 10 * 1024 * 1024
_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceLine:
    """One line of the file: the total of one invoice, tax included, in `currency`."""

    line: int
    """Its number in the file, the header's being 1."""
    month: date
    billing_account: str
    issuer: str
    """Empty where the file names none."""
    invoice_id: str
    """Empty where the file names none."""
    currency: str
    total: Decimal
    tax: Decimal | None
    """Tax within the total; None where the file does not say."""


def read_invoice_file(path: Path) -> list[InvoiceLine]:
    """Return the lines of a file; raises CommandFailed that names each line that cannot be taken."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise CommandFailed(
                f"{path} is larger than {_LARGEST_FILE} bytes", code=Exit.USAGE, hint="name a file of invoice totals"
            )
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(_numbered_rows(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandFailed(
            f"{path} cannot be read ({reason})", code=Exit.USAGE, hint="name a CSV file in UTF-8"
        ) from error
    return _lines(rows, path)


def refuse(path: Path, problems: Iterable[tuple[int, str]]) -> None:
    """Raise CommandFailed with `file:line: problem` of each problem, if there is any."""
    told = [f"{path}:{line}: {problem}" for line, problem in sorted(problems)]
    if len(told) > _MOST_PROBLEMS:
        told = [*told[:_MOST_PROBLEMS], f"and {len(told) - _MOST_PROBLEMS} more"]
    if told:
        raise CommandFailed("\n".join(told), code=Exit.USAGE, hint="correct the file; nothing was compared or kept")


def _numbered_rows(file: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not empty with the number of the line on which it begins."""
    reader = csv.reader(file, strict=True)
    start = 1
    for row in reader:
        if any(cell.strip() for cell in row):
            yield start, [cell.strip() for cell in row]
        start = reader.line_num + 1


def _lines(rows: list[tuple[int, list[str]]], path: Path) -> list[InvoiceLine]:
    if len(rows) <= 1:
        raise CommandFailed(f"{path} has no invoices", code=Exit.USAGE, hint=f"its first line is {','.join(COLUMNS)}")
    (number, cells), *others = rows
    header = [cell.lower().replace(" ", "_") for cell in cells]
    missing = [name for name in COLUMNS if name not in header and name not in _OPTIONAL]
    if missing or len(set(header)) < len(header):
        problem = f"no column {missing[0]}" if missing else "a column is named twice"
        raise CommandFailed(
            f"{path}:{number}: {problem}", code=Exit.USAGE, hint=f"its first line must be {','.join(COLUMNS)}"
        )
    found: list[InvoiceLine] = []
    problems: list[tuple[int, str]] = []
    for line, row in others:
        try:
            if len(row) != len(header):
                raise ValueError(f"{len(row)} values under {len(header)} columns; quote what has a comma")
            found.append(_line(line, dict(zip(header, row, strict=True))))
        except ValueError as error:
            problems.append((line, str(error)))
    refuse(path, [*problems, *_repeated(found)])
    return found


def _line(number: int, cells: Mapping[str, str]) -> InvoiceLine:
    """Return the invoice of a row; raises ValueError."""
    return InvoiceLine(
        line=number,
        month=month_of(re.sub(r"(?<=-\d\d)-01$", "", cells["billing_month"])),
        billing_account=checked_text("billing account", cells["billing_account_id"]),
        issuer=checked_text("issuer", cells["issuer"], may_be_empty=True),
        invoice_id=checked_text("invoice id", cells.get("invoice_id", ""), may_be_empty=True),
        currency=checked_currency(cells["currency"]),
        total=amount_of(cells["total"], "total"),
        tax=amount_of(cells["tax"], "tax") if cells["tax"] else None,
    )


def _repeated(lines: Iterable[InvoiceLine]) -> Iterator[tuple[int, str]]:
    """Yield the lines that repeat an earlier one: the same id, or without an id the same account, issuer and month."""
    seen: dict[tuple[object, ...], int] = {}
    for line in lines:
        account = line.billing_account.upper()
        key: tuple[object, ...] = (account, line.invoice_id)
        if not line.invoice_id:
            key = (account, line.month, line.issuer.casefold(), line.currency)
        if key in seen:
            what = f"invoice {line.invoice_id}" if line.invoice_id else "the same account, issuer and month"
            way = "" if line.invoice_id else "; give each invoice its invoice_id"
            yield line.line, f"{what} stands on line {seen[key]} already{way}"
        seen.setdefault(key, line.line)
