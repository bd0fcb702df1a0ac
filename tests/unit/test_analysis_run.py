"""`analysis.budget_state`: written when its inputs change, and only then."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

import pytest

from analysis.errors import AnalysisError
from analysis.run import analyse
from sql.contract import BUDGET_STATE
from sql.runner import build
from sql.settings import replace_settings
from sql.warehouse import Warehouse
from tests.fakes.parts import load_part, make_warehouse, settings_rows

OCTOBER = date(2026, 10, 1)
BUDGET = {
    "budget_id": "b", "measure": "cost", "basis": "effective", "includes_credits": False, "includes_tax": False,
    "includes_refunds": False, "limit_amount": Decimal(100), "billing_currency": "USD", "period": "month",
    "team": "vision",
}  # fmt: skip


def _charge(day: int, cost: str, currency: str = "USD") -> dict[str, object]:
    return {
        "BilledCost": cost, "EffectiveCost": cost, "BillingCurrency": currency, "ChargeCategory": "Usage",
        "ChargePeriodStart": f"2026-10-{day:02} 00:00:00",
    }  # fmt: skip


def _as_of(warehouse: Warehouse, day: date) -> None:
    replace_settings(warehouse, {"settings.night": [(day,)]})
    build(warehouse)


def _states(warehouse: Warehouse, since: date = date(2000, 1, 1)) -> list[tuple[object, ...]]:
    return warehouse.rows(
        f"select threshold, state, crossed_on, spent_amount::bigint from {BUDGET_STATE.full_name}"
        " where period_start >= ? order by period_start, threshold_amount",
        [since],
    )


@pytest.fixture
def warehouse() -> Iterator[Warehouse]:
    with make_warehouse() as made:
        replace_settings(
            made,
            {
                "settings.budget": settings_rows("settings.budget", [BUDGET]),
                "settings.budget_threshold": [("b", "80%", Decimal(80)), ("b", "100%", Decimal(100))],
                "settings.source": [("aws", "aws-export", 1, False)],
            },
        )
        load_part(made, source="aws", month=OCTOBER, charges=[_charge(3, "50"), _charge(5, "40")])
        _as_of(made, date(2026, 10, 20))
        yield made


def test_states_of_the_period_that_contains_the_day(warehouse: Warehouse) -> None:
    assert analyse(warehouse)
    assert _states(warehouse) == [("80%", "crossed", date(2026, 10, 5), 90), ("100%", "ok", None, 90)]
    row = warehouse.row(f"select period_start, period_end, team, basis, complete_through from {BUDGET_STATE.full_name}")
    assert row == (OCTOBER, date(2026, 11, 1), "vision", "effective", date(2026, 10, 4))


def test_unchanged_inputs_are_skipped_and_a_new_threshold_is_not(warehouse: Warehouse) -> None:
    assert analyse(warehouse)
    assert not analyse(warehouse)
    replace_settings(warehouse, {"settings.budget_threshold": [("b", "90 USD", Decimal(90))]})
    build(warehouse)
    assert analyse(warehouse)
    assert _states(warehouse) == [("90 USD", "crossed", date(2026, 10, 5), 90)]
    assert not build(warehouse).changed


def test_the_next_period_starts_anew(warehouse: Warehouse) -> None:
    analyse(warehouse)
    _as_of(warehouse, date(2026, 11, 1))
    assert analyse(warehouse)
    assert _states(warehouse, since=date(2026, 11, 1)) == [("80%", "ok", None, 0), ("100%", "ok", None, 0)]
    assert _states(warehouse) != _states(warehouse, since=date(2026, 11, 1)), "October is still judged"
    _as_of(warehouse, date(2026, 11, 6))
    assert analyse(warehouse)
    assert _states(warehouse) == _states(warehouse, since=date(2026, 11, 1))


def test_another_currency_is_unknown(warehouse: Warehouse) -> None:
    charges = [_charge(3, "500"), _charge(5, "40", "JPY")]
    load_part(warehouse, source="aws", month=OCTOBER, charges=charges, version="2")
    build(warehouse)
    assert analyse(warehouse)
    assert _states(warehouse) == [("80%", "unknown", None, None), ("100%", "unknown", None, None)]


def test_nothing_is_judged_before_the_first_build() -> None:
    with make_warehouse() as empty, pytest.raises(AnalysisError, match="not built yet") as caught:
        analyse(empty)
    assert caught.value.hint == "run overrun build first"


def test_no_budget_leaves_an_empty_table(warehouse: Warehouse) -> None:
    analyse(warehouse)
    replace_settings(warehouse, {"settings.budget": [], "settings.budget_threshold": []})
    build(warehouse)
    assert analyse(warehouse)
    assert _states(warehouse) == []


def test_a_failure_leaves_the_last_states(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    analyse(warehouse)
    _as_of(warehouse, date(2026, 11, 1))
    monkeypatch.setattr("analysis.run._judged_rows", lambda _: [("too", "few")])
    with pytest.raises(Exception, match="Values were not provided"):
        analyse(warehouse)
    assert _states(warehouse)[0][1] == "crossed"
