"""Tag keys arrive as people wrote them, whatever export they come in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.earlier import bring_up_to_date
from sql.contract import COST_AND_USAGE, TEXT_COLUMNS
from sql.parts import current_parts, refresh_views, relation_over
from tests.fakes.exports import (
    Row,
    cur_line,
    deliver_export,
    deliver_legacy,
    focus_charge,
    legacy_rows,
    write_csv,
    write_parquet,
)
from tests.ingest.night import Night, source


def tags_of(night: Night) -> list[dict[str, str] | None]:
    """Return the Tags column of each charge, parsed."""
    return [None if text is None else json.loads(str(text)) for text in night.values("Tags")]


def test_keys_that_differ_in_case_only_both_survive(night: Night, bucket: Path) -> None:
    # cloudquery/cloudquery#7687
    row = cur_line(**{"resourceTags/user:Team": "vision", "resourceTags/user:team": "speech"})
    other = cur_line(**{"resourceTags/user:Team": "", "resourceTags/user:team": "speech"})
    deliver_legacy(bucket, "2026-10", [[row, other]])

    night.load(source(bucket))

    assert tags_of(night) == [{"Team": "vision", "team": "speech"}, {"team": "speech"}]
    assert night.tags() == {("Team", "vision"), ("team", "speech")}


ODD_KEYS = {
    "Cost Center/€": "4711",
    "key, with comma": "a,b",
    'key "quoted"': 'say "no"',
    "key\nover lines": "one\ntwo",
    "🚀": "🌍",
    "": "no key",
    "user:twice": "x",
    "aws_like": "of a user",
    "back\\slash": "c:\\temp",
    "it's": "o'clock",
}


def test_odd_keys_and_values_of_a_legacy_report_are_not_rewritten(night: Night, bucket: Path) -> None:
    # FOCUS_Spec#2434
    row = cur_line(**{f"resourceTags/user:{key}": value for key, value in ODD_KEYS.items()})
    deliver_legacy(bucket, "2026-10", [[row]])

    night.load(source(bucket))

    assert tags_of(night) == [ODD_KEYS]
    assert night.tags() == set(ODD_KEYS.items())


@pytest.mark.parametrize("suffix", [".csv.gz", ".snappy.parquet"])
def test_odd_keys_and_values_of_a_tag_map_are_not_rewritten(night: Night, bucket: Path, suffix: str) -> None:
    delivered = {f"user_{key}": value for key, value in ODD_KEYS.items()}
    deliver_export(bucket, "2026-10", [[cur_line(resource_tags=delivered)]], suffix=suffix)

    night.load(source(bucket))

    assert tags_of(night) == [ODD_KEYS]
    assert night.tags() == set(ODD_KEYS.items())


def test_odd_keys_and_values_of_a_focus_export_are_not_rewritten(night: Night, bucket: Path) -> None:
    write_csv(bucket / "focus.csv", [focus_charge(Tags=ODD_KEYS)])

    night.load(source(bucket, "focus-export"))

    assert tags_of(night) == [ODD_KEYS]
    assert night.tags() == set(ODD_KEYS.items())


def test_an_empty_value_of_a_legacy_report_is_no_tag(night: Night, bucket: Path) -> None:
    rows = [cur_line(**{"resourceTags/user:team": "", "resourceTags/user:env": "prod"}), cur_line()]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    assert tags_of(night) == [{"env": "prod"}, None]
    assert night.rows('"x_TagSetId" is null') == [(False,), (True,)]


@pytest.mark.parametrize(
    "text",
    ['{"user_team":"","user_env":"prod"}', '{"user_team": "", "user_env": "prod"}', '{ "user_env" : "prod" }'],
    ids=["compact", "spaced", "spaced out"],
)
def test_a_map_delivered_as_text_may_hold_white_space_and_empty_values(night: Night, bucket: Path, text: str) -> None:
    deliver_export(bucket, "2026-10", [[cur_line(resource_tags=text)]])

    night.load(source(bucket))

    assert tags_of(night) == [{"env": "prod"}]
    assert night.tags() == {("env", "prod")}


def test_an_empty_map_is_no_tag_set(night: Night, bucket: Path) -> None:
    deliver_export(bucket, "2026-10", [[cur_line(resource_tags="{}"), cur_line(resource_tags="")]])

    night.load(source(bucket))

    assert tags_of(night) == [None, None]
    assert night.tags() == set()


def _legacy(folder: Path) -> None:
    write_csv(folder / "r.csv", legacy_rows([cur_line(**{"resourceTags/user:owner": "ada"})]))


def _legacy_parquet(folder: Path) -> None:
    write_parquet(folder / "r.parquet", [cur_line(resource_tags_user_owner="ada")])


def _map(folder: Path, key: str) -> None:
    write_csv(folder / "r.csv", [cur_line(resource_tags={key: "ada"})])


def _newer_map(folder: Path) -> None:
    row: Row = cur_line(resource_tags={"user_owner": "ada"}, tags={"resourceTags/owner": "ada"})
    write_csv(folder / "r.csv", [row])


def _focus(folder: Path) -> None:
    write_csv(folder / "r.csv", [focus_charge(Tags={"owner": "ada"}, x_ServiceCode="AmazonEC2")])


@pytest.mark.parametrize(
    "deliver",
    [
        _legacy,
        _legacy_parquet,
        lambda at: _map(at, "user_owner"),
        lambda at: _map(at, "user:owner"),
        _newer_map,
        _focus,
    ],
    ids=["legacy csv", "legacy parquet", "user_ map", "user: map", "newer map", "focus"],
)
def test_one_tag_lands_on_one_key_from_every_format(night: Night, bucket: Path, deliver: object) -> None:
    # opencost/opencost#4036
    assert callable(deliver)
    deliver(bucket)

    night.load(source(bucket, period="2026-10"))

    assert night.tags() == {("owner", "ada")}
    assert tags_of(night) == [{"owner": "ada"}]


def test_tags_of_aws_keep_their_prefix_in_every_format(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-09", [[cur_line(month="2026-09", **{"resourceTags/aws:createdBy": "ada"})]])
    deliver_export(bucket, "2026-10", [[cur_line(resource_tags='{"aws_createdBy":"ada"}')]])

    night.load(source(bucket))

    assert night.tags() == {("aws:createdBy", "ada")}


def test_account_and_category_entries_of_the_newer_map_keep_their_prefix(night: Night, bucket: Path) -> None:
    tags = {"resourceTags/appName": "x", "accountTag/appName": "y", "costCategory/Unit": "z"}
    deliver_export(bucket, "2026-10", [[cur_line(tags=tags)]])

    night.load(source(bucket))

    assert tags_of(night) == [{"appName": "x", "accountTag/appName": "y", "costCategory/Unit": "z"}]


def test_columns_of_parquet_that_differ_in_case_only_both_survive(night: Night, bucket: Path) -> None:
    row = cur_line(resource_tags_user_Team="vision", resource_tags_user_team="speech")
    write_parquet(bucket / "report.parquet", [row])

    night.load(source(bucket, period="2026-10"))

    assert tags_of(night) == [{"Team": "vision", "team": "speech"}]


def test_each_combination_of_tags_is_kept_once(night: Night, bucket: Path) -> None:
    rows = [cur_line(**{"resourceTags/user:team": team}) for team in ("a", "b", "a", "", "b")]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    assert night.warehouse.rows("select tag_key, tag_value from core.tag_set order by all") == [
        ("team", "a"),
        ("team", "b"),
    ]
    joined = night.warehouse.rows(
        'select "x_RowNumber", tag_value from focus.cost_and_usage left join core.tag_set'
        ' on tag_set_id = "x_TagSetId" and source = "x_Source" and billing_month = "x_BillingMonth" order by 1'
    )
    assert joined == [(1, "a"), (2, "b"), (3, "a"), (4, None), (5, "b")]


def test_combinations_that_a_weak_hash_takes_for_one_have_two_ids(night: Night, bucket: Path) -> None:
    # DuckDB's own hash of these two texts is the same number.
    lines = [
        cur_line(
            **{
                "resourceTags/user:environment": "production",
                "resourceTags/user:project": f"project-{number}",
                "resourceTags/user:team": f"team-{number}",
            }
        )
        for number in (1, 9)
    ]
    deliver_legacy(bucket, "2026-10", [lines])

    night.load(source(bucket))

    first, second = night.values("Tags")
    assert night.warehouse.row("select hash(?) = hash(?)", [first, second]) == (True,)
    assert len(set(night.values("x_TagSetId"))) == 2


def labelled(team: str | None, category: str | None = None, **more: str) -> Row:
    """Return a line with a user tag, an AWS tag and a cost category in columns of their own."""
    return cur_line(
        resource_tags_user_team=team, resource_tags_aws_created_by="ada", cost_category_unit=category, **more
    )


def test_a_report_gives_the_same_tags_whether_rows_are_joined_to_them_or_not(night: Night, bucket: Path) -> None:
    lines = [labelled("vision", "ml"), labelled("vision"), labelled(None, "ml"), labelled("", ""), labelled("vision")]
    found = []
    for suffix, write in (("csv", write_csv), ("parquet", write_parquet)):
        write(bucket / suffix / f"r.{suffix}", lines)
        night.load(source(bucket / suffix, period="2026-10"))
        found.append(night.rows('"Tags", "x_CostCategories", "x_TagSetId"', order='"x_RowNumber"'))
        assert night.warehouse.rows("select table_name from duckdb_tables() where temporary") == []

    assert found[0] == found[1]
    assert [row[1] for row in found[0]] == ['{"unit":"ml"}', None, '{"unit":"ml"}', None, None]
    assert found[0][1] == found[0][4] != found[0][3]


def test_files_of_several_shapes_each_have_their_own_combinations(night: Night, bucket: Path) -> None:
    write_parquet(bucket / "a.parquet", [labelled("vision"), cur_line(resource_tags_user_team=None)])
    write_parquet(
        bucket / "b.parquet", [cur_line(resource_tags_user_label_0="speech", resource_tags_user_team="x", label_0="1")]
    )

    night.load(source(bucket, period="2026-10"))

    assert tags_of(night) == [
        {"aws:created_by": "ada", "team": "vision"}, None, {"label_0": "speech", "team": "x"},
    ]  # fmt: skip


def test_tags_of_another_month_of_a_loose_file_are_not_kept(night: Night, bucket: Path) -> None:
    september = {"bill_billing_period_start_date": "2026-09-01T00:00:00Z"}
    write_parquet(bucket / "r.parquet", [labelled("vision"), labelled("speech", **september)])

    night.load(source(bucket, period="from-rows"))

    texts = 'select tags_text from parts."main__2026_{}__tag_texts"'
    assert [len(night.warehouse.rows(texts.format(month))) for month in ("09", "10")] == [1, 1]
    assert night.tags() == {("team", "vision"), ("team", "speech"), ("aws:created_by", "ada")}


def test_a_query_joins_the_texts_of_tags_where_it_reads_a_column_made_of_them(night: Night, bucket: Path) -> None:
    write_csv(bucket / "r.csv", [labelled("vision", "ml"), labelled(None)])
    night.load(source(bucket, period="2026-10"))
    others = ", ".join(
        f'any_value("{column.name}")' for column in COST_AND_USAGE.columns if column.name not in TEXT_COLUMNS
    )
    for columns, is_joined in ((others, False), ('any_value("Tags")', True), ('any_value("ResourceName")', True)):
        [(_, plan)] = night.warehouse.rows(f"explain select {columns} from focus.cost_and_usage")
        assert ("JOIN" in str(plan).upper()) == is_joined, plan


def test_charges_without_texts_are_the_same_in_all_other_columns(night: Night, bucket: Path) -> None:
    write_csv(bucket / "r.csv", [labelled("vision", "ml"), labelled(None)])
    night.load(source(bucket, period="2026-10"))
    parts = current_parts(night.warehouse)
    texts = ", ".join(f'"{name}"' for name in sorted(TEXT_COLUMNS))
    whole, without = (
        f"select * exclude ({texts}) from ({relation_over(COST_AND_USAGE.full_name, parts, has_texts=has_texts)})"
        for has_texts in (True, False)
    )
    assert night.warehouse.rows(f"{whole} except all {without} union all ({without} except all {whole})") == []
    assert night.warehouse.value(f"select count(*) from ({without})") == 2


def test_tags_that_an_earlier_version_kept_with_each_row_are_taken_apart(night: Night, bucket: Path) -> None:
    write_csv(bucket / "r.csv", [labelled("vision", "ml"), labelled(None), labelled("vision", "ml")])
    night.load(source(bucket, period="2026-10"))
    columns = '"Tags", "x_CostCategories", "ResourceName", "BilledCost"'
    loaded = night.rows(columns, order='"x_RowNumber"')
    night.warehouse.execute(
        'create or replace table parts."main__2026_10" as select part.*, tags_text as "Tags",'
        ' cost_categories_text as "x_CostCategories" from parts."main__2026_10" as part'
        ' left join parts."main__2026_10__tag_texts" using ("x_TagSetId")'
    )
    night.warehouse.execute('drop table parts."main__2026_10__tag_texts"')

    bring_up_to_date(night.warehouse, "main__2026_10", "aws_cur")
    refresh_views(night.warehouse)

    assert night.rows(columns, order='"x_RowNumber"') == loaded
