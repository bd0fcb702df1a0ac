"""Two payers in two currencies over three months, the first of which is restated twice, once after it was final."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

from ingest.source import SourceSettings
from sql.runner import build
from sql.settings import replace_settings
from tests.fakes.exports import Row, cur_line, cur_lines, deliver_export, deliver_legacy
from tests.ingest.night import Night, source

CHINA = "999999999999"
PLAN = "arn:aws:savingsplans::111111111111:savingsplan/b"


def lines(month: str, *costs: str, invoice: str = "", **shared: str) -> list[Row]:
    first = f"{month}-03T00:00:00Z"
    return cur_lines(*costs, month=month, start=first, end=first, bill_invoice_id=invoice, **shared)


def china(month: str, *costs: str, invoice: str = "") -> list[Row]:
    return lines(month, *costs, invoice=invoice, payer=CHINA, account=CHINA, line_item_currency_code="CNY")


def run(night: Night, sources: list[SourceSettings], today: date) -> None:
    night.now = datetime(today.year, today.month, today.day, 3, tzinfo=UTC)
    night.load(*sources)
    replace_settings(night.warehouse, {"settings.night": [(today,)]})
    build(night.warehouse)


def test_two_payers_two_currencies_three_months_and_two_restatements(night: Night, tmp_path: Path) -> None:
    world, mainland = tmp_path / "world", tmp_path / "mainland"
    sources = [source(world, name="world"), source(mainland, name="mainland")]

    deliver_legacy(world, "2026-08", [lines("2026-08", "10", "2")])
    deliver_export(mainland, "2026-08", [china("2026-08", "70")])
    run(night, sources, date(2026, 9, 1))
    deliver_legacy(world, "2026-08", [lines("2026-08", "10", "3")], assembly="20260903T000000Z")
    deliver_legacy(world, "2026-09", [lines("2026-09", "20")])
    deliver_export(mainland, "2026-09", [china("2026-09", "80")])
    run(night, sources, date(2026, 9, 3))
    deliver_legacy(world, "2026-08", [lines("2026-08", "10", "3", invoice="I1")], assembly="20260907T000000Z")
    deliver_export(mainland, "2026-08", [china("2026-08", "70", invoice="C1")], execution="20260907T000000Z-e2")
    run(night, sources, date(2026, 9, 7))
    deliver_legacy(world, "2026-08", [lines("2026-08", "10", "3", "-0.5", invoice="I1")], assembly="20261001T000000Z")
    deliver_legacy(world, "2026-10", [lines("2026-10", "30")])
    deliver_export(mainland, "2026-10", [china("2026-10", "90")])
    run(night, sources, date(2026, 10, 14))

    restated = night.warehouse.rows(
        "select source, billing_month::varchar, previous_status, is_after_final, billing_currency, change_cost"
        " from marts.restatements order by source, billing_month, load_number"
    )
    assert restated == [
        ("mainland", "2026-08-01", "estimated", False, "CNY", 0),
        ("world", "2026-08-01", "estimated", False, "USD", 1),
        ("world", "2026-08-01", "estimated", False, "USD", 0),
        ("world", "2026-08-01", "final", True, "USD", Decimal("-0.5")),
    ]
    status = night.warehouse.rows(
        "select source, billing_month::varchar, status from marts.month_status order by source, billing_month"
    )
    assert status == [
        ("mainland", "2026-08-01", "final"),
        ("mainland", "2026-09-01", "estimated"),
        ("mainland", "2026-10-01", "open"),
        ("world", "2026-08-01", "restated"),
        ("world", "2026-09-01", "estimated"),
        ("world", "2026-10-01", "open"),
    ]
    monthly = night.warehouse.rows(
        "select billing_account_id, billing_currency, sum(billed_cost) from marts.monthly_cost group by all order by 1"
    )
    assert monthly == [("111111111111", "USD", Decimal("62.5")), (CHINA, "CNY", 240)]
    assert night.warehouse.rows("select bool_and(ties), count(*) from marts.reconciliation") == [(True, 6)]
    assert night.warehouse.rows("select news, source, news_cost, billing_currency from marts.month_news") == [
        ("restated", "world", Decimal("-0.5"), "USD")
    ]


def test_a_final_month_whose_commitments_miss_money_is_news_with_the_amount(night: Night, tmp_path: Path) -> None:
    rows = [
        cur_line(
            cost="5",
            item="SavingsPlanRecurringFee",
            month="2026-09",
            start="2026-09-01T00:00:00Z",
            end="2026-09-01T01:00:00Z",
            bill_invoice_id="I1",
            savings_plan_savings_plan_a_r_n=PLAN,
            savings_plan_savings_plan_effective_cost="",
            savings_plan_total_commitment_to_date="4.5",
            savings_plan_used_commitment="4",
        )
    ]
    deliver_legacy(tmp_path, "2026-09", [rows])

    run(night, [source(tmp_path)], date(2026, 10, 14))

    assert night.warehouse.rows("select news, source, news_cost, billing_currency from marts.month_news") == [
        ("unproven", "main", Decimal("4.5"), "USD")
    ]
    assert night.warehouse.rows("select ties, amortisation_gap_cost from marts.reconciliation") == [
        (True, Decimal("4.5"))
    ]
