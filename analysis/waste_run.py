"""Writes `analysis.waste_state` from `core.waste_judged` and what it held before; called by the night after the build.

Skipped where nothing that it reads has changed since the last time. What it holds is memory as well as conclusion:
since when a resource is wasted is written nowhere else, and a rebuild of the warehouse takes it along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import date
from typing import Any, cast

from analysis.waste import Check, Evaluation, Followed, Found, follow, numbers_of
from analysis.waste_steps import stop_step
from sql.contract import FINGERPRINT, WASTE_EVALUATED, WASTE_STATE, WHOLE, Table
from sql.model import digest_of
from sql.settings import settings_hash
from sql.warehouse import Warehouse

_VERSION = "2"
"""Raised when the life of a finding is judged otherwise, so that unchanged inputs are judged again."""
_FOUND = tuple(field.name for field in fields(Found))
_LIFE = tuple(field.name for field in fields(Followed) if field.name != "found")
_ROWS_AT_ONCE = 500


def follow_waste(warehouse: Warehouse) -> bool:
    """Bring `analysis.waste_state` up to date in one transaction; return whether anything was written."""
    fingerprint = _fingerprint(warehouse)
    stored = warehouse.value(
        f"select fingerprint from {FINGERPRINT.full_name} where model = ? and billing_month = ?::date",
        [WASTE_STATE.full_name, WHOLE],
    )
    if stored == fingerprint:
        return False
    as_of = cast("date", warehouse.value("select as_of from settings.night"))
    evaluation = _evaluation(warehouse)
    numbers_before = _numbers_before(warehouse)
    followed = follow(_found(warehouse), _known(warehouse), evaluation, numbers_before, as_of)
    kept = {check: numbers for check, numbers in numbers_before.items() if check not in evaluation.off}
    numbers = {**kept, **evaluation.numbers}
    with warehouse.transaction():
        _replace(warehouse, WASTE_STATE, [_row(item) for item in followed])
        _replace(warehouse, WASTE_EVALUATED, [(*check, text) for check, text in sorted(numbers.items())])
        warehouse.execute(f"delete from {FINGERPRINT.full_name} where model = ?", [WASTE_STATE.full_name])
        warehouse.execute(
            f"insert into {FINGERPRINT.full_name} values (?, ?::date, ?)", [WASTE_STATE.full_name, WHOLE, fingerprint]
        )
    return True


def _fingerprint(warehouse: Warehouse) -> str:
    """Return the hash of everything that the judgement is made from, what was known before apart."""
    built = warehouse.rows(
        f"select model, fingerprint from {FINGERPRINT.full_name} where model in ('core.waste_judged',"
        " 'core.waste_window') order by model"
    )
    return digest_of([_VERSION, settings_hash(warehouse, "settings.night"), *(str(row) for row in built)])


def _evaluation(warehouse: Warehouse) -> Evaluation:
    """Return which checks were made, and with which numbers."""
    numbers: dict[Check, str] = {}
    ends: dict[Check, date] = {}
    off: set[Check] = set()
    for source, check_name, end, is_enabled, reason, *values in warehouse.rows(
        "select windows.source, windows.check_name, windows.window_end, checks.is_enabled, windows.reason,"
        " windows.window_days, windows.minimum_days, windows.saving_share, windows.limit_number"
        " from core.waste_window as windows inner join settings.waste_check as checks using (check_name)"
    ):
        check = (str(source), str(check_name))
        if not is_enabled:
            off.add(check)
        elif reason is None:
            numbers[check] = numbers_of(values)
            ends[check] = cast("date", end)
    return Evaluation(numbers=numbers, ends=ends, off=frozenset(off), charged=_charged(warehouse))


def _charged(warehouse: Warehouse) -> frozenset[tuple[str, str, str]]:
    """Return which resources are charged on the last day of a check's window, for what the check looks at."""
    rows = warehouse.rows(
        "select distinct windows.source, windows.check_name, usage.resource_id from core.waste_window as windows"
        " inner join settings.waste_check as checks using (check_name)"
        " inner join core.waste_usage as usage on usage.source = windows.source and usage.meaning = checks.meaning"
        " and usage.charge_date = windows.window_end - 1 and usage.cost_before_credits > 0"
        " where windows.reason is null and usage.resource_id is not null"
    )
    return frozenset((str(source), str(check_name), str(resource)) for source, check_name, resource in rows)


def _numbers_before(warehouse: Warehouse) -> dict[Check, str]:
    """Return with which numbers each check was made the last time that it could be."""
    rows = warehouse.rows(f"select source, check_name, numbers from {WASTE_EVALUATED.full_name}")
    return {(str(source), str(check_name)): str(numbers) for source, check_name, numbers in rows}


def _known(warehouse: Warehouse) -> Mapping[str, Followed]:
    """Return what was known before tonight, of sources that are still configured."""
    rows = warehouse.rows(
        f"select {', '.join((*_FOUND, *_LIFE))} from {WASTE_STATE.full_name}"
        " where source in (select source from settings.source where not is_retired)"
    )
    known = {}
    for row in rows:
        values: dict[str, Any] = dict(zip((*_FOUND, *_LIFE), row, strict=True))
        found = Found(**{name: values[name] for name in _FOUND})
        known[found.finding_id] = Followed(found=found, **{name: values[name] for name in _LIFE})
    return known


def _found(warehouse: Warehouse) -> list[Found]:
    """Return what the checks found tonight."""
    rows = warehouse.rows(f"select {', '.join(_FOUND)} from core.waste_judged")
    return [Found(**dict(zip(_FOUND, cast("Sequence[Any]", row), strict=True))) for row in rows]


def _row(item: Followed) -> tuple[object, ...]:
    """Return a finding in the order of the contract."""
    found = item.found
    values = {name: getattr(found, name) for name in _FOUND} | {name: getattr(item, name) for name in _LIFE}
    values["finding_id"] = found.finding_id
    values["monthly_cost"] = found.monthly_cost
    values["stop_step"] = stop_step(
        found.check_name,
        found.provider or "",
        resource_id=found.resource_id,
        region=found.region_id,
        sub_account=found.sub_account_id,
        is_waste=found.outcome == "waste",
    )
    return tuple(values[column.name] for column in WASTE_STATE.columns)


def _replace(warehouse: Warehouse, table: Table, rows: Sequence[tuple[object, ...]]) -> None:
    """Replace the content of a table."""
    warehouse.execute(f"delete from {table.full_name}")
    columns = ", ".join(f"unnest(?::{column.type}[])" for column in table.columns)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        chunk = zip(*rows[start : start + _ROWS_AT_ONCE], strict=True)
        warehouse.execute(f"insert into {table.full_name} select {columns}", [list(values) for values in chunk])
