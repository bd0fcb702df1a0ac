"""What `overrun reconcile` says of a source of AWS: its export against Cost Explorer. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from overrun.reconcile_compare import TOLERANCE, Comparison, Line
from overrun.reconcile_show import CENT, SCHEMA_VERSION, Report
from sql.text import shortened

if TYPE_CHECKING:
    from ingest.aws.cost_explorer import CostExplorerAnswer

PAGE_PRICE = Decimal("0.01")
"""What AWS takes for one page of an answer, in USD."""
_NAME_LIMIT = 60
_COLUMNS = ("account", "line item type", "metric", "ours", "cost explorer", "difference", "currency")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """What is shown: the month of a source, both sides of it, and what was asked."""

    source: str
    month: date
    comparison: Comparison
    answer: CostExplorerAnswer
    shows_all: bool

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that are shown."""
        return self.comparison.lines if self.shows_all else self.comparison.differing


def report_of(reconciliation: Reconciliation) -> Report:
    """Return lines, totals and what to know about them."""
    rows = [_row(line) for line in reconciliation.lines]
    rows += [("total", *_row(line)[1:]) for line in reconciliation.comparison.totals]
    return Report(
        title=f"{reconciliation.source}, {reconciliation.month:%Y-%m}: ours against AWS Cost Explorer",
        columns=_COLUMNS,
        rows=rows,
        sentences=tuple(_sentences(reconciliation)),
        as_json=_as_json(reconciliation),
        is_tied=not reconciliation.comparison.differing,
    )


def _row(line: Line) -> tuple[object, ...]:
    return (
        line.account,
        shortened(line.line_item_type, _NAME_LIMIT),
        line.metric,
        line.ours.quantize(CENT),
        line.cost_explorer.quantize(CENT),
        line.difference.quantize(CENT),
        line.currency,
    )


def _sentences(reconciliation: Reconciliation) -> Iterator[str]:
    comparison, answer = reconciliation.comparison, reconciliation.answer
    count, differing = len(comparison.lines), len(comparison.differing)
    if differing:
        yield f"Does not tie: {differing} of {count} lines differ by more than {TOLERANCE}."
    else:
        yield f"Ties: none of {count} lines differs by more than {TOLERANCE}."
    yield "Cost Explorer rounds differently from the export, so that differences of up to a cent mean nothing."
    if answer.is_estimated:
        yield (
            f"AWS still estimates {reconciliation.month:%Y-%m}, and Cost Explorer is often some hours ahead of the"
            " export: reconcile again when the month is invoiced."
        )
    if comparison.focus_metric is not None:
        yield (
            "A FOCUS export has no line item types and no unblended cost: BilledCost is compared per account with"
            f" Cost Explorer's {comparison.focus_metric}."
        )
    if comparison.uncompared_metrics:
        yield f"Not compared, since the export has no such columns: {', '.join(comparison.uncompared_metrics)}."
    yield f"AWS charges {answer.pages * PAGE_PRICE} USD for asking ({answer.pages} x {PAGE_PRICE})."


def _as_json(reconciliation: Reconciliation) -> dict[str, object]:
    """Return the reconciliation as JSON values; amounts are strings, so that no digit is lost."""
    comparison, answer = reconciliation.comparison, reconciliation.answer
    return {
        "schema_version": SCHEMA_VERSION,
        "source": reconciliation.source,
        "month": f"{reconciliation.month:%Y-%m}",
        "ties": not comparison.differing,
        "is_estimated": answer.is_estimated,
        "pages": answer.pages,
        "compared_lines": len(comparison.lines),
        "differing_lines": len(comparison.differing),
        "lines": [_line_json(line) for line in reconciliation.lines],
        "totals": [_line_json(line) for line in comparison.totals],
        "uncompared_metrics": list(comparison.uncompared_metrics),
        "focus_metric": comparison.focus_metric,
    }


def _line_json(line: Line) -> dict[str, object]:
    return {
        "account": line.account,
        "line_item_type": line.line_item_type,
        "metric": line.metric,
        "currency": line.currency,
        "ours": f"{line.ours:f}",
        "cost_explorer": f"{line.cost_explorer:f}",
        "difference": f"{line.difference:f}",
        "ties": line.ties,
    }
