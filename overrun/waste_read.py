"""Findings and checks of the published copy, with what people dismissed since it was published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any, cast

from overrun.exits import CommandFailed, Exit
from overrun.published import has_relation

if TYPE_CHECKING:
    from sql.warehouse import Warehouse

_DIGITS = 76


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A row of `marts.waste_findings`, as far as people are shown it."""

    finding_id: str
    status: str
    check_name: str
    title: str
    source: str
    provider: str | None
    sub_account_id: str | None
    region_id: str | None
    resource_id: str | None
    resource_name: str | None
    project: str
    team: str
    billing_currency: str
    outcome: str
    is_counted: bool
    usage_cost: Decimal
    wasted_cost: Decimal
    cash_saving: Decimal
    monthly_cost: Decimal
    so_far_cost: Decimal
    saved_cost: Decimal
    charged_days: int
    window_start: date
    window_end: date
    evidence: str
    stop_step: str
    first_seen: date
    first_found: date
    age_days: int
    resolved_on: date | None
    dismissed_by: str | None
    dismissed_until: date | None
    dismissed_reason: str | None

    @property
    def is_open(self) -> bool:
        """Return whether it is wasted now, counts, and nobody dismissed it."""
        return self.is_counted and self.outcome == "waste" and self.status in {"new", "still"}

    @property
    def subject(self) -> str:
        """Return what it is of, as people know it."""
        return self.resource_name or self.resource_id or f"{self.sub_account_id or 'no account'} as a whole"


def read_findings(copy: Warehouse, *, project: str | None = None, team: str | None = None) -> list[Finding]:
    """Return the findings of a project, a team or everybody, those that cost most first."""
    _require(copy, "marts.waste_findings")
    names = tuple(Finding.__dataclass_fields__)
    rows = copy.rows(
        f"select {', '.join(names)} from marts.waste_findings where (? is null or project = ?)"
        " and (? is null or team = ?) order by monthly_cost desc, usage_cost desc, finding_id",
        [project, project, team, team],
    )
    return [Finding(**dict(zip(names, cast("Sequence[Any]", row), strict=True))) for row in rows]


def with_dismissals(
    findings: Iterable[Finding], dismissals: Iterable[tuple[object, ...]], as_of: date
) -> list[Finding]:
    """Return the findings with the last word of people on each, which may be newer than the copy."""
    said: dict[object, tuple[Any, ...]] = {row[0]: row for row in dismissals}
    return [
        _dismissed(finding, said[finding.finding_id], as_of) if finding.finding_id in said else finding
        for finding in findings
    ]


def _dismissed(finding: Finding, said: tuple[Any, ...], as_of: date) -> Finding:
    _, by, until, reason = said
    if finding.status == "resolved":
        return finding
    if until < as_of:
        status = "still" if finding.status == "dismissed" else finding.status
        return replace(finding, status=status, dismissed_by=None, dismissed_until=None, dismissed_reason=None)
    return replace(finding, status="dismissed", dismissed_by=by, dismissed_until=until, dismissed_reason=reason)


def read_checks(copy: Warehouse) -> list[dict[str, object]]:
    """Return every check in every source, and why it was not evaluated where it was not."""
    _require(copy, "marts.waste_checks")
    names = (
        "check_name", "title", "source", "state", "reason", "window_start", "window_end", "waste_findings",
        "advice_findings", "unknown_findings", "counted_findings", "wasted_cost", "billing_currency",
    )  # fmt: skip
    rows = copy.rows(f"select {', '.join(names)} from marts.waste_checks order by source, state, check_name")
    return [dict(zip(names, row, strict=True)) for row in rows]


def totals_of(findings: Iterable[Finding]) -> dict[str, Decimal]:
    """Return what open findings waste in a month, by currency."""
    totals: dict[str, Decimal] = {}
    with localcontext() as context:
        context.prec = _DIGITS
        for finding in findings:
            if finding.is_open:
                totals[finding.billing_currency] = (
                    totals.get(finding.billing_currency, Decimal(0)) + finding.monthly_cost
                )
    return totals


def _require(copy: Warehouse, relation: str) -> None:
    if not has_relation(copy, relation):
        raise CommandFailed(
            f"the published copy has no {relation}", code=Exit.USAGE, hint="run overrun nightly once with this version"
        )
