"""Tags of resources, tags of accounts, cost categories: one key each in every export, and asked in order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sql.runner import build
from sql.settings import replace_settings
from tests.fakes.exports import (
    cur_line,
    deliver_legacy,
    focus_charge,
    legacy_rows,
    write_csv,
    write_cur_parquet,
    write_parquet,
)
from tests.ingest.night import Night, source

MAPS: dict[str, Any] = {
    "resource_tags": {"user_owner": "ada", "user_Team": "A", "user_team": "a"},
    "cost_category": {"Unit": "research"},
}
PREFIXED = {
    "resourceTags/owner": "ada", "resourceTags/Team": "A", "resourceTags/team": "a", "costCategory/Unit": "research",
}  # fmt: skip
BARE = {"owner": "ada", "Team": "A", "team": "a"}


def _legacy_csv(at: Path) -> None:
    columns = {f"resourceTags/user:{key}": value for key, value in BARE.items()}
    write_csv(at / "r.csv", legacy_rows([cur_line(**columns, **{"costCategory/Unit": "research"})]))


def _legacy_parquet(at: Path) -> None:
    columns = {f"resource_tags_user_{key}": value for key, value in BARE.items()}
    write_parquet(at / "r.parquet", [cur_line(**columns, cost_category_Unit="research")])


def _maps_csv(at: Path) -> None:
    write_csv(at / "r.csv", [cur_line(**MAPS)])


def _maps_parquet(at: Path) -> None:
    write_cur_parquet(at / "r.parquet", [cur_line(**MAPS)])


def _colon_map(at: Path) -> None:
    tags = {f"user:{key}": value for key, value in BARE.items()}
    write_csv(at / "r.csv", [cur_line(resource_tags=tags, cost_category={"Unit": "research"})])


def _prefixed_map(at: Path) -> None:
    write_csv(at / "r.csv", [cur_line(tags=PREFIXED)])


def _every_map(at: Path) -> None:
    write_cur_parquet(at / "r.parquet", [cur_line(tags=PREFIXED, **MAPS)])


def _focus(at: Path) -> None:
    write_csv(at / "r.csv", [focus_charge(Tags=BARE, x_ServiceCode="AmazonEC2", x_CostCategories={"Unit": "research"})])


@pytest.mark.parametrize(
    "deliver",
    [_legacy_csv, _legacy_parquet, _maps_csv, _maps_parquet, _colon_map, _prefixed_map, _every_map, _focus],
    ids=lambda deliver: deliver.__name__.strip("_"),
)
def test_tags_and_cost_categories_land_on_one_key_from_every_format(
    night: Night, bucket: Path, deliver: Callable[[Path], None]
) -> None:
    deliver(bucket)

    night.load(source(bucket, period="2026-10"))

    assert night.tags() == {("owner", "ada"), ("Team", "A"), ("team", "a"), ("costCategory/Unit", "research")}


def test_the_column_tags_shows_no_cost_category(night: Night, bucket: Path) -> None:
    write_csv(bucket / "r.csv", [cur_line(**MAPS)])

    night.load(source(bucket, period="2026-10"))

    assert night.values("Tags") == ['{"owner":"ada","Team":"A","team":"a"}']
    assert night.values("x_CostCategories") == ['{"Unit":"research"}']


def test_combinations_of_tags_and_cost_categories_are_told_apart(night: Night, bucket: Path) -> None:
    tag, category = "resourceTags/user:a", "costCategory/a"
    rows = [
        cur_line(**{tag: "x", category: ""}),
        cur_line(**{tag: "", category: "x"}),
        cur_line(**{tag: "x", category: "x"}),
        cur_line(**{tag: "x", category: "y"}),
        cur_line(**{tag: "", category: ""}),
        cur_line(**{tag: "x", category: "y"}),
    ]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    ids = night.values("x_TagSetId")
    assert len(set(ids[:5])) == 5
    assert ids[4] is None
    assert ids[3] == ids[5]
    assert night.warehouse.rows(
        'select charge."x_RowNumber", tag.tag_key, tag.tag_value from core.tag_set as tag'
        ' inner join focus.cost_and_usage as charge on charge."x_TagSetId" = tag.tag_set_id order by all'
    ) == [
        (1, "a", "x"), (2, "costCategory/a", "x"), (3, "a", "x"), (3, "costCategory/a", "x"), (4, "a", "x"),
        (4, "costCategory/a", "y"), (6, "a", "x"), (6, "costCategory/a", "y"),
    ]  # fmt: skip


def test_an_empty_cost_category_is_none(night: Night, bucket: Path) -> None:
    rows = [cur_line(cost_category=value) for value in ({"Unit": ""}, {}, "", {"Unit": "", "Area": "x"})]
    write_csv(bucket / "r.csv", rows)
    write_csv(bucket / "f" / "focus.csv", [focus_charge(x_CostCategories={}, BillingAccountId="9")])

    night.load(source(bucket / "r.csv", period="2026-10"), source(bucket / "f", "focus-export", name="focus"))

    assert night.values("x_CostCategories") == [None, None, None, None, '{"Area":"x"}']
    assert [value is None for value in night.values("x_TagSetId")] == [True, True, True, True, False]
    assert night.tags() == {("costCategory/Area", "x")}


def test_the_sources_of_attribution_are_asked_in_order(night: Night, bucket: Path) -> None:
    everything = {
        "resourceTags/project": "tag",
        "accountTag/project": "account tag",
        "costCategory/project": "category",
    }
    chosen = [["resourceTags", "accountTag", "costCategory"], ["accountTag", "costCategory"], ["costCategory"], []]
    rows = [
        cur_line(resource=f"i-{number}", tags={f"{kind}/project": everything[f"{kind}/project"] for kind in kinds})
        for number, kinds in enumerate(chosen)
    ]
    rows.append(cur_line(resource="i-listed", account="333333333333", cost_category={"project": "category"}))
    write_csv(bucket / "r.csv", rows)
    night.load(source(bucket, period="2026-10"))
    replace_settings(
        night.warehouse,
        {
            "settings.attribution_tag": [("project", 1, "project")],
            "settings.attribution_account": [("222222222222", "account")],
            "settings.sub_account_tag": [("main", "333333333333", "project", "listed")],
        },
    )

    build(night.warehouse)

    assert night.warehouse.rows(
        "select cube.resource_id, attribution.project, attribution.project_rule from core.charge_cube as cube"
        " inner join core.attribution as attribution on cube.sub_account_id = attribution.sub_account_id"
        " and cube.tag_set_id is not distinct from attribution.tag_set_id order by all"
    ) == [
        ("i-0", "tag", "tag project"),
        ("i-1", "account tag", "account tag project"),
        ("i-2", "category", "cost category project"),
        ("i-3", "account", "account"),
        ("i-listed", "listed", "account tag project"),
    ]
