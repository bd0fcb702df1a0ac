"""Whatever is billed in whichever currencies: converted days come to their month, and each row is its rate's worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sql.errors import CheckFailed
from sql.model import Model, load_models, parse_model
from sql.runner import build
from sql.settings import replace_settings
from sql.warehouse import Warehouse
from tests.fakes.parts import load_part, make_warehouse

MONTH = date(2026, 10, 1)
MARTS = ("monthly_cost", "project_daily_cost", "service_daily_cost")
MEASURES = ("billed_cost", "effective_cost", "cost_before_credits", "list_cost")
DAYS = ("2026-09-30", "2026-10-01", "2026-10-02")
PLACES = Decimal("0.000000000001")

COSTS = st.decimals(min_value=-100_000, max_value=100_000_000, places=12)
CHARGES = st.lists(
    st.fixed_dictionaries(
        {
            "BilledCost": COSTS,
            "EffectiveCost": COSTS,
            "ListCost": st.none() | COSTS,
            "x_PromotionalCredit": st.none() | st.decimals(min_value=-50, max_value=0, places=12),
            "BillingCurrency": st.sampled_from(["USD", "CNY", "EUR", "IDR"]),
            "ChargePeriodStart": st.sampled_from(["2026-09-30 23:59:59", "2026-10-01 00:00:00", "2026-10-02 07:00:00"]),
            "ChargeCategory": st.sampled_from(["Usage", "Tax", "Credit", None]),
            "SubAccountId": st.none() | st.sampled_from(["1", "2"]),
            "ServiceName": st.none() | st.sampled_from(["a", "b"]),
        }
    ),
    max_size=12,
)
RATES = st.fixed_dictionaries(
    {
        code: st.lists(st.decimals(min_value=Decimal("0.000001"), max_value=9999, places=12), min_size=3, max_size=3)
        for code in ("USD", "CNY", "IDR")
    }
)


def _models() -> list[Model]:
    """Return the three marts and all that they stand on, in order."""
    models = load_models()
    wanted = {f"marts.{mart}" for mart in MARTS}
    for model in reversed(models):
        wanted |= model.dependencies if model.full_name in wanted else set()
    return [model for model in models if model.full_name in wanted]


MODELS = _models()


def _configure(warehouse: Warehouse, rates: Mapping[str, Sequence[Decimal]]) -> None:
    """Give EUR as the reporting currency and a rate for each of three days."""
    days = [*map(date.fromisoformat, DAYS), None]
    rows = [
        (code, days[number], days[number + 1], rate, days[number], 1, "made", "up")
        for code, listed in rates.items()
        for number, rate in enumerate(listed)
    ]
    replace_settings(warehouse, {"settings.currency": [("EUR", "charge-day")], "settings.exchange_rate": rows})


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(charges=CHARGES, rates=RATES)
def test_converted_days_come_to_their_month(charges: list[dict[str, Any]], rates: dict[str, list[Decimal]]) -> None:
    with make_warehouse() as warehouse:
        load_part(warehouse, source="aws", month=MONTH, charges=charges)
        _configure(warehouse, rates)
        build(warehouse, models=MODELS)
        for measure in MEASURES:
            totals = [warehouse.rows(f"select sum(converted_{measure}) from marts.{mart}") for mart in MARTS]
            assert totals[0] == totals[1] == totals[2]
            rows = warehouse.rows(
                f"select billing_currency, charge_date, {measure}, converted_{measure} from core.costs_converted"
            )
            worths = []
            for code, day, cost, converted in rows:
                rate = Decimal(1) if code == "EUR" else rates[str(code)][DAYS.index(str(day))]
                worth = None if cost is None else _worth(Decimal(str(cost)), rate)
                assert converted == worth
                worths += [] if worth is None else [worth]
            assert totals[0] == [(sum(worths) if worths else None,)]


def _worth(cost: Decimal, rate: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return (cost * rate).quantize(PLACES, rounding=ROUND_HALF_UP)


CHARGE = {
    "BilledCost": "1", "EffectiveCost": "3", "ListCost": "1", "BillingCurrency": "USD", "ChargeCategory": "Usage",
    "ChargePeriodStart": "2026-10-01 00:00:00",
}  # fmt: skip
MUTATIONS = [
    ("core.costs_converted", "    and costs.charge_date = rates.charge_date\n", ""),
    ("core.costs_converted", "    and costs.billing_currency = rates.billing_currency", ""),
    ("core.costs_converted", "then costs.effective_cost", "then costs.billed_cost"),
    ("core.costs_converted", "when rates.rate is not null", "when rates.rate < 0"),
    ("core.exchange_rate", "left join rates", "inner join rates"),
    ("core.exchange_rate", "cast(1 as decimal(18, 12))", "cast(2 as decimal(18, 12))"),
    ("core.exchange_rate", "dated.rate_day >= rates.from_date", "dated.rate_day > rates.from_date"),
    ("marts.monthly_cost", "sum(costs.converted_billed_cost)", "max(costs.converted_billed_cost)"),
    ("marts.project_daily_cost", "sum(costs.converted_list_cost)", "sum(costs.list_cost)"),
    ("marts.service_daily_cost", "sum(costs.converted_effective_cost)", "min(costs.converted_effective_cost)"),
]


@pytest.mark.parametrize(("name", "old", "new"), MUTATIONS, ids=lambda value: str(value)[:30])
def test_a_model_that_converts_wrongly_is_caught_by_a_check(name: str, old: str, new: str) -> None:
    schema, table = name.split(".")
    folder = Path(__file__).parents[2] / "sql" / "models" / schema
    text = (folder / f"{table}.sql").read_text(encoding="utf-8")
    assert old in text
    mutant = parse_model(schema, table, text.replace(old, new), (folder / f"{table}.check.sql").read_text("utf-8"))
    charges = [
        CHARGE,
        CHARGE | {"ChargePeriodStart": "2026-09-30 00:00:00"},
        CHARGE | {"ChargeCategory": "Tax"},
        CHARGE | {"BillingCurrency": "EUR"},
        CHARGE | {"BillingCurrency": "GBP"},
    ]
    with make_warehouse() as warehouse:
        load_part(warehouse, source="aws", month=MONTH, charges=charges[:4])
        _configure(warehouse, {"USD": [Decimal("0.9"), Decimal("0.8"), Decimal("0.7")]})
        build(warehouse, models=MODELS)
        with pytest.raises(CheckFailed):
            build(warehouse, models=[mutant if model.full_name == name else model for model in MODELS])
        # And an honest build of a currency without a rate is no better.
        load_part(warehouse, source="aws", month=MONTH, charges=charges, version="2")
        with pytest.raises(CheckFailed, match="every currency and day with costs has an exchange rate") as caught:
            build(warehouse, models=MODELS)
        assert caught.value.rows == [("GBP", "EUR", MONTH, MONTH, 1)]
