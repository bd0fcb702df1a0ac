"""The journal of a month: what each project and team is charged, per service category and currency. Pure.

Amounts are rounded to cents; what rounding leaves of a currency's total goes to its largest line, so that the lines add
up to the total, rounded once. A line with nothing on it is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Literal

from overrun.closed_months import Figure

Basis = Literal["effective", "billed"]

COLUMNS = (
    "billing_month",
    "state",
    "project",
    "team",
    "cost_centre",
    "gl_account",
    "service_category",
    "billing_currency",
    "debit",
    "credit",
    "of_it_accrued",
    "basis",
)
_CENT = Decimal("0.01")
_ENOUGH_DIGITS = 60
_ZERO = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalLine:
    """One line; `amount` is in cents, the exact ones are not rounded."""

    project: str
    team: str
    cost_centre: str | None
    gl_account: str | None
    service_category: str | None
    billing_currency: str
    amount: Decimal
    exact_amount: Decimal
    exact_accrual: Decimal

    @property
    def key(self) -> tuple[str, ...]:
        """What lines are sorted by."""
        rest = (self.cost_centre or "", self.gl_account or "", self.service_category or "")
        return (self.billing_currency, self.team, self.project, *rest)

    @property
    def debit(self) -> Decimal | None:
        """What is charged; None on a line that gives something back."""
        return self.amount if self.amount > 0 else None

    @property
    def credit(self) -> Decimal | None:
        """What is given back; None on a line that charges."""
        return -self.amount if self.amount < 0 else None


def journal_of(figures: Iterable[Figure], basis: Basis) -> list[JournalLine]:
    """Return the lines of a month, by currency, team and project."""
    exact: dict[tuple[str, str, str | None, str | None, str | None, str], list[Decimal]] = {}
    with localcontext(prec=_ENOUGH_DIGITS):
        for figure in figures:
            cost = figure.billed_cost if basis == "billed" else figure.effective_cost
            account, category = figure.gl_account, figure.service_category
            key = (figure.project, figure.team, figure.cost_centre, account, category, figure.billing_currency)
            sums = exact.setdefault(key, [_ZERO, _ZERO])
            sums[0] += cost
            sums[1] += cost if figure.kind == "accrual" else _ZERO
        lines = [
            JournalLine(
                project=project,
                team=team,
                cost_centre=cost_centre,
                gl_account=gl_account,
                service_category=category,
                billing_currency=currency,
                amount=_rounded(amount),
                exact_amount=amount,
                exact_accrual=accrued,
            )
            for (project, team, cost_centre, gl_account, category, currency), (amount, accrued) in exact.items()
        ]
        lines.sort(key=lambda line: line.key)
        currencies = sorted({line.billing_currency for line in lines})
        whole = [
            line for code in currencies for line in _made_whole([one for one in lines if one.billing_currency == code])
        ]
    return [line for line in whole if line.amount]


def _made_whole(lines: Sequence[JournalLine]) -> list[JournalLine]:
    """Return the lines of a currency with the rest of rounding on the largest; the first in order where several are."""
    rest = _rounded(sum((line.exact_amount for line in lines), _ZERO)) - sum((line.amount for line in lines), _ZERO)
    largest = max(range(len(lines)), key=lambda index: (abs(lines[index].exact_amount), -index))
    return [replace(line, amount=line.amount + rest) if index == largest else line for index, line in enumerate(lines)]


def _rounded(amount: Decimal) -> Decimal:
    return amount.quantize(_CENT, rounding=ROUND_HALF_EVEN)
