"""Every `tests/models/<model>/<case>.yaml`: the `given` tables go in, the model has the `expect` rows.

An absent column is null in `given`, and is not looked at in `expect` unless another row of the case names it.
Charges in `focus.cost_and_usage`, tags in `core.tag_set` and split costs in `core.split_cost` become one part per
source and month.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from sql.contract import ANALYSIS_TABLES, LEDGER_TABLES, USAGE_TABLES
from sql.model import Model, load_models
from sql.runner import build
from sql.settings import replace_settings
from sql.usage import mark_usage
from sql.warehouse import Warehouse
from tests.fakes.parts import insert_rows, load_part, make_warehouse, settings_rows

CASES = sorted(Path(__file__).parent.glob("*/*.yaml"))
MODELS = load_models()
LEDGER = {table.full_name: table for table in (*LEDGER_TABLES, *ANALYSIS_TABLES)}

Rows = Sequence[Mapping[str, Any]]


def _plain(value: object) -> object:
    """Return a value as both YAML and DuckDB can give it: numbers compare as numbers, all else as it is."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        return Decimal(str(value)).normalize() + 0
    return value


def _ordered(rows: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return sorted((tuple(_plain(value) for value in row) for row in rows), key=repr)


def _load_parts(warehouse: Warehouse, charges: Rows, tags: Rows, splits: Rows) -> None:
    keys = sorted({(row["x_Source"], row["x_BillingMonth"]) for row in charges})
    for source, month in keys:
        load_part(
            warehouse,
            source=source,
            month=month,
            charges=[row for row in charges if (row["x_Source"], row["x_BillingMonth"]) == (source, month)],
            tag_sets=[
                (tag["tag_set_id"], tag["tag_key"], tag["tag_value"])
                for tag in tags
                if (tag["source"], tag["billing_month"]) == (source, month)
            ],
            splits=[row for row in splits if (row["source"], row["billing_month"]) == (source, month)],
        )


def _fill(warehouse: Warehouse, given: Mapping[str, Rows]) -> None:
    parts = ("focus.cost_and_usage", "core.tag_set", "core.split_cost")
    _load_parts(warehouse, *(given.get(name, []) for name in parts))
    for load in given.get("ops.load", []):
        if load["is_current"]:
            load_part(warehouse, source=load["source"], month=load["billing_month"], charges=[])
            warehouse.execute("delete from ops.load where source = ?", [load["source"]])
    for name, table in LEDGER.items():
        insert_rows(warehouse, table, given.get(name, []))
    for table in USAGE_TABLES:
        insert_rows(warehouse, table, given.get(table.full_name, []))
    mark_usage(warehouse, USAGE_TABLES)
    settings = {name: settings_rows(name, rows) for name, rows in given.items() if name.startswith("settings.")}
    replace_settings(warehouse, settings)


def _with_upstream(name: str) -> list[Model]:
    """Return a model and what it stands on, in order."""
    wanted = {name}
    for model in reversed(MODELS):
        wanted |= model.dependencies if model.full_name in wanted else set()
    return [model for model in MODELS if model.full_name in wanted]


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_case(path: Path) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    model = next(model.full_name for model in MODELS if model.name == path.parent.name)
    with make_warehouse() as warehouse:
        _fill(warehouse, case["given"])
        report = build(warehouse, models=_with_upstream(model))
        columns = sorted({column for row in case["expect"] for column in row}) or ["*"]
        found = warehouse.rows(f"select {', '.join(columns)} from {model}")
    assert _ordered(found) == _ordered([tuple(row.get(column) for column in columns) for row in case["expect"]])
    assert report.warnings == case.get("warnings", [])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.full_name)
def test_every_model_has_three_cases_an_empty_one_among_them(model: Model) -> None:
    cases = {path.stem for path in CASES if path.parent.name == model.name}
    assert len(cases) >= 3
    assert "empty" in cases


def test_every_case_belongs_to_a_model() -> None:
    assert {path.parent.name for path in CASES} <= {model.name for model in MODELS}


def test_month_ends_are_half_open_whatever_the_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    for zone in ("Pacific/Auckland", "America/Los_Angeles"):
        monkeypatch.setenv("TZ", zone)
        with make_warehouse() as warehouse:
            charge = {"BilledCost": "1", "EffectiveCost": "1", "BillingCurrency": "USD", "ChargeCategory": "Usage"}
            load_part(
                warehouse,
                source="aws",
                month=date(2026, 4, 1),
                charges=[
                    charge | {"ChargePeriodStart": "2026-04-30 23:59:59.999"},
                    charge | {"ChargePeriodStart": "2026-05-01 00:00:00"},
                ],
            )
            build(warehouse, models=_with_upstream("core.costs_attributed"))
            days = warehouse.rows("select charge_date from core.costs_attributed order by charge_date")
        assert days == [(date(2026, 4, 30),), (date(2026, 5, 1),)]
