"""Whatever the rules and the order of loads: no cost is lost, and the tables are the same."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.run import analyse
from overrun.config import Condition, Split
from overrun.settings_splits import split_rows
from sql.contract import FINGERPRINT
from sql.errors import CheckFailed
from sql.model import load_models, parse_model
from sql.parts import prepare
from sql.runner import build
from sql.settings import replace_settings
from sql.warehouse import Warehouse, WarehouseSettings
from tests.fakes.parts import Charge, TagSet, load_part, make_warehouse

MODELS = load_models()


def _upstream(name: str) -> set[str]:
    """Return a model and all that it stands on."""
    wanted = {name}
    for model in reversed(MODELS):
        wanted |= model.dependencies if model.full_name in wanted else set()
    return wanted


SHARED_MODELS = _upstream("core.costs_shared")
MONTHS = (date(2026, 9, 1), date(2026, 10, 1))
WORDS = st.sampled_from(["vision", "visionary", "VISION", "a_b", "a%b", "", " ", "ünï", "x'; drop table core.t; --"])
TAG_KEYS = ("project", "Project", "team", "env")
KEYS = st.sampled_from(TAG_KEYS)
PATTERNS = st.sampled_from(["%", "vision%", "a\\_b", "a\\%b", "%n", "", "VISION", "1%"])
DIMENSIONS = st.sampled_from(["project", "team", "environment", "workload", "cost_centre"])
PLACES = ("account", "account_name", "provider", "billing_account", "service", "region", "resource", "charge_category")
ASKED = (*(("tag", key) for key in TAG_KEYS), *((subject, "") for subject in PLACES))
"""What a rule may ask, once each: a condition has one subject, and the patterns of one subject are one condition."""
STARTS = st.none() | st.sampled_from([date(2026, 9, 1), date(2026, 10, 1), date(2026, 11, 1)])
TAKEN = st.tuples(st.just(None), st.just(None), st.just("")) | st.tuples(
    KEYS, st.sampled_from([None, "lower", "upper"]), st.sampled_from(["", "-x"])
)
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
            "ServiceName": st.none() | st.sampled_from(["vision", "a_b"]),
            "RegionId": st.none() | st.just("1"),
            "BillingAccountId": st.none() | st.sampled_from(["1", "2"]),
            "SubAccountName": st.none() | WORDS,
        }
    ),
    max_size=12,
)
TAGS = st.dictionaries(st.tuples(st.integers(1, 4), KEYS), WORDS, max_size=8)
RULES = st.fixed_dictionaries(
    {
        "settings.attribution_rule": st.lists(
            st.builds(
                lambda rule, taken, months: (*rule, *taken, *months),
                st.tuples(st.integers(1, 4), DIMENSIONS, WORDS),
                TAKEN,
                st.tuples(STARTS, STARTS),
            ),
            max_size=6,
            unique_by=lambda rule: rule[:2],
        ),
        "settings.attribution_condition": st.lists(
            st.builds(
                lambda rule, asked, pattern, exact: (rule, ASKED.index(asked) + 1, *asked, pattern, exact),
                st.integers(1, 4),
                st.sampled_from(ASKED),
                PATTERNS,
                st.none() | st.just("i-1") | WORDS,
            ),
            max_size=8,
        ),
        "settings.attribution_tag": st.lists(
            st.tuples(DIMENSIONS, st.integers(1, 9), KEYS), max_size=5, unique_by=lambda tag: tag[:2]
        ).filter(lambda tags: len({(tag[0], tag[2]) for tag in tags}) == len(tags)),
        "settings.attribution_account": st.lists(
            st.tuples(st.sampled_from(["1", "2"]), WORDS), max_size=2, unique_by=lambda account: account[0]
        ),
        "settings.owner": st.lists(
            st.tuples(WORDS, st.none() | WORDS, st.none() | WORDS, st.none() | WORDS, STARTS, STARTS),
            max_size=2,
            unique_by=lambda owner: owner[0],
        ),
        "settings.team_project": st.lists(st.tuples(WORDS, WORDS), max_size=4, unique_by=lambda pair: pair[1]),
    }
)
BUDGET = ("all", "cost", "effective", True, True, True, True, Decimal(100), "USD", "month", None)
NAMES = st.sampled_from(["vision", "v*", "nlp", "*"])
SHARED_SERVICES = st.sampled_from(["Support", "NAT"])
CONDITIONS = st.lists(
    st.builds(
        lambda subject, glob: Condition(subject=subject, tag_key="", globs=(glob,)),
        st.sampled_from(["project", "team", "charge_category"]),
        NAMES | st.just("Tax"),
    )
    | SHARED_SERVICES.map(lambda service: Condition(subject="service", tag_key="", globs=(service,))),
    min_size=1,
    max_size=2,
    unique_by=lambda condition: condition.subject,
).map(tuple)
SHARED_CHARGES = st.lists(
    st.fixed_dictionaries(
        {
            "BilledCost": COSTS,
            "EffectiveCost": COSTS,
            "ListCost": st.none() | COSTS,
            "x_PromotionalCredit": st.none() | st.decimals(min_value=-50, max_value=0, places=6),
            "BillingCurrency": st.sampled_from(["USD", "USD", "EUR"]),
            "ProviderName": st.sampled_from(["AWS", None]),
            "ChargePeriodStart": st.sampled_from(["2026-10-01 00:00:00", "2026-10-02 23:59:59.999"]),
            "ChargeCategory": st.sampled_from(["Usage", "Usage", "Tax", None]),
            "SubAccountId": st.sampled_from(["1", "2", "3", None]),
            "ServiceName": SHARED_SERVICES | st.sampled_from(["EC2", None]),
            "BillingAccountId": st.none() | st.sampled_from(["1", "2"]),
        }
    ),
    min_size=4,
    max_size=14,
)
OWNERS: dict[str, list[tuple[Any, ...]]] = {
    "settings.attribution_account": [("1", "vision"), ("2", "nlp"), ("3", "v2")],
    "settings.team_project": [("t", "vision"), ("t", "nlp")],
    "settings.owner": [("v2", None, "4711", "62", None, None)],
}
SPLITS = st.lists(
    st.builds(
        lambda share, of, method, each, to, weights, is_daily, months: Split(
            name="s",
            share=share,
            method=method,
            of=of if method == "cost" else (),
            each=each,
            recipients=tuple(weights.items()) if method == "weights" else tuple((glob, None) for glob in to),
            usage_file=None,
            is_daily=is_daily and method in {"cost", "usage"},
            from_month=months[0],
            until_month=months[1],
        ),
        CONDITIONS,
        st.just(()) | CONDITIONS,
        st.sampled_from(["cost", "even", "weights", "usage"]),
        st.sampled_from(["project", "team"]),
        st.lists(NAMES, max_size=2, unique=True),
        st.dictionaries(
            st.sampled_from(["vision", "nlp", "new"]), st.integers(1, 9).map(Decimal), min_size=1, max_size=3
        ),
        st.booleans(),
        st.tuples(st.none() | st.just(MONTHS[1]), st.none() | st.just(date(2026, 11, 1))),
    ),
    min_size=1,
    max_size=4,
)
QUANTITIES = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.just(MONTHS[1]),
        st.sampled_from([date(2026, 10, 1), date(2026, 10, 2)]),
        st.sampled_from(["vision", "new"]),
        st.decimals(min_value=0, max_value=9, places=3),
    ),
    max_size=4,
    unique_by=lambda quantity: quantity[:4],
)


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


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(charges=SHARED_CHARGES, splits=SPLITS, quantities=QUANTITIES, order=st.randoms(use_true_random=False))
def test_splits_conserve_every_cost_of_every_day_whatever_they_are(
    charges: list[dict[str, Any]],
    splits: list[Split],
    quantities: list[tuple[Any, ...]],
    order: random.Random,
) -> None:
    named = tuple(replace(split, name=f"s{number}") for number, split in enumerate(splits, start=1))
    shuffled = list(charges)
    order.shuffle(shuffled)
    models = [model for model in MODELS if model.full_name in SHARED_MODELS]
    contents = []
    for rows in (charges, shuffled):
        with make_warehouse() as warehouse:
            _configure(warehouse, {**OWNERS, **split_rows(named), "settings.split_usage": quantities})
            load_part(warehouse, source="aws", month=MONTHS[1], charges=rows)
            build(warehouse, models=models)
            sums = " from {} group by all order by all"
            amounts = "billed_cost", "effective_cost", "cost_before_credits", "list_cost", "charge_rows"
            query = "select charge_date, billing_account_id, billing_currency, "
            query += ", ".join(f"sum({amount})" for amount in amounts) + sums
            shared, attributed = (
                warehouse.rows(query.format(name)) for name in ("core.costs_shared", "core.costs_attributed")
            )
            assert shared == attributed
            assert not warehouse.rows("from core.costs_shared where billed_cost is null or project is null")
            contents.append(sorted(map(str, warehouse.rows("from core.costs_shared"))))
    assert contents[0] == contents[1]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(charges=CHARGES, tags=TAGS, rules=RULES, order=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(
    charges: list[dict[str, Any]],
    tags: dict[tuple[int, str], str],
    rules: dict[str, list[tuple[Any, ...]]],
    order: random.Random,
) -> None:
    attributed = ("core.attribution", "marts.monthly_cost", "marts.allocation_coverage", "marts.tag_problems")
    wanted = set().union(*map(_upstream, attributed))
    models = [model for model in MODELS if model.full_name in wanted]
    shuffled_charges, shuffled_sets = list(charges), _tag_sets(tags)
    order.shuffle(shuffled_charges)
    order.shuffle(shuffled_sets)
    contents = []
    for rows, sets in ((charges, _tag_sets(tags)), (shuffled_charges, shuffled_sets)):
        with make_warehouse() as warehouse:
            _configure(warehouse, rules)
            load_part(warehouse, source="aws", month=MONTHS[1], charges=rows, tag_sets=sets)
            build(warehouse, models=models)
            contents.append({name: sorted(map(str, warehouse.rows(f"select * from {name}"))) for name in attributed})
    assert contents[0] == contents[1]


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
    ("core.charge_sum", "then 0 else numbered.BilledCost end)", "then 0 else 2 * numbered.BilledCost end)"),
    ("core.charge_sum", "is not distinct from kinds.invoice_id", "= kinds.invoice_id"),
    ("core.charge_cube", "summed.billed_cost,", "2 * summed.billed_cost as billed_cost,"),
    ("core.charge_sum", "count(case when spread.is_day then null else 1 end)", "1"),
    ("core.charge_cube", "is not distinct from attribution.tag_set_id", "= attribution.tag_set_id"),
    ("core.charge_cube", "is not distinct from attribution.sub_account_id", "= 'x'"),
    ("core.charge_cube", "- summed.promotional_credit as", "+ summed.promotional_credit as"),
    ("core.costs_attributed", "sum(charges.effective_cost)", "max(charges.effective_cost)"),
    ("core.costs_attributed", "from charges\ngroup", "from charges where project <> 'unattributed'\ngroup"),
    ("marts.project_daily_cost", "sum(costs.list_cost)", "min(costs.list_cost)"),
    ("marts.service_daily_cost", "from costs\ngroup", "from costs where service_name is not null\ngroup"),
    ("marts.monthly_cost", "sum(costs.billed_cost)", "max(costs.billed_cost)"),
    ("marts.resource_daily_cost", "from charges\n", "from charges where charges.resource_id is not null\n"),
    ("core.budget_daily_spend", "amounts.gross_amount + case", "amounts.gross_amount - case"),
    ("marts.budget_status", "coalesce(sum(spend.spent_amount), 0)", "coalesce(max(spend.spent_amount), 0)"),
    ("marts.allocation_coverage", "sum(costs.charge_rows)", "max(costs.charge_rows)"),
    ("marts.reconciliation", "sum(costs.billed_cost)", "max(costs.billed_cost)"),
    ("marts.restatements", ", 0) - coalesce(", ", 0) + coalesce("),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a warehouse that is built, whose month was delivered three times: each mutant begins with a copy."""
    charges: list[Charge] = [
        CHARGE,
        CHARGE | {"BilledCost": "2", "EffectiveCost": "3", "ListCost": "4"},
        CHARGE | {"x_PromotionalCredit": "-1", "ResourceId": "i-1"},
        CHARGE | {"ChargePeriodStart": "2026-10-09 00:00:00", "ServiceName": "S", "ChargeCategory": "Tax"},
        CHARGE | {"ChargePeriodStart": "2026-10-09 00:00:00", "ListCost": "5"},
    ]
    path = tmp_path_factory.mktemp("built") / "warehouse.duckdb"
    with Warehouse.open(WarehouseSettings(path=path)) as warehouse:
        prepare(warehouse)
        _configure(warehouse, {})
        for version in ("1", "2"):
            load_part(warehouse, source="aws", month=MONTHS[1], charges=charges[int(version) - 1 :], version=version)
        load_part(warehouse, source="aws", month=MONTHS[1], charges=charges, version="3")
        build(warehouse)
        warehouse.checkpoint()
    return path


@pytest.mark.parametrize(("name", "old", "new"), MUTATIONS, ids=lambda value: str(value)[:30])
def test_a_model_that_loses_money_is_caught_by_a_check(
    built: Path, tmp_path: Path, name: str, old: str, new: str
) -> None:
    schema, table = name.split(".")
    folder = Path(__file__).parents[2] / "sql" / "models" / schema
    text = (folder / f"{table}.sql").read_text(encoding="utf-8")
    checks = (folder / f"{table}.check.sql").read_text(encoding="utf-8")
    assert old in text
    mutant = parse_model(schema, table, text.replace(old, new), checks)
    path = Path(shutil.copyfile(built, tmp_path / "warehouse.duckdb"))
    with Warehouse.open(WarehouseSettings(path=path)) as warehouse, pytest.raises(CheckFailed):
        build(warehouse, models=[mutant if model.full_name == name else model for model in MODELS])
