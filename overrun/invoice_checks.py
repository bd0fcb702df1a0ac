"""What invoices of a file were found to come to, kept for good. Table `invoice_check` of the state store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from sql.state import instant_from, instant_text

if TYPE_CHECKING:
    from overrun.reconcile_invoices import Comparison
    from sql.state import StateStore

_COLUMNS = (
    "checked_at, billing_month, source, load_id, billing_account_id, issuer, invoice_id, billing_currency,"
    " invoice_lines, billed_cost, invoiced_cost, billed_tax, invoiced_tax, tolerance, outcome"
)


def keep_checks(state: StateStore, comparisons: Sequence[Comparison], *, now: datetime) -> None:
    """Add what a file came to, all of it or nothing; what was found before stays."""
    with state.transaction():
        for comparison in comparisons:
            first = comparison.charges[0]
            tax = comparison.invoiced_tax
            state.execute(
                f"insert into invoice_check ({_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    instant_text(now),
                    first.month.isoformat(),
                    first.source,
                    first.load_id,
                    first.billing_account,
                    comparison.issuer,
                    comparison.invoice_id or None,
                    first.currency,
                    len(comparison.lines),
                    f"{comparison.billed:f}",
                    f"{comparison.invoiced:f}",
                    f"{comparison.billed_tax:f}",
                    None if tax is None else f"{tax:f}",
                    f"{comparison.tolerance:f}",
                    comparison.state,
                ),
            )


def check_rows(state: StateStore) -> list[tuple[object, ...]]:
    """Return everything that was found, as rows of `settings.invoice_check`."""
    return [
        (
            check_id,
            instant_from(checked_at).astimezone(UTC).replace(tzinfo=None),
            date.fromisoformat(month),
            source,
            *texts,
            lines,
            *(None if amount is None else Decimal(amount) for amount in amounts),
            outcome,
        )
        for check_id, checked_at, month, source, *texts, lines, b, i, bt, it, tolerance, outcome in state.rows(
            f"select check_id, {_COLUMNS} from invoice_check order by check_id"
        )
        for amounts in [(b, i, bt, it, tolerance)]
    ]
