"""What `overrun reconcile --invoice FILE` says: charges of any provider against the invoices of a file. Pure.

An invoice is compared with the charges that carry its id, else with those of its billing account, issuer and month that
no other line of the file is compared with. Totals on an invoice are rounded to cents, so that they may differ by
TOLERANCE and LINE_TOLERANCE for each line of the file; what is within is shown as rounding. Tax, where the file has it,
is compared with the charges of FOCUS's category Tax.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from overrun.reconcile_gcp import plain_amount, sum_of
from overrun.reconcile_show import SCHEMA_VERSION, Report
from sql.text import shortened

if TYPE_CHECKING:
    from overrun.invoice_file import InvoiceLine

State = Literal["ties", "rounding", "differs", "no invoice"]

TOLERANCE = Decimal("0.01")
"""How far charges may differ from invoices, in their currency."""
LINE_TOLERANCE = Decimal("0.005")
"""What each line of the file adds: its total is rounded to a cent."""
_COLUMNS = ("month", "billing account", "issuer", "invoice", "what", "ours", "invoiced", "difference", "currency", "is")
_NAME_LIMIT = 40
_ACCOUNT_DIGITS = 12
_ZERO = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledCharges:
    """Charges of one source, month, account, issuer and invoice in one currency, summed."""

    source: str
    load_id: str
    month: date
    billing_account: str
    issuer: str
    """The legal entity where the export names one, else who sends the invoice."""
    sender: str
    invoice_id: str
    """Empty where the charges name none."""
    currency: str
    billed: Decimal
    tax: Decimal

    def is_of(self, issuer: str) -> bool:
        """Return whether an invoice's `issuer` is theirs; one that is not named is anybody."""
        return not issuer or issuer.casefold() in {self.issuer.casefold(), self.sender.casefold()}


@dataclass(slots=True, kw_only=True)
class Comparison:
    """Lines of the file against the charges that they are for."""

    charges: list[BilledCharges]
    """Empty where nothing that is loaded is for these lines."""
    lines: list[InvoiceLine] = field(default_factory=list)
    """Empty where no line of the file is for these charges."""

    @property
    def first(self) -> BilledCharges | InvoiceLine:
        """What says which month, account and currency both are of."""
        return self.charges[0] if self.charges else self.lines[0]

    @property
    def month(self) -> date:
        """Billing month of both."""
        return self.first.month

    @property
    def billing_account(self) -> str:
        """Payer."""
        return self.first.billing_account

    @property
    def currency(self) -> str:
        """Currency of both."""
        return self.first.currency

    @property
    def billed(self) -> Decimal:
        """What is loaded."""
        return sum_of(charge.billed for charge in self.charges)

    @property
    def billed_tax(self) -> Decimal:
        """What of it is tax."""
        return sum_of(charge.tax for charge in self.charges)

    @property
    def invoiced(self) -> Decimal:
        """What is invoiced."""
        return sum_of(line.total for line in self.lines)

    @property
    def invoiced_tax(self) -> Decimal | None:
        """What of it is tax; None where a line does not say."""
        taxes = [line.tax for line in self.lines if line.tax is not None]
        return sum_of(taxes) if taxes and len(taxes) == len(self.lines) else None

    @property
    def difference(self) -> Decimal:
        """What is loaded less what is invoiced."""
        return sum_of((self.billed, -self.invoiced))

    @property
    def tax_difference(self) -> Decimal | None:
        """The same of tax."""
        return None if self.invoiced_tax is None else sum_of((self.billed_tax, -self.invoiced_tax))

    @property
    def tolerance(self) -> Decimal:
        """How far both may differ."""
        return TOLERANCE + LINE_TOLERANCE * len(self.lines)

    @property
    def state(self) -> State:
        """Whether both are equal but for rounding, total and tax."""
        if not self.lines:
            return "no invoice"
        differences = (self.difference, self.tax_difference or _ZERO)
        if any(abs(difference) > self.tolerance for difference in differences):
            return "differs"
        return "rounding" if any(differences) else "ties"

    @property
    def issuer(self) -> str:
        """Names of the issuers, joined: of the charges, or where there are none of the lines."""
        return ", ".join(sorted({one.issuer for one in self.charges or self.lines if one.issuer}))

    @property
    def invoice_id(self) -> str:
        """Ids of the invoices, joined."""
        lines = [line.invoice_id for line in self.lines]
        return ", ".join(sorted({name for name in lines or [c.invoice_id for c in self.charges] if name}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What a file came to: its comparisons, or what is wrong with its lines."""

    comparisons: tuple[Comparison, ...]
    problems: tuple[tuple[int, str], ...]


def compare(lines: Sequence[InvoiceLine], charges: Sequence[BilledCharges], accounts: Iterable[str]) -> Compared:
    """Return each invoice beside its charges, and charges of the same accounts and months without one.

    `charges` are those of the file's months, `accounts` all billing accounts that are loaded.
    """
    work = _Matching(charges, {_folded(account): account for account in accounts})
    for line in [*filter(work.is_by_id, lines), *(line for line in lines if not work.is_by_id(line))]:
        problem = work.problem_of(line) or work.match(line)
        if problem:
            work.problems.append((line.line, problem))
    found = [*work.comparisons, *work.without_invoice()]
    found.sort(key=_place_of)
    return Compared(comparisons=tuple(found), problems=tuple(work.problems))


def _place_of(comparison: Comparison) -> tuple[object, ...]:
    first = comparison.first
    return first.month, first.billing_account, first.issuer, first.invoice_id or "", first.currency


def _place(charge: BilledCharges) -> tuple[object, ...]:
    return charge.month, charge.billing_account, charge.issuer, charge.invoice_id, charge.currency


def _folded(account: str) -> str:
    """Return an account as it is compared; a spreadsheet on the way may have eaten leading zeros."""
    return account.zfill(_ACCOUNT_DIGITS) if account.isdigit() else account.upper()


class _Matching:
    """Lines of the file finding their charges."""

    def __init__(self, charges: Sequence[BilledCharges], accounts: dict[str, str]) -> None:
        self.accounts = accounts
        self.problems: list[tuple[int, str]] = []
        self.comparisons: list[Comparison] = []
        self._charges = charges
        self._taken: dict[int, Comparison] = {}
        self._mentioned: set[tuple[date, str]] = set()

    def _of_month(self, line: InvoiceLine) -> list[BilledCharges]:
        account = _folded(line.billing_account)
        return [c for c in self._charges if c.month == line.month and _folded(c.billing_account) == account]

    def is_by_id(self, line: InvoiceLine) -> bool:
        """Return whether charges carry the invoice's id."""
        return bool(line.invoice_id) and any(c.invoice_id == line.invoice_id for c in self._of_month(line))

    def _candidates(self, line: InvoiceLine) -> list[BilledCharges]:
        """Return the charges that a line is for, of whatever currency, those taken by ids of other lines apart."""
        if self.is_by_id(line):
            return [charge for charge in self._of_month(line) if charge.invoice_id == line.invoice_id]
        of_issuer = [charge for charge in self._of_month(line) if charge.is_of(line.issuer)]
        taken = self._taken
        return [c for c in of_issuer if id(c) not in taken or not self.is_by_id(taken[id(c)].lines[0])]

    def problem_of(self, line: InvoiceLine) -> str | None:
        """Return why a line cannot be compared."""
        if _folded(line.billing_account) not in self.accounts:
            known = ", ".join(sorted(self.accounts.values()))
            return f"billing account {line.billing_account} is in nothing that is loaded; known are {known or 'none'}"
        charges = self._of_month(line)
        if not charges:
            return f"{line.month:%Y-%m} of billing account {line.billing_account} is not loaded"
        issuers = sorted({charge.issuer for charge in charges})
        if not self.is_by_id(line) and not line.issuer and len(issuers) > 1:
            return f"no issuer, and {line.month:%Y-%m} has charges of {', '.join(issuers)}"
        if not self.is_by_id(line) and not any(charge.is_of(line.issuer) for charge in charges):
            return f"{line.month:%Y-%m} has no charges of issuer {line.issuer!r}; it has those of {', '.join(issuers)}"
        candidates = self._candidates(line)
        currencies = sorted({charge.currency for charge in candidates})
        if candidates and line.currency not in currencies:
            return f"the invoice is in {line.currency}, its charges are in {' and '.join(currencies)}"
        return None

    def match(self, line: InvoiceLine) -> str | None:
        """Give a line its charges; return why it cannot have them."""
        charges = [charge for charge in self._candidates(line) if charge.currency == line.currency]
        self._mentioned.add((line.month, _folded(line.billing_account)))
        held = {id(self._taken[id(charge)]): self._taken[id(charge)] for charge in charges if id(charge) in self._taken}
        if not held:
            comparison = Comparison(charges=charges, lines=[line])
            self.comparisons.append(comparison)
            self._taken |= {id(charge): comparison for charge in charges}
            return None
        (first, *others) = held.values()
        if others or {id(charge) for charge in first.charges} != {id(charge) for charge in charges}:
            return f"its charges are in part those of line {first.lines[0].line}; name issuers alike"
        first.lines.append(line)
        return None

    def without_invoice(self) -> Iterator[Comparison]:
        """Yield charges of an account and month of the file that no line is for, if they come to more than a cent."""
        groups: dict[tuple[object, ...], list[BilledCharges]] = {}
        for charge in self._charges:
            if (charge.month, _folded(charge.billing_account)) in self._mentioned and id(charge) not in self._taken:
                groups.setdefault(_place(charge), []).append(charge)
        for charges in groups.values():
            comparison = Comparison(charges=charges)
            if abs(comparison.billed) > TOLERANCE:
                yield comparison


def report_of(comparisons: Sequence[Comparison], file: str) -> Report:
    """Return the report of a file."""
    return Report(
        title=f"{file}: ours against invoices",
        columns=_COLUMNS,
        rows=[row for comparison in comparisons for row in _rows(comparison)],
        sentences=tuple(_sentences(comparisons)),
        as_json={
            "schema_version": SCHEMA_VERSION,
            "ties": is_tied(comparisons),
            "invoices": [_as_json(comparison) for comparison in comparisons],
        },
        is_tied=is_tied(comparisons),
    )


def is_tied(comparisons: Iterable[Comparison]) -> bool:
    """Return whether nothing differs beyond rounding."""
    return all(comparison.state in {"ties", "rounding"} for comparison in comparisons)


def _rows(comparison: Comparison) -> Iterator[tuple[object, ...]]:
    names = (
        f"{comparison.month:%Y-%m}",
        comparison.billing_account,
        shortened(comparison.issuer, _NAME_LIMIT),
        shortened(comparison.invoice_id, _NAME_LIMIT) or None,
    )
    amounts = [("total", comparison.billed, comparison.invoiced, comparison.difference)]
    if comparison.invoiced_tax is not None and comparison.tax_difference is not None:
        amounts.append(("of it tax", comparison.billed_tax, comparison.invoiced_tax, comparison.tax_difference))
    for what, ours, invoiced, difference in amounts:
        plain = (plain_amount(ours), plain_amount(invoiced) if comparison.lines else None, plain_amount(difference))
        yield (*names, what, *plain, comparison.currency, comparison.state)


def _sentences(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for comparison in comparisons:
        where = f"{comparison.billing_account} in {comparison.month:%Y-%m}"
        if not comparison.charges:
            yield (
                f"No charges: line {comparison.lines[0].line}, {where}, is {plain_amount(comparison.invoiced)}"
                f" {comparison.currency}, and other lines have all that is loaded by their invoice ids."
            )
        elif comparison.state == "differs":
            lines = ", ".join(str(line.line) for line in comparison.lines)
            yield (
                f"Does not tie: line {lines}, {where}, differs by {plain_amount(comparison.difference)}"
                f" {comparison.currency}, and {comparison.tolerance} is allowed."
            )
        elif comparison.state == "no invoice":
            yield (
                f"No invoice: {plain_amount(comparison.billed)} {comparison.currency} of {comparison.issuer}, {where},"
                " are on no line of the file."
            )
    if is_tied(comparisons):
        yield "Ties: no invoice differs from its charges by more than rounding."
    yield f"Allowed are {TOLERANCE} and {LINE_TOLERANCE} per line of the file. Differences are ours less the invoice's."


def _as_json(comparison: Comparison) -> dict[str, object]:
    tax = comparison.invoiced_tax
    return {
        "month": f"{comparison.month:%Y-%m}",
        "billing_account": comparison.billing_account,
        "issuer": comparison.issuer,
        "invoice_id": comparison.invoice_id or None,
        "currency": comparison.currency,
        "file_lines": [line.line for line in comparison.lines],
        "state": comparison.state,
        "billed": f"{comparison.billed:f}",
        "invoiced": f"{comparison.invoiced:f}" if comparison.lines else None,
        "difference": f"{comparison.difference:f}",
        "billed_tax": f"{comparison.billed_tax:f}",
        "invoiced_tax": None if tax is None else f"{tax:f}",
        "tax_difference": None if comparison.tax_difference is None else f"{comparison.tax_difference:f}",
        "tolerance": f"{comparison.tolerance:f}",
    }
