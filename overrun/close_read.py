"""What is frozen when a month is closed, read from the published copy, so that it works while a night runs."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from overrun.accrual import PROFILE_DAYS, DayCost
from overrun.closed_months import ClosedLoad, Figure, Row
from overrun.published import has_column, has_relation
from overrun.settings_splits import splits_version
from sql.contract import LOAD

if TYPE_CHECKING:
    from sql.warehouse import Warehouse

_CUBE = "core.charge_cube"
_DAILY = "core.costs_attributed"
_SHARED = "core.costs_shared"
_MOVED = "core.cost_moved"


def read_loads(copy: Warehouse, month: date) -> list[ClosedLoad]:
    """Return the loads in force of a month, with its status and how far each source is complete."""
    if not has_relation(copy, "marts.month_status"):
        return []
    rows = copy.rows(
        "select load.source, load.load_id, load.version, status.status, fresh.complete_through"
        f" from {LOAD.full_name} as load"
        " inner join marts.month_status as status using (source, billing_month)"
        " left join marts.data_freshness as fresh using (source)"
        " where load.is_current and load.billing_month = ? order by load.source",
        [month],
    )
    return [
        ClosedLoad(
            source=str(source),
            load_id=str(load_id),
            version=str(version),
            status=str(status),
            complete_through=through if isinstance(through, date) else None,
        )
        for source, load_id, version, status, through in rows
    ]


def read_missing(copy: Warehouse, month: date) -> list[str]:
    """Return the sources in use that have delivered nothing of a month."""
    rows = copy.rows(
        "select fresh.source from marts.data_freshness as fresh where not fresh.is_retired and not exists"
        f" (select 1 from {LOAD.full_name} as load where load.is_current and load.source = fresh.source"
        " and load.billing_month = ?) order by 1",
        [month],
    )
    return [str(row[0]) for row in rows]


def read_figures(copy: Warehouse, month: date) -> list[Figure]:
    """Return the figures of a month as they are loaded, attributed and shared now, in a fixed order."""
    names = _names(copy, _CUBE)
    actual = copy.rows(
        "select source, provider, billing_account_id, invoice_id, sub_account_id, tag_set_id, service_name,"
        f" service_category, charge_category, project, team, {names}, billing_currency,"
        " sum(billed_cost), sum(effective_cost), sum(cost_before_credits), sum(list_cost),"
        f" sum(charge_rows)::bigint from {_CUBE} where billing_month = ? group by all order by all",
        [month],
    )
    return [*(_figure("actual", row) for row in actual), *(_figure("shared", row) for row in _moved(copy, month))]


def _moved(copy: Warehouse, month: date) -> list[Row]:
    """Return what splits move; nothing in a copy that was made before there were splits."""
    if not has_relation(copy, _MOVED):
        return []
    return copy.rows(
        "select source, provider, billing_account_id, invoice_id, null, null, service_name, service_category,"
        f" charge_category, project, team, {_names(copy, _MOVED)}, billing_currency, billed_cost, effective_cost,"
        f" cost_before_credits, list_cost, charge_rows from {_MOVED} where billing_month = ? order by all",
        [month],
    )


def read_splits_version(copy: Warehouse, month: date) -> str:
    """Return the hash of the splits that share a month."""
    tables = ("settings.split", "settings.split_condition", "settings.split_recipient", "settings.split_usage")
    if not has_relation(copy, tables[0]):
        return ""
    return splits_version({name: copy.rows(f"select * from {name}") for name in tables}, month)


def _figure(kind: Literal["actual", "shared"], row: Row) -> Figure:
    return Figure(
        source=str(row[0]),
        kind=kind,
        provider=_text(row[1]),
        billing_account_id=_text(row[2]),
        invoice_id=_text(row[3]),
        sub_account_id=_text(row[4]),
        tag_set_id=None if row[5] is None else int(str(row[5])),
        service_name=_text(row[6]),
        service_category=_text(row[7]),
        charge_category=_text(row[8]),
        project=str(row[9]),
        team=str(row[10]),
        cost_centre=_text(row[11]),
        gl_account=_text(row[12]),
        billing_currency=str(row[13]),
        billed_cost=_amount(row[14]),
        effective_cost=_amount(row[15]),
        cost_before_credits=_amount(row[16]),
        list_cost=None if row[17] is None else _amount(row[17]),
        charge_rows=int(str(row[18])),
    )


def read_days(copy: Warehouse, load: ClosedLoad, month: date) -> list[DayCost]:
    """Return daily usage of a source from PROFILE_DAYS before its last complete day on, credits and taxes apart."""
    if load.complete_through is None:
        return []
    daily = _SHARED if has_relation(copy, _SHARED) else _DAILY
    rows = copy.rows(
        f"select provider, billing_account_id, project, team, {_names(copy, daily)}, service_name, service_category,"
        " billing_currency, charge_date, sum(billed_cost), sum(effective_cost), sum(cost_before_credits),"
        f" sum(list_cost) from {daily} where source = ? and charge_category = 'Usage' and charge_date > ?"
        " and (charge_date <= ? or billing_month = ?) group by all order by all",
        [load.source, load.complete_through - timedelta(days=PROFILE_DAYS), load.complete_through, month],
    )
    return [
        DayCost(
            key=(_text(row[0]), _text(row[1]), str(row[2]), str(row[3]), *map(_text, row[4:8]), str(row[8])),  # type: ignore[arg-type]
            day=row[9],
            costs=tuple(Decimal(0) if amount is None else _amount(amount) for amount in row[10:14]),
        )
        for row in rows
        if isinstance(row[9], date)
    ]


def read_first_day(copy: Warehouse, source: str) -> date | None:
    """Return the first day on which a source has usage."""
    found = copy.value(
        f"select min(charge_date) from {_DAILY} where source = ? and charge_category = 'Usage'", [source]
    )
    return found if isinstance(found, date) else None


def _names(copy: Warehouse, relation: str) -> str:
    """Return the columns for cost centre and ledger account; null in a copy that was made before it had them."""
    return ", ".join(
        name if has_column(copy, relation, name) else f"cast(null as varchar) as {name}"
        for name in ("cost_centre", "gl_account")
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _amount(value: object) -> Decimal:
    return Decimal(str(value))
