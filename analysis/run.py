"""Reads marts, judges, writes the tables of schema `analysis`; the only module here that touches the warehouse.

Skipped where nothing that it reads has changed since the last time: the same fingerprints as the model runner's.
Called by the night after the build; `alerts` reads what it writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import cast

from analysis.budget import Threshold, judge_thresholds, least_settled
from analysis.errors import AnalysisError
from sql.contract import BUDGET_STATE, FINGERPRINT, WHOLE
from sql.model import digest_of
from sql.settings import settings_hash
from sql.warehouse import Warehouse

_VERSION = "3"
"""Raised when a judgement below changes, so that unchanged inputs are judged again."""

_MODELS = ("core.budget_daily_spend", "core.budget_source", "marts.budget_status", "marts.month_status")
_THRESHOLDS = "settings.budget_threshold"
_STATUS_COLUMNS = (
    "budget_id", "period_start", "period_end", "team", "basis", "spent_amount", "gross_amount", "net_amount",
    "limit_amount", "billing_currency", "complete_through",
)  # fmt: skip


def analyse(warehouse: Warehouse) -> bool:
    """Bring `analysis.budget_state` up to date in one transaction; return whether anything was written."""
    fingerprint = _fingerprint(warehouse)
    stored = warehouse.value(
        f"select fingerprint from {FINGERPRINT.full_name} where model = ? and billing_month = ?::date",
        [BUDGET_STATE.full_name, WHOLE],
    )
    if stored == fingerprint:
        return False
    rows = _judged_rows(warehouse)
    with warehouse.transaction():
        _replace_rows(warehouse, rows)
        warehouse.execute(f"delete from {FINGERPRINT.full_name} where model = ?", [BUDGET_STATE.full_name])
        warehouse.execute(
            f"insert into {FINGERPRINT.full_name} values (?, ?::date, ?)", [BUDGET_STATE.full_name, WHOLE, fingerprint]
        )
    return True


def _fingerprint(warehouse: Warehouse) -> str:
    """Return the hash of everything that the judgements are made from; raise AnalysisError before the first build."""
    built = warehouse.rows(
        f"select model, billing_month, fingerprint from {FINGERPRINT.full_name} where model in (?, ?, ?, ?)"
        " order by model, billing_month",
        _MODELS,
    )
    if not built:
        raise AnalysisError("the tables that budgets are judged by are not built yet", hint="run overrun build first")
    return digest_of([_VERSION, settings_hash(warehouse, _THRESHOLDS), *(str(row) for row in built)])


def _judged_rows(warehouse: Warehouse) -> list[tuple[object, ...]]:
    """Return the rows of `analysis.budget_state`, by budget, period and threshold amount."""
    spend, thresholds = _daily_spend(warehouse), _thresholds(warehouse)
    months = _month_statuses(warehouse)
    rows = []
    query = f"select {', '.join(_STATUS_COLUMNS)}, state from marts.budget_status order by budget_id, period_start"
    for *values, state in warehouse.rows(query):
        status = dict(zip(_STATUS_COLUMNS, values, strict=True))
        budget = str(status["budget_id"])
        daily = None if state == "unknown" else spend.get((budget, status["period_start"]), {})
        statuses = months.get((budget, status["period_start"]), frozenset())
        status |= {"month_status": least_settled(statuses), "is_month_restated": "restated" in statuses}
        for judged in judge_thresholds(daily, thresholds.get(budget, [])):
            row = status | {
                "threshold": judged.threshold.text,
                "threshold_amount": judged.threshold.amount,
                "state": judged.state,
                "crossed_on": judged.crossed_on,
            }
            rows.append(tuple(row[column.name] for column in BUDGET_STATE.columns))
    return rows


def _daily_spend(warehouse: Warehouse) -> Mapping[tuple[str, object], dict[date, Decimal]]:
    """Return (budget, first day of the period) -> day -> spend, through the night's day."""
    found: dict[tuple[str, object], dict[date, Decimal]] = {}
    rows = warehouse.rows(
        "select spend.budget_id, status.period_start, spend.charge_date, sum(spend.spent_amount)"
        " from core.budget_daily_spend as spend inner join marts.budget_status as status"
        " on spend.budget_id = status.budget_id"
        " and spend.charge_date >= status.period_start and spend.charge_date < status.period_end"
        " and spend.charge_date <= (select as_of from settings.night)"
        " where status.state <> 'unknown'"
        " group by spend.budget_id, status.period_start, spend.charge_date"
    )
    for budget, period_start, day, amount in rows:
        found.setdefault((str(budget), period_start), {})[cast("date", day)] = cast("Decimal", amount)
    return found


def _month_statuses(warehouse: Warehouse) -> Mapping[tuple[str, object], frozenset[str]]:
    """Return (budget, first day of the period) -> how settled that month is in the sources whose charges count.

    Where no charge counts, it is every source.
    """
    rows = warehouse.rows(
        "select status.budget_id, status.period_start, list(distinct months.status)"
        " from marts.budget_status as status inner join marts.month_status as months"
        " on months.billing_month = status.period_start"
        " left join core.budget_source as source on source.budget_id = status.budget_id"
        " and source.period_start = status.period_start and source.source = months.source"
        " where status.matched_rows = 0 or source.source is not null group by all"
    )
    return {(str(budget), start): frozenset(map(str, cast("list[str]", found))) for budget, start, found in rows}


def _thresholds(warehouse: Warehouse) -> Mapping[str, list[Threshold]]:
    """Return budget -> its thresholds."""
    found: dict[str, list[Threshold]] = {}
    for budget, text, amount in warehouse.rows(f"select budget_id, threshold, threshold_amount from {_THRESHOLDS}"):
        found.setdefault(str(budget), []).append(Threshold(text=str(text), amount=cast("Decimal", amount)))
    return found


def _replace_rows(warehouse: Warehouse, rows: list[tuple[object, ...]]) -> None:
    """Replace the content of `analysis.budget_state`."""
    warehouse.execute(f"delete from {BUDGET_STATE.full_name}")
    if rows:
        marks = f"({', '.join('?' for _ in BUDGET_STATE.columns)})"
        warehouse.execute(
            f"insert into {BUDGET_STATE.full_name} values {', '.join(marks for _ in rows)}",
            [value for row in rows for value in row],
        )
