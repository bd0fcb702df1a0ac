"""Kinds of input that other products got wrong, and that no other test of ingestion pins."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from sql.runner import build
from sql.settings import replace_settings
from tests.fakes.exports import cur_line, cur_lines, deliver_export, deliver_legacy
from tests.house.test_docs_aws import listed_columns
from tests.ingest.night import Night, source


def test_an_export_by_the_documented_query_loads_with_nothing_unknown(night: Night, bucket: Path) -> None:
    line = cur_line(cost="2.5", resource_tags='{"user_team":"vision"}')
    columns = listed_columns()
    deliver_export(bucket, "2026-10", [[{name: line.get(name, "") for name in columns}]])

    night.load(source(bucket))

    assert night.values("BilledCost") == [Decimal("2.5")]
    assert night.tags() == {("team", "vision")}
    assert night.counts() == {}
    assert night.warehouse.value("select export_kind from ops.load") == "cur-2"


def test_a_reserved_database_costs_what_its_reservation_says_and_never_the_blended_cost(
    night: Night, bucket: Path
) -> None:
    database = {
        "line_item_product_code": "AmazonRDS",
        "line_item_usage_type": "InstanceUsage:db.r5.large",
        "line_item_blended_cost": "9",
        "line_item_blended_rate": "9",
    }
    reserved = {"reservation_reservation_a_r_n": "arn:ri", "reservation_effective_cost": "0.6"}
    rows = [
        cur_line(cost="0", item="DiscountedUsage", **database, **reserved),
        cur_line(cost="1", **database),
        cur_line(cost="-0.25", item="Credit", **database),
    ]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    assert night.rows('"ChargeCategory", "BilledCost", "EffectiveCost"') == [
        ("Usage", 0, Decimal("0.6")),
        ("Usage", 1, 1),
        ("Credit", Decimal("-0.25"), Decimal("-0.25")),
    ]


def test_fees_for_days_to_come_are_loaded_and_do_not_make_the_month_look_complete(night: Night, bucket: Path) -> None:
    plan = {"savings_plan_savings_plan_a_r_n": "arn:plan", "savings_plan_recurring_commitment_for_billing_period": "1"}
    days = [f"2026-10-{day:02d}" for day in range(1, 32)]
    rows = [
        cur_line(cost="1", item="SavingsPlanRecurringFee", start=f"{day}T00:00:00Z", end=f"{day}T23:00:00Z", **plan)
        for day in days
    ]
    rows.append(cur_line(cost="5", start="2026-10-09T22:00:00Z", end="2026-10-09T23:00:00Z"))
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))
    replace_settings(night.warehouse, {"settings.night": [(date(2026, 10, 10),)]})
    build(night.warehouse)

    assert night.billed() == 36
    assert night.warehouse.value("select last_usage_date from ops.load") == date(2026, 10, 9)
    assert night.warehouse.rows("select last_usage_date from marts.data_freshness") == [(date(2026, 10, 9),)]


@pytest.mark.parametrize("mart", ["monthly_cost", "project_daily_cost", "service_daily_cost", "resource_daily_cost"])
def test_no_table_adds_up_two_currencies(night: Night, tmp_path: Path, mart: str) -> None:
    deliver_legacy(tmp_path / "usd", "2026-10", [cur_lines("1", "2")])
    china = {"payer": "999999999999", "line_item_currency_code": "CNY", "bill_invoicing_entity": "Sinnet"}
    deliver_legacy(tmp_path / "cny", "2026-10", [cur_lines("40", **china)])

    night.load(source(tmp_path / "usd", name="aws"), source(tmp_path / "cny", name="aws-cn"))
    build(night.warehouse)

    assert night.warehouse.rows(
        f"select billing_currency, sum(billed_cost) from marts.{mart} group by 1 order by 1"
    ) == [("CNY", 40), ("USD", 3)]
