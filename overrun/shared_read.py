"""What the copy for people says of shared costs: what splits give to a project, and what they take from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from overrun.published import has_relation
from sql.warehouse import Warehouse, literal

_SHARED = "core.shared_cost"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPart:
    """What splits moved from one project to another in a month, in `billing_currency`."""

    split_name: str
    """Split that gave the cost, the last where it went through several."""
    from_project: str
    project: str
    billed_cost: object
    effective_cost: object
    billing_currency: str


def shared_query(project: str, month: date) -> str:
    """Return the query that lists what splits moved to and from a project."""
    named = literal(project)
    return (
        "select split_name, from_project, project, sum(billed_cost) as billed_cost,\n"
        "    sum(effective_cost) as effective_cost, billing_currency\n"
        f"from {_SHARED}\nwhere billing_month = date '{month}' and (project = {named} or from_project = {named})\n"
        "group by split_name, from_project, project, billing_currency\n"
        "order by effective_cost desc, split_name, from_project, project, billing_currency"
    )


def shared_parts(warehouse: Warehouse, project: str, month: date) -> tuple[SharedPart, ...]:
    """Return what splits moved to and from a project; nothing in a copy that was made before there were splits."""
    if not has_relation(warehouse, _SHARED):
        return ()
    return tuple(
        SharedPart(
            split_name=str(split_name),
            from_project=str(from_project),
            project=str(to_project),
            billed_cost=billed,
            effective_cost=effective,
            billing_currency=str(currency),
        )
        for split_name, from_project, to_project, billed, effective, currency in warehouse.rows(
            shared_query(project, month)
        )
    )


def last_shared_month(warehouse: Warehouse, project: str) -> date | None:
    """Return the last month in which splits gave to a project."""
    if not has_relation(warehouse, _SHARED):
        return None
    found = warehouse.value(f"select max(billing_month) from {_SHARED} where project = ?", [project])
    return found if isinstance(found, date) else None
