"""The demo's idle things: what the tables say is what its exported files say, added up by Python's decimals."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.fakes.demo import demo_folder
from tests.fakes.nights import query

NAT, ADDRESS = "nat-0b7e5d2c9a1f43680", "eipalloc-04c19de0b7a6f5238"
ENDPOINT = "arn:aws:sagemaker:us-east-1:222222222222:endpoint/segmenter-live"
WINDOWS = {
    NAT: (date(2026, 11, 4), date(2026, 11, 18)),
    ADDRESS: (date(2026, 11, 11), date(2026, 11, 18)),
    ENDPOINT: (date(2026, 11, 4), date(2026, 11, 18)),
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_folder(tmp_path_factory) / "demo"


def delivered(demo: Path) -> dict[str, Decimal]:
    """Return what the exported files say that each idle thing cost in its window."""
    columns = ["line_item_resource_id", "line_item_usage_start_date", "line_item_unblended_cost"]
    costs = dict.fromkeys(WINDOWS, Decimal(0))
    for path in sorted((demo / "exports/aws/acme/ml-cur2/data/BILLING_PERIOD=2026-11").rglob("*.parquet")):
        for row in pq.read_table(path, columns=columns).to_pylist():
            resource = row["line_item_resource_id"]
            if resource in WINDOWS:
                first, end = WINDOWS[resource]
                if first <= row["line_item_usage_start_date"].date() < end:
                    costs[resource] += Decimal(repr(row["line_item_unblended_cost"]))
    return costs


def test_idle_things_cost_what_the_files_say(demo: Path) -> None:
    rows = query(
        demo / "finance.duckdb",
        "select resource_id, wasted_cost, team from marts.waste_findings where is_counted"
        " and check_name in ('idle_nat', 'idle_address', 'idle_endpoint') order by 1",
    )
    expected = delivered(demo)
    # 14 days x 24 x 0.045, 7 x 24 x 0.005, and 10 working days and 4 at three quarters x 3 x 24 x 1.408.
    assert expected == {NAT: Decimal("15.12"), ADDRESS: Decimal("0.84"), ENDPOINT: Decimal("1317.888")}
    assert {row[0]: row[1] for row in rows} == expected
    assert {row[0]: row[2] for row in rows} == {NAT: "robotics", ADDRESS: "robotics", ENDPOINT: "vision"}


def test_waste_is_never_above_spend(demo: Path) -> None:
    rows = query(
        demo / "finance.duckdb",
        "select wasted.wasted_cost <= spent.spent_cost from (select sum(wasted_cost) as wasted_cost,"
        " min(window_start) as first_day, max(window_end) as end_day from marts.waste_findings where is_counted)"
        " as wasted"
        " cross join lateral (select sum(cost_before_credits) as spent_cost from marts.resource_daily_cost"
        " where charge_date >= wasted.first_day and charge_date < wasted.end_day) as spent",
    )
    assert rows == [(True,)]


def test_what_cannot_be_told_says_why(demo: Path) -> None:
    rows = query(demo / "finance.duckdb", "select check_name, reason from marts.waste_checks where source = 'gcp-main'")
    reasons = {str(row[0]): row[1] for row in rows}
    assert reasons["gp2_volume"] == "nothing is known of it on Google Cloud"
    assert reasons["old_snapshot"] == "only 78 of 90 days are loaded"
    assert reasons["idle_nat"] is None
