"""Split cost allocation data: rows that repeat parts of a machine's cost are no charges, but say who bears it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.drop import drop_source
from ingest.landing import RECORD
from ingest.rebuild import rebuild
from ingest.rename import apply_renames
from sql.files import remove_tree
from sql.parts import split_name
from sql.runner import build
from sql.settings import replace_settings
from sql.warehouse import Warehouse, WarehouseSettings
from tests.fakes.exports import Row, cur_line, deliver_export, deliver_legacy
from tests.ingest.night import NOW, Night, source

DROPPED = ("split cost allocation row, part of its parent's cost", "")
ORPHANS = ("split cost allocation row without a charge of its parent that day, left out", "")
TEAM_TAGS = {"settings.attribution_tag": [("team", 1, "team")]}
SPLIT_TABLES = (
    "select count(*) from duckdb_tables() where schema_name = 'parts' and table_name like '%\\_\\_split' escape '\\'"
)

Deliver = Callable[[Path, Sequence[Row]], object]


def tagged(team: str | None, *, is_map: bool) -> dict[str, Any]:
    """Return the column that holds a tag in either form of report."""
    if is_map:
        return {"resource_tags": {} if team is None else {"user_team": team}}
    return {"resourceTags/user:team": team or ""}


def pod(
    name: str,
    split: str,
    unused: str = "0",
    *,
    parent: str = "i-0001",
    operation: str = "EKSPod-EC2",
    start: str = "2026-10-01T00:00:00Z",
    **others: Any,  # noqa: ANN401 - a column of any type
) -> Row:
    """Return the split row of one container: no cost of its own, its part of its parent's in the split columns."""
    return cur_line(
        cost="0",
        start=start,
        resource=name,
        line_item_operation=operation,
        line_item_usage_type="EKS-EC2-vCPU-Hours",
        split_line_item_parent_resource_id=parent,
        split_line_item_split_cost=split,
        split_line_item_unused_cost=unused,
        split_line_item_split_usage="0.5",
        split_line_item_actual_usage="0.25",
        split_line_item_reserved_usage="0.5",
        **others,
    )


def legacy(bucket: Path, rows: Sequence[Row]) -> object:
    """Deliver a legacy report."""
    return deliver_legacy(bucket, "2026-10", [rows])


def cur2(bucket: Path, rows: Sequence[Row]) -> object:
    """Deliver CUR 2.0."""
    return deliver_export(bucket, "2026-10", [rows], suffix=".snappy.parquet")


FORMATS = pytest.mark.parametrize(
    ("deliver", "is_map"), [(legacy, False), (cur2, True)], ids=["legacy csv", "CUR 2.0 parquet"]
)


def shared(night: Night, *columns: str) -> list[tuple[object, ...]]:
    """Build with the tag `team`, and return columns of the cube in order."""
    empty: dict[str, Sequence[tuple[object, ...]]] = {**TEAM_TAGS}
    replace_settings(night.warehouse, empty)
    build(night.warehouse)
    return night.warehouse.rows(f"select {', '.join(columns)} from core.charge_cube order by all")


def teams(night: Night) -> dict[str, Decimal]:
    """Return the effective cost by team."""
    found: dict[str, Decimal] = {}
    for team, cost in shared(night, "team", "effective_cost"):
        assert isinstance(cost, Decimal)
        found[str(team)] = found.get(str(team), Decimal(0)) + cost
    return found


def money(**amounts: str) -> Mapping[str, Decimal]:
    """Return amounts as decimals."""
    return {name: Decimal(amount) for name, amount in amounts.items()}


@FORMATS
def test_an_instance_and_its_pods_cost_what_the_instance_costs(
    night: Night, bucket: Path, deliver: Deliver, is_map: bool
) -> None:
    # aws-data/aws/aws-usage-queries#8
    deliver(
        bucket,
        [
            cur_line(cost="1.00", **tagged("platform", is_map=is_map)),
            pod("pod-a", "0.2", "0.1", **tagged("vision", is_map=is_map)),
            pod("pod-b", "0.3", "0.1", **tagged("speech", is_map=is_map)),
            pod("pod-c", "0.05", **tagged(None, is_map=is_map)),
        ],
    )

    night.load(source(bucket))

    assert night.billed() == Decimal("1.00")
    assert night.counts() == {DROPPED: 3}
    assert night.warehouse.rows("select rows_read, rows_loaded from ops.load") == [(4, 1)]
    assert night.tags() == {("team", "platform"), ("team", "vision"), ("team", "speech")}
    assert teams(night) == money(vision="0.3", speech="0.4", unattributed="0.05", platform="0.25")
    assert night.warehouse.row("select sum(charge_rows), sum(billed_cost) from core.charge_cube") == (1, Decimal(1))
    assert night.warehouse.rows(
        "select resource_id, parent_resource_id, sub_account_id, charge_rows from marts.resource_daily_cost"
        " order by all"
    ) == [
        ("i-0001", None, "222222222222", 1),
        ("pod-a", "i-0001", "222222222222", 0),
        ("pod-b", "i-0001", "222222222222", 0),
        ("pod-c", "i-0001", "222222222222", 0),
    ]


def test_pods_and_tasks_are_shared_and_fargate_is_left_alone(night: Night, bucket: Path) -> None:
    legacy(
        bucket,
        [
            cur_line(cost="2", resource="i-eks"),
            cur_line(cost="4", resource="i-ecs"),
            pod("pod", "0.5", parent="i-eks"),
            pod("task", "3", parent="i-ecs", operation="ECSTask-EC2"),
            cur_line(cost="7", resource="fargate-pod", line_item_operation="FargatePod"),
            cur_line(cost="8", resource="fargate-task", line_item_operation="FargateTask"),
        ],
    )

    night.load(source(bucket))

    assert night.billed() == Decimal(21)
    assert night.counts() == {DROPPED: 2}
    assert shared(night, "resource_id", "effective_cost", "charge_rows") == [
        ("fargate-pod", Decimal(7), 1),
        ("fargate-task", Decimal(8), 1),
        ("i-ecs", Decimal(1), 1),
        ("i-eks", Decimal("1.5"), 1),
        ("pod", Decimal("0.5"), 0),
        ("task", Decimal(3), 0),
    ]


def test_hours_and_usage_types_of_a_day_are_summed(night: Night, bucket: Path) -> None:
    hours = [f"2026-10-01T{hour:02d}:00:00Z" for hour in range(3)]
    rows = [cur_line(cost="1", start=hour) for hour in hours]
    rows += [pod("pod-a", "0.1", "0.1", start=hour) for hour in hours]
    rows += [pod("pod-a", "0.1", start=hour) | {"line_item_usage_type": "EKS-EC2-GB-Hours"} for hour in hours]
    legacy(bucket, rows)

    night.load(source(bucket))

    assert night.warehouse.rows(
        "select charge_date, usage_type, split_cost, unused_cost, split_usage, actual_usage, reserved_usage"
        " from core.split_cost order by all"
    ) == [
        (date(2026, 10, 1), "EKS-EC2-GB-Hours", Decimal("0.3"), Decimal(0), 1.5, 0.75, 1.5),
        (date(2026, 10, 1), "EKS-EC2-vCPU-Hours", Decimal("0.3"), Decimal("0.3"), 1.5, 0.75, 1.5),
    ]
    assert shared(night, "resource_id", "effective_cost", "charge_rows") == [
        ("i-0001", Decimal("2.1"), 3),
        ("pod-a", Decimal("0.9"), 0),
    ]


@FORMATS
def test_a_net_payer_shares_net_costs(night: Night, bucket: Path, deliver: Deliver, is_map: bool) -> None:
    net = {"split_line_item_net_split_cost": "0.4", "split_line_item_net_unused_cost": "0.05"}
    deliver(
        bucket,
        [
            cur_line(cost="1", line_item_net_unblended_cost="0.9", **tagged("platform", is_map=is_map)),
            pod("pod-a", "0.5", "0.1", **net, **tagged("vision", is_map=is_map)),
        ],
    )

    night.load(source(bucket))

    assert night.billed() == Decimal("0.9")
    assert teams(night) == money(vision="0.45", platform="0.45")


def test_a_payer_without_net_columns_shares_gross_costs(night: Night, bucket: Path) -> None:
    legacy(bucket, [cur_line(cost="1"), pod("pod-a", "0.5", split_line_item_net_split_cost="0.1")])

    night.load(source(bucket))

    assert shared(night, "resource_id", "effective_cost") == [("i-0001", Decimal("0.5")), ("pod-a", Decimal("0.5"))]


def test_pods_that_come_to_more_than_their_instance_bear_all_of_it_and_no_more(night: Night, bucket: Path) -> None:
    legacy(bucket, [cur_line(cost="1"), *(pod(f"pod-{letter}", "1") for letter in "abc")])

    night.load(source(bucket))

    assert shared(night, "resource_id", "effective_cost") == [
        ("i-0001", Decimal(0)),
        ("pod-a", Decimal("0.333333333333")),
        ("pod-b", Decimal("0.333333333334")),
        ("pod-c", Decimal("0.333333333333")),
    ]


def test_split_rows_without_a_charge_to_share_are_counted_and_stay_out(night: Night, bucket: Path) -> None:
    legacy(
        bucket,
        [
            cur_line(cost="1"),
            pod("on another day", "0.5", start="2026-10-02T00:00:00Z"),
            pod("of another machine", "0.5", parent="i-gone"),
            pod("of no machine", "0.5", parent=""),
            pod("in order", "0.25"),
        ],
    )

    night.load(source(bucket))

    assert night.counts() == {DROPPED: 4, ORPHANS: 3}
    assert shared(night, "resource_id", "billed_cost") == [("i-0001", Decimal("0.75")), ("in order", Decimal("0.25"))]


@pytest.mark.parametrize("column", ["line_item_unblended_cost", "line_item_net_unblended_cost"], ids=["gross", "net"])
def test_a_split_row_with_a_cost_of_its_own_is_noted_and_not_counted(night: Night, bucket: Path, column: str) -> None:
    legacy(bucket, [cur_line(cost="1") | {column: "1"}, pod("pod-a", "0.5") | {column: "0.5"}])

    night.load(source(bucket))

    assert night.billed() == Decimal(1)
    assert night.counts() == {DROPPED: 1, ("cost of its own on a split cost allocation row, not counted", ""): 1}
    assert night.warehouse.rows("select delivered_cost, billed_cost from ops.load_total") == [(Decimal(1), Decimal(1))]


def test_the_amortised_cost_of_a_covered_instance_is_shared(night: Night, bucket: Path) -> None:
    plan = {"savings_plan_savings_plan_a_r_n": "arn:aws:savingsplans::1:savingsplan/b"}
    legacy(
        bucket,
        [
            cur_line(cost="1", item="SavingsPlanCoveredUsage", savings_plan_savings_plan_effective_cost="0.6", **plan),
            cur_line(cost="-1", item="SavingsPlanNegation", resource="", **plan),
            pod("pod-a", "0.3", "0.15"),
        ],
    )

    night.load(source(bucket))

    assert shared(night, "resource_id", "billed_cost", "effective_cost", "list_cost") == [
        ("i-0001", Decimal(0), Decimal("0.15"), Decimal("0.25")),
        ("pod-a", Decimal(0), Decimal("0.45"), Decimal("0.75")),
    ]


def test_a_delivery_without_split_rows_drops_those_of_the_one_before(night: Night, bucket: Path) -> None:
    legacy(bucket, [cur_line(cost="1"), pod("pod-a", "0.5")])
    night.load(source(bucket))
    assert night.warehouse.value(SPLIT_TABLES) == 1

    deliver_legacy(bucket, "2026-10", [[cur_line(cost="2")]], assembly="20261004T051200Z")
    night.load(source(bucket))

    assert night.warehouse.value(SPLIT_TABLES) == 0
    assert night.warehouse.rows("select * from core.split_cost") == []
    assert shared(night, "resource_id", "effective_cost") == [("i-0001", Decimal(2))]


def test_split_costs_are_renamed_and_dropped_with_their_source(night: Night, bucket: Path) -> None:
    legacy(bucket, [cur_line(cost="1"), pod("pod-a", "0.5")])
    night.load(source(bucket))

    apply_renames(night.warehouse, [source(bucket, name="renamed", was="main")], night.landing)
    assert night.warehouse.rows("select source, resource_id from core.split_cost") == [("renamed", "pod-a")]

    drop_source(night.warehouse, "renamed")
    assert night.warehouse.value(SPLIT_TABLES) == 0
    assert night.warehouse.rows("select * from core.split_cost") == []


@pytest.mark.parametrize("is_landed", [True, False], ids=["from landed files", "copied"])
def test_split_costs_outlive_a_rebuild(prepared: Path, tmp_path: Path, bucket: Path, is_landed: bool) -> None:
    settings = WarehouseSettings(path=tmp_path / "kept.duckdb")
    settings.path.write_bytes(prepared.read_bytes())
    landing = tmp_path / "landing"
    legacy(bucket, [cur_line(cost="1"), pod("pod-a", "0.5")])
    with Warehouse.open(settings) as warehouse:
        Night(warehouse, landing).load(source(bucket))
        before = warehouse.rows("select * from core.split_cost")
    if not is_landed:
        for record in list(landing.rglob(RECORD)):
            remove_tree(record.parent)

    report = rebuild(settings, [source(bucket)], landing, NOW)

    assert (report.loaded, report.copied) == ((1, 0) if is_landed else (0, 1))
    with Warehouse.open(settings) as warehouse:
        assert warehouse.rows("select * from core.split_cost") == before != []
        assert warehouse.value(
            "select count(*) from duckdb_tables() where table_name = ?", [split_name("main__2026_10")]
        )
