"""Whatever the rules and the order of loads: no cost is lost, and the tables are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.run import analyse
from sql.contract import FINGERPRINT
from sql.errors import CheckFailed
from sql.model import load_models, parse_model
from sql.runner import build
from sql.settings import replace_settings
from sql.warehouse import Warehouse
from tests.fakes.parts import Charge, TagSet, load_part, make_warehouse

MODELS = load_models()
MONTHS = (date(2026, 9, 1), date(2026, 10, 1))
WORDS = st.sampled_from(["vision", "visionary", "VISION", "a_b", "a%b", "", " ", "ünï", "x'; drop table core.t; --"])
KEYS = st.sampled_from(["project", "Project", "team", "env"])
PATTERNS = st.sampled_from(["%", "vision%", "a\\_b", "a\\%b", "%n", "", "VISION", "1%"])
DIMENSIONS = st.sampled_from(["project", "team"])
COSTS = st.decimals(min_value=-1000, max_value=100000, places=12)

CHARGES = st.lists(
    st.fixed_dictionaries(
        {
            "BilledCost": COSTS,
            "EffectiveCost": COSTS,
            "ListCost": st.none() | COSTS,
            "x_PromotionalCredit": st.none() | st.decimals(min_value=-50, max_value=0, places=6),
            "BillingCurrency": st.sampled_from(["USD", "EUR"]),
            "ProviderName": st.sampled_from(["AWS", None]),
            "ChargePeriodStart": st.sampled_from(["2026-09-30 23:59:59.999", "2026-10-01 00:00:00"]),
            "ChargeCategory": st.sampled_from(["Usage", "Tax", "Credit", None]),
            "x_TagSetId": st.none() | st.integers(1, 4),
            "SubAccountId": st.none() | st.sampled_from(["1", "2"]),
            "ResourceId": st.none() | st.sampled_from(["i-1", "i-2"]),
        }
    ),
    max_size=12,
)
TAGS = st.dictionaries(st.tuples(st.integers(1, 4), KEYS), WORDS, max_size=8)
RULES = st.fixed_dictionaries(
    {
        "settings.attribution_rule": st.lists(
            st.tuples(st.integers(1, 4), DIMENSIONS, WORDS), max_size=6, unique_by=lambda rule: rule[:2]
        ),
        "settings.attribution_condition": st.lists(
            st.tuples(st.integers(1, 4), st.integers(1, 2), st.just("tag"), KEYS, PATTERNS)
            | st.tuples(st.integers(1, 4), st.integers(3, 4), st.just("account"), st.just(""), PATTERNS),
            max_size=8,
        ),
        "settings.attribution_tag": st.lists(
            st.tuples(DIMENSIONS, st.integers(1, 9), KEYS), max_size=5, unique_by=lambda tag: tag[:2]
        ).filter(lambda tags: len({(tag[0], tag[2]) for tag in tags}) == len(tags)),
        "settings.attribution_account": st.lists(
            st.tuples(st.sampled_from(["1", "2"]), WORDS), max_size=2, unique_by=lambda account: account[0]
        ),
        "settings.team_project": st.lists(st.tuples(WORDS, WORDS), max_size=4, unique_by=lambda pair: pair[1]),
    }
)
BUDGET = ("all", "cost", "effective", True, True, True, Decimal(100), "USD", "month", None)


def _configure(warehouse: Warehouse, rules: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
    night: dict[str, list[tuple[object, ...]]] = {
        "settings.night": [(date(2026, 10, 20),)],
        "settings.budget": [BUDGET],
    }
    replace_settings(warehouse, {**rules, **night, "settings.budget_threshold": [("all", "50%", Decimal(50))]})


def _tag_sets(tags: Mapping[tuple[int, str], str]) -> list[TagSet]:
    return [(number, key, value) for (number, key), value in tags.items()]


def _contents(warehouse: Warehouse) -> dict[str, list[str]]:
    """Return every row of every table that a build or an analysis writes, order and clocks apart."""
    tables = [model.full_name for model in MODELS] + ["analysis.budget_state", FINGERPRINT.full_name]
    return {table: sorted(str(row) for row in warehouse.rows(f"select * from {table}")) for table in tables}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(charges=CHARGES, tags=TAGS, rules=RULES)
def test_attribution_conserves_cost_whatever_the_rules(
    charges: list[dict[str, Any]],
    tags: dict[tuple[int, str], str],
    rules: dict[str, list[tuple[Any, ...]]],
) -> None:
    with make_warehouse() as warehouse:
        _configure(warehouse, rules)
        load_part(warehouse, source="aws", month=MONTHS[1], charges=charges, tag_sets=_tag_sets(tags))
        build(warehouse)
        for mart in ("project_daily_cost", "service_daily_cost", "resource_daily_cost", "monthly_cost"):
            query = f"select billing_currency, sum(billed_cost) from marts.{mart} group by billing_currency"
            found = {row[0]: row[1] for row in warehouse.rows(query)}
            wanted: dict[object, Decimal] = {}
            for charge in charges:
                wanted[charge["BillingCurrency"]] = (
                    wanted.get(charge["BillingCurrency"], Decimal(0)) + charge["BilledCost"]
                )
            assert found == wanted
        assert warehouse.value("select count(*) from core.attribution where project is null or team is null") == 0


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    loads=st.lists(st.tuples(st.sampled_from(MONTHS), CHARGES, TAGS), min_size=2, max_size=4),
    builds=st.lists(st.booleans(), min_size=4, max_size=4),
    rules=RULES,
)
def test_building_after_each_load_or_once_gives_the_same_tables(
    loads: list[tuple[date, list[Charge], dict[tuple[int, str], str]]],
    builds: list[bool],
    rules: dict[str, list[tuple[Any, ...]]],
) -> None:
    contents = []
    for does_build in (builds, [False] * len(builds)):
        with make_warehouse() as warehouse:
            for number, (month, charges, tags) in enumerate(loads):
                load_part(
                    warehouse, source="aws", month=month, charges=charges, tag_sets=_tag_sets(tags), version=str(number)
                )
                if does_build[number]:
                    build(warehouse)
                    analyse(warehouse)
            _configure(warehouse, rules)
            build(warehouse)
            analyse(warehouse)
            contents.append(_contents(warehouse))
    assert contents[0] == contents[1]


CHARGE = {
    "BilledCost": "1", "EffectiveCost": "1", "ListCost": "1", "BillingCurrency": "USD", "ChargeCategory": "Usage",
    "ChargePeriodStart": "2026-10-01 00:00:00", "SubAccountId": "1",
}  # fmt: skip

MUTATIONS = [
    ("core.charge_cube", "then 0 else charges.BilledCost end)", "then 0 else 2 * charges.BilledCost end)"),
    ("core.charge_cube", "count(case when spread.is_day then null else 1 end)", "1"),
    ("core.charge_cube", "is not distinct from attribution.tag_set_id", "= attribution.tag_set_id"),
    ("core.charge_cube", "- summed.promotional_credit as", "+ summed.promotional_credit as"),
    ("core.costs_attributed", "sum(charges.effective_cost)", "max(charges.effective_cost)"),
    ("core.costs_attributed", "from charges\ngroup", "from charges where project <> 'unattributed'\ngroup"),
    ("marts.project_daily_cost", "sum(costs.list_cost)", "min(costs.list_cost)"),
    ("marts.service_daily_cost", "from costs\ngroup", "from costs where service_name is not null\ngroup"),
    ("marts.monthly_cost", "sum(costs.billed_cost)", "max(costs.billed_cost)"),
    ("marts.resource_daily_cost", "from charges\n", "from charges where charges.resource_id is not null\n"),
    ("core.budget_daily_spend", "amounts.gross_amount + case", "amounts.gross_amount - case"),
    ("marts.budget_status", "coalesce(sum(spend.spent_amount), 0)", "coalesce(max(spend.spent_amount), 0)"),
    ("marts.reconciliation", "sum(costs.billed_cost)", "max(costs.billed_cost)"),
    ("marts.restatements", ", 0) - coalesce(", ", 0) + coalesce("),
]


@pytest.mark.parametrize(("name", "old", "new"), MUTATIONS, ids=lambda value: str(value)[:30])
def test_a_model_that_loses_money_is_caught_by_a_check(name: str, old: str, new: str) -> None:
    schema, table = name.split(".")
    folder = Path(__file__).parents[2] / "sql" / "models" / schema
    text = (folder / f"{table}.sql").read_text(encoding="utf-8")
    checks = (folder / f"{table}.check.sql").read_text(encoding="utf-8")
    assert old in text
    mutant = parse_model(schema, table, text.replace(old, new), checks)
    charges: list[Charge] = [
        CHARGE,
        CHARGE | {"BilledCost": "2", "EffectiveCost": "3", "ListCost": "4"},
        CHARGE | {"x_PromotionalCredit": "-1", "ResourceId": "i-1"},
        CHARGE | {"ChargePeriodStart": "2026-10-09 00:00:00", "ServiceName": "S", "ChargeCategory": "Tax"},
        CHARGE | {"ChargePeriodStart": "2026-10-09 00:00:00", "ListCost": "5"},
    ]
    with make_warehouse() as warehouse:
        _configure(warehouse, {})
        for version in ("1", "2"):
            load_part(warehouse, source="aws", month=MONTHS[1], charges=charges[int(version) - 1 :], version=version)
        load_part(warehouse, source="aws", month=MONTHS[1], charges=charges, version="3")
        build(warehouse)
        with pytest.raises(CheckFailed):
            build(warehouse, models=[mutant if model.full_name == name else model for model in MODELS])
