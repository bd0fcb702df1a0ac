"""Splits that came to nothing: what they took and found nobody for, and those that take nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from alerts.phrases import amount_text
from overrun.published import has_relation

if TYPE_CHECKING:
    from sql.warehouse import Warehouse

_UNSHARED = """
select shared.billing_month, shared.split_name, shared.billing_currency, sum(shared.billed_cost),
    sum(shared.effective_cost)
from core.shared_cost as shared
inner join settings.split as splits using (split_name)
where not exists (
    select 1 from core.sharing_share as share
    where share.billing_month = shared.billing_month and share.split_number = splits.split_number
        and share.billing_currency = shared.billing_currency
        and coalesce(share.charge_date, shared.charge_date) = shared.charge_date
        and share.recipient = case when splits.recipient_dimension = 'team' then shared.team else shared.project end
)
group by all
having sum(shared.billed_cost) <> 0 or sum(shared.effective_cost) <> 0
order by all
"""
# What an earlier split gives may be all that a split takes, so that only the names tell that it takes nothing.
_IDLE = """
with months as (select distinct billing_month from core.cost_group),
in_force as (
    select distinct splits.split_number, splits.split_name, splits.share_names + splits.share_others as conditions
    from settings.split as splits
    inner join months
        on (splits.from_month is null or splits.from_month <= months.billing_month)
        and (splits.until_month is null or months.billing_month < splits.until_month)
),
met as (
    select split_number, billing_month, count(distinct dimension) as conditions
    from core.sharing_value where part = 'share' group by all
)
select split_name from in_force
where not exists (
    select 1 from met where met.split_number = in_force.split_number and met.conditions = in_force.conditions
)
order by split_number
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsharedCost:
    """What a split took in a month, in `billing_currency`, and left where it was, since nobody had a weight."""

    billing_month: date
    split_name: str
    billing_currency: str
    billed_cost: Decimal
    effective_cost: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitStatus:
    """Splits of the published copy that do not do what they are for."""

    unshared: tuple[UnsharedCost, ...] = ()
    idle: tuple[str, ...] = ()
    """Splits in force with a condition that no cost and no recipient of an earlier split meets."""


def read_splits(warehouse: Warehouse) -> SplitStatus:
    """Return the splits that came to nothing; none where an earlier version made the copy."""
    if not has_relation(warehouse, "core.sharing_share"):
        return SplitStatus()
    return SplitStatus(
        unshared=tuple(read_unshared(warehouse)), idle=tuple(str(row[0]) for row in warehouse.rows(_IDLE))
    )


def read_unshared(warehouse: Warehouse) -> Iterator[UnsharedCost]:
    """Yield what splits took and left where it was, by month and split."""
    for month, name, currency, billed, effective in warehouse.rows(_UNSHARED):
        if isinstance(month, date) and isinstance(billed, Decimal) and isinstance(effective, Decimal):
            yield UnsharedCost(
                billing_month=month,
                split_name=str(name),
                billing_currency=str(currency),
                billed_cost=billed,
                effective_cost=effective,
            )


def split_lines(status: SplitStatus | None) -> Iterator[str]:
    """Yield the block for people; nothing where nothing is published."""
    if status is None:
        return
    if status.unshared or status.idle:
        yield from ("", "Splits that came to nothing")
    for cost in status.unshared:
        yield (
            f"  {cost.split_name}: nobody has a weight in {cost.billing_month:%Y-%m},"
            f" so that {amount_text(cost.effective_cost, cost.billing_currency)} stay where they were"
        )
    for name in status.idle:
        yield f"  {name}: no cost meets its share"


def split_json(status: SplitStatus | None) -> dict[str, object] | None:
    """Return the same as JSON values."""
    if status is None:
        return None
    return {
        "unshared": [
            {
                "billing_month": f"{cost.billing_month:%Y-%m}",
                "split_name": cost.split_name,
                "billing_currency": cost.billing_currency,
                "billed_cost": f"{cost.billed_cost:f}",
                "effective_cost": f"{cost.effective_cost:f}",
            }
            for cost in status.unshared
        ],
        "idle": list(status.idle),
    }
