"""Whatever containers are said to have cost, sharing their machines' charges neither makes nor loses money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sql.errors import CheckFailed, ModelError
from sql.model import load_models, parse_model
from sql.runner import build
from tests.fakes.parts import load_part, make_warehouse

MONTH = date(2026, 10, 1)
MODELS = load_models()
MONEY = st.decimals("-1000", "1000", places=12)
MACHINES = st.sampled_from(["i-1", "i-2"])
DAYS = st.sampled_from(["2026-10-01", "2026-10-02"])
CURRENCIES = st.sampled_from(["USD", "EUR"])
IDS = st.one_of(st.none(), st.integers(1, 3))
CHARGES = st.lists(
    st.builds(
        lambda machine, day, currency, tags, service, costs: {
            "ResourceId": machine, "ChargePeriodStart": f"{day} 05:00:00", "BillingCurrency": currency,
            "x_TagSetId": tags, "ServiceName": service, "SubAccountId": "1",
            **dict(zip(("BilledCost", "EffectiveCost", "ListCost", "x_PromotionalCredit"), costs, strict=True)),
        },
        st.one_of(st.none(), MACHINES, st.just("pod-1")), DAYS, CURRENCIES, IDS, st.sampled_from(["EC2", "Transfer"]),
        st.tuples(MONEY, MONEY, st.one_of(st.none(), MONEY), st.decimals("-9", "0", places=12)),
    ),
    max_size=8,
)  # fmt: skip
SPLITS = st.lists(
    st.builds(
        lambda machine, day, currency, tags, pod, cost, unused: {
            "parent_resource_id": machine, "charge_date": day, "billing_currency": currency, "tag_set_id": tags,
            "resource_id": pod, "sub_account_id": "1", "split_cost": cost, "unused_cost": unused,
        },
        MACHINES, DAYS, CURRENCIES, IDS, st.sampled_from(["pod-1", "pod-2", "i-1", None]), MONEY, MONEY,
    ),
    max_size=8,
)  # fmt: skip


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(charges=CHARGES, splits=SPLITS)
def test_sharing_conserves_every_cost_and_count(
    charges: Sequence[Mapping[str, Any]], splits: Sequence[Mapping[str, Any]]
) -> None:
    with make_warehouse() as warehouse:
        load_part(warehouse, source="aws", month=MONTH, charges=charges, splits=splits)
        build(warehouse)
        found = warehouse.rows(
            "select charge_date, billing_currency, service_name, sum(billed_cost), sum(effective_cost),"
            " sum(list_cost), sum(promotional_credit), sum(charge_rows) from core.charge_cube group by all order by all"
        )
        assert found == warehouse.rows(
            'select cast("ChargePeriodStart" as date), "BillingCurrency", "ServiceName", sum("BilledCost"),'
            ' sum("EffectiveCost"), sum("ListCost"), sum("x_PromotionalCredit"), count(*) from focus.cost_and_usage'
            " group by all order by all"
        )
        assert not warehouse.rows("select * from core.split_share where share_until > 1 or share_from < 0")


CHARGE = {
    "ResourceId": "i-1", "BilledCost": "1", "EffectiveCost": "1", "ListCost": "1", "ContractedCost": "1",
    "x_PromotionalCredit": "-1", "BillingCurrency": "USD", "ChargePeriodStart": "2026-10-01 00:00:00",
}  # fmt: skip
SPLIT = {
    "parent_resource_id": "i-1", "charge_date": MONTH, "billing_currency": "USD", "resource_id": "pod-1",
    "split_cost": Decimal("0.7"), "unused_cost": Decimal("0.1"),
}  # fmt: skip
MUTATIONS = [
    ("core.split_charge", "machines.billed_cost * bearers.share_from", "machines.billed_cost * 0"),
    ("core.split_charge", "machines.list_cost * bearers.share_until", "machines.list_cost"),
    ("core.split_charge", "else 0 end as charge_rows", "else 1 end as charge_rows"),
    ("core.split_charge", "sum(borne.contracted_cost)", "max(borne.contracted_cost)"),
    ("core.split_charge", "cast(1 as decimal(13, 12))", "parents.share_until"),
    ("core.split_share", "parents_charged.effective_cost > parents_charged.split_cost", "true"),
    ("core.charge_cube", "where parents.parent_resource_id is null\n", "\n"),
    ("core.charge_cube", " from shared\n)", " from shared where shared.parent_resource_id is null\n)"),
]


@pytest.mark.parametrize(("name", "old", "new"), MUTATIONS, ids=lambda value: str(value)[:40].strip())
def test_a_model_that_shares_wrongly_is_caught_by_a_check(name: str, old: str, new: str) -> None:
    schema, table = name.split(".")
    folder = Path(__file__).parents[2] / "sql" / "models" / schema
    text = (folder / f"{table}.sql").read_text(encoding="utf-8")
    check = folder / f"{table}.check.sql"
    assert old in text
    mutant = parse_model(
        schema, table, text.replace(old, new), check.read_text(encoding="utf-8") if check.exists() else ""
    )
    splits = [SPLIT, {**SPLIT, "resource_id": "pod-2"}]
    with make_warehouse() as warehouse:
        load_part(warehouse, source="aws", month=MONTH, charges=[CHARGE, {**CHARGE, "x_TagSetId": 5}], splits=splits)
        load_part(
            warehouse, source="b", month=MONTH, charges=[CHARGE], splits=[{**SPLIT, "split_cost": Decimal("1.7")}]
        )
        build(warehouse)
        with pytest.raises((CheckFailed, ModelError)):
            build(warehouse, models=[mutant if model.full_name == name else model for model in MODELS])
