"""The model runner: what is rebuilt when, and what leaves the tables of the last build standing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

import pytest

from sql.contract import WHOLE
from sql.errors import CheckFailed, ModelError
from sql.model import Model, load_models, parse_model
from sql.runner import build
from sql.settings import replace_settings
from sql.warehouse import Warehouse
from sql.waypoints import OBSERVER, Edge, Kind
from tests.fakes.parts import drop_source, load_part, make_warehouse

SEPTEMBER, OCTOBER, NOVEMBER = date(2026, 9, 1), date(2026, 10, 1), date(2026, 11, 1)

DAILY = """-- Cost per day.
-- It has two sentences.
-- grain: one row per day
-- key: billing_month, charge_date
with charges as (select * from focus.cost_and_usage)
select
    charges.x_BillingMonth as billing_month,
    -- Day of the charge
    cast(charges.ChargePeriodStart as date) as charge_date,
    -- What is billed, a case
    -- in two lines
    sum(
        case when charges.BilledCost is null then 0 else charges.BilledCost end
    ) as billed_cost
from charges
group by charges.x_BillingMonth, cast(charges.ChargePeriodStart as date)
"""
MONTHLY = """-- Cost per month.
-- grain: one row per month
-- key: billing_month
with days as (select * from core.daily)
select days.billing_month, sum(days.billed_cost) as billed_cost
from days
group by days.billing_month
"""
TOTAL = """-- Cost of all months as of the night's day.
-- grain: one row
-- key: as_of
-- materialized: full
with months as (select * from marts.monthly), night as (select * from settings.night)
select night.as_of, sum(months.billed_cost) as billed_cost
from months
cross join night
group by night.as_of
"""
LEDGER = """-- Loads counted.
-- grain: one row per source
-- key: source
-- materialized: full
select loads.source, count(*) as load_count
from ops.load as loads
group by loads.source
"""
HOUSE = {"core/daily": DAILY, "marts/monthly": MONTHLY, "marts/total": TOTAL, "marts/ledger": LEDGER}
HEADER = "-- Purpose.\n-- grain: one row\n-- key: billing_month\n"


def write_models(root: Path, texts: Mapping[str, str]) -> tuple[Model, ...]:
    for name, text in texts.items():
        path = root / f"{name}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return load_models(root)


def charge(month: date, cost: str, day: int = 3) -> dict[str, object]:
    return {"BilledCost": cost, "BillingCurrency": "USD", "ChargePeriodStart": f"{month:%Y-%m}-{day:02} 01:00:00"}


def load(warehouse: Warehouse, month: date, cost: str, *, version: str = "1", source: str = "aws") -> None:
    load_part(warehouse, source=source, month=month, charges=[charge(month, cost)], version=version)


def totals(warehouse: Warehouse) -> list[tuple[object, ...]]:
    return warehouse.rows("select billing_month, billed_cost::varchar from marts.monthly order by billing_month")


@pytest.fixture
def warehouse() -> Iterator[Warehouse]:
    with make_warehouse() as made:
        replace_settings(made, {"settings.night": [(date(2026, 11, 20),)]})
        yield made


@pytest.fixture
def models(tmp_path: Path) -> tuple[Model, ...]:
    return write_models(tmp_path, HOUSE)


def test_empty_warehouse_has_every_relation_with_its_types(warehouse: Warehouse, models: tuple[Model, ...]) -> None:
    report = build(warehouse, models=models)
    assert report.changed
    assert totals(warehouse) == []
    kinds = [row[1] for row in warehouse.rows("describe select * from marts.monthly")]
    assert kinds == ["DATE", "DECIMAL(38,12)"]
    assert not build(warehouse, models=models).changed


def test_second_build_does_nothing(warehouse: Warehouse, models: tuple[Model, ...]) -> None:
    load(warehouse, OCTOBER, "1")
    first = build(warehouse, models=models)
    build_id = warehouse.value("select value from ops.meta where key = 'build_id'")
    second = build(warehouse, models=models)
    assert first.changed
    assert (second.built, second.changed) == ([], False)
    assert warehouse.value("select value from ops.meta where key = 'build_id'") == build_id


def test_only_the_changed_month_is_rebuilt(warehouse: Warehouse, models: tuple[Model, ...]) -> None:
    load(warehouse, SEPTEMBER, "1")
    load(warehouse, OCTOBER, "2")
    build(warehouse, models=models)
    load(warehouse, OCTOBER, "5", version="2")
    seen: list[str] = []
    report = build(warehouse, models=models, progress=seen.append)
    assert set(report.built) == {
        ("core.daily", "2026-10-01"), ("marts.monthly", "2026-10-01"), ("marts.total", None), ("marts.ledger", None),
    }  # fmt: skip
    assert "core.daily 2026-10" in seen
    assert totals(warehouse) == [(SEPTEMBER, "1.000000000000"), (OCTOBER, "5.000000000000")]


def test_the_same_load_again_rebuilds_nothing_by_month(warehouse: Warehouse, models: tuple[Model, ...]) -> None:
    load(warehouse, OCTOBER, "2")
    build(warehouse, models=models)
    load(warehouse, OCTOBER, "2")
    assert build(warehouse, models=models).built == [("marts.ledger", None)]


def test_a_changed_setting_rebuilds_its_readers_only(warehouse: Warehouse, models: tuple[Model, ...]) -> None:
    load(warehouse, OCTOBER, "2")
    build(warehouse, models=models)
    replace_settings(warehouse, {"settings.night": [(date(2026, 11, 21),)]})
    assert build(warehouse, models=models).built == [("marts.total", None)]


def test_a_changed_text_rebuilds_the_model_and_what_reads_it(
    warehouse: Warehouse, models: tuple[Model, ...], tmp_path: Path
) -> None:
    load(warehouse, OCTOBER, "2")
    build(warehouse, models=models)
    changed = write_models(tmp_path, {"marts/monthly": MONTHLY.replace("sum(", "2 * sum(")})
    assert {name for name, _ in build(warehouse, models=changed).built} == {"marts.monthly", "marts.total"}
    assert totals(warehouse) == [(OCTOBER, "4.000000000000")]


def test_a_changed_check_is_run(warehouse: Warehouse, models: tuple[Model, ...], tmp_path: Path) -> None:
    load(warehouse, OCTOBER, "2")
    build(warehouse, models=models)
    changed = write_models(tmp_path, {"marts/monthly.check": "-- check: none\nselect * from marts.monthly"})
    with pytest.raises(CheckFailed, match=r"marts\.monthly: none"):
        build(warehouse, models=changed)


def test_a_new_and_a_vanished_month(warehouse: Warehouse, models: tuple[Model, ...]) -> None:
    load(warehouse, SEPTEMBER, "1", source="gcp")
    load(warehouse, OCTOBER, "2")
    build(warehouse, models=models)
    drop_source(warehouse, "gcp")
    load(warehouse, NOVEMBER, "3")
    assert build(warehouse, models=models).changed
    assert totals(warehouse) == [(OCTOBER, "2.000000000000"), (NOVEMBER, "3.000000000000")]
    tables = [row[0] for row in warehouse.rows("select table_name from duckdb_tables() where schema_name = 'months'")]
    assert sorted(map(str, tables)) == [
        "core.daily__2026_10", "core.daily__2026_11", "marts.monthly__2026_10", "marts.monthly__2026_11",
    ]  # fmt: skip
    drop_source(warehouse, "aws")
    build(warehouse, models=models)
    assert totals(warehouse) == []


def test_a_model_without_a_file_is_dropped(warehouse: Warehouse, models: tuple[Model, ...]) -> None:
    load(warehouse, OCTOBER, "2")
    build(warehouse, models=models)
    build(warehouse, models=[model for model in models if model.name in {"daily", "monthly"}])
    left = warehouse.rows("select table_name from information_schema.tables where table_schema = 'marts'")
    assert left == [("monthly",)]
    assert not warehouse.rows("select * from ops.fingerprint where model = 'marts.total'")


@pytest.mark.parametrize("materialized", ["full", "view"])
def test_a_model_changes_its_kind_there_and_back(
    warehouse: Warehouse, models: tuple[Model, ...], tmp_path: Path, materialized: str
) -> None:
    load(warehouse, OCTOBER, "2")
    build(warehouse, models=models)
    other = MONTHLY.replace("-- key: billing_month\n", f"-- key: billing_month\n-- materialized: {materialized}\n")
    for text in (other, MONTHLY):
        build(warehouse, models=write_models(tmp_path, {"marts/monthly": text}))
        assert totals(warehouse) == [(OCTOBER, "2.000000000000")]
    assert not build(warehouse, models=models).changed


def test_same_inputs_give_the_same_build_id(models: tuple[Model, ...]) -> None:
    ids = []
    for months in ((SEPTEMBER, OCTOBER), (OCTOBER, SEPTEMBER)):
        with make_warehouse() as warehouse:
            replace_settings(warehouse, {"settings.night": [(date(2026, 11, 20),)]})
            for month in months:
                load(warehouse, month, "1")
                build(warehouse, models=models)
            ids.append(warehouse.value("select value from ops.meta where key = 'build_id'"))
    assert ids[0] == ids[1] is not None


class _Interrupted(Exception):
    """Stands for a crash."""


def test_a_crash_at_any_statement_leaves_the_last_build(warehouse: Warehouse, models: tuple[Model, ...]) -> None:
    load(warehouse, SEPTEMBER, "1")
    build(warehouse, models=models)
    load(warehouse, SEPTEMBER, "7", version="2")
    load(warehouse, OCTOBER, "9")
    crashed_at = 0
    for at in range(1, 500):
        if not _build_until(warehouse, models, at):
            break
        crashed_at = at
        assert totals(warehouse) == [(SEPTEMBER, "1.000000000000")]
    assert crashed_at > 20
    assert totals(warehouse) == [(SEPTEMBER, "7.000000000000"), (OCTOBER, "9.000000000000")]


def _build_until(warehouse: Warehouse, models: tuple[Model, ...], statement: int) -> bool:
    """Build, interrupted before the given statement, commit apart; return whether the interruption came."""
    count = 0

    def observe(_kind: Kind, detail: str, edge: Edge) -> None:
        nonlocal count
        count += edge == "before"
        if count == statement and detail != "commit":
            count += 1
            raise _Interrupted

    token = OBSERVER.set(observe)
    try:
        build(warehouse, models=models)
    except _Interrupted:
        return True
    finally:
        OBSERVER.reset(token)
    return False


def test_a_view_over_months_is_made_again_only_where_its_columns_or_their_texts_may_differ(
    warehouse: Warehouse, models: tuple[Model, ...], tmp_path: Path
) -> None:
    load(warehouse, OCTOBER, "1")
    build(warehouse, models=models)
    load(warehouse, OCTOBER, "2", version="2")
    seen: list[str] = []
    token = OBSERVER.set(lambda _, detail, edge: seen.append(detail) if edge == "before" else None)
    try:
        build(warehouse, models=models)
    finally:
        OBSERVER.reset(token)
    assert any(text.startswith("create or replace table months.") for text in seen)
    assert not any(text.startswith(("create or replace view core.daily", "comment on view core.")) for text in seen)
    assert totals(warehouse) == [(OCTOBER, "2.000000000000")]

    whole = DAILY.replace("as billing_month,", "as billing_month, 'new' as kind,").replace("a case", "another case")
    build(warehouse, models=write_models(tmp_path, HOUSE | {"core/daily": whole}))
    assert "kind" in [row[0] for row in warehouse.rows("describe select * from core.daily")]
    comments = warehouse.rows(
        "select comment from duckdb_columns() where column_name = 'billed_cost' and comment like 'What%'"
    )
    assert {str(row[0]) for row in comments} >= {"What is billed, another case in two lines"}
    assert "What is billed, a case in two lines" not in {str(row[0]) for row in comments}


def test_comments_are_there_and_come_back_after_a_replace(warehouse: Warehouse, models: tuple[Model, ...]) -> None:
    for cost, version in (("1", "1"), ("2", "2")):
        load(warehouse, OCTOBER, cost, version=version)
        build(warehouse, models=models)
        purpose = "select comment from duckdb_{}() where schema_name = ? and {} = ?"
        assert warehouse.value(purpose.format("views", "view_name"), ["core", "daily"]) == (
            "Cost per day. It has two sentences. Grain: one row per day"
        )
        assert warehouse.value(purpose.format("tables", "table_name"), ["marts", "total"]) == (
            "Cost of all months as of the night's day. Grain: one row"
        )
        comments = warehouse.rows(
            "select schema_name, column_name, comment from duckdb_columns() where comment is not null"
            " and table_name in ('daily', 'monthly') order by all"
        )
        assert comments == [
            ("core", "billed_cost", "What is billed, a case in two lines"),
            ("core", "charge_date", "Day of the charge"),
            ("marts", "billed_cost", "What is billed, a case in two lines"),
        ]


def test_every_column_of_the_house_is_described(warehouse: Warehouse) -> None:
    load(warehouse, OCTOBER, "1")
    build(warehouse)
    bare = warehouse.rows(
        "select schema_name, table_name, column_name from duckdb_columns()"
        " where schema_name in ('core', 'marts', 'focus', 'analysis') and comment is null"
    )
    assert bare == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("core/a", "-- Purpose.\n-- key: x\nselect 1 as x", "no grain"),
        ("core/a", "-- Purpose.\n-- grain: one row\nselect 1 as x", "no key"),
        ("core/a", "-- grain: one row\n-- key: billing_month\nselect 1 as x", "no sentence of purpose"),
        ("core/a", "-- P.\n-- grain: one\n-- key: x\nselect 1 as x", "must contain billing_month"),
        ("core/a", "-- P.\n-- grain: one\n-- key: x\n-- materialized: table\nselect 1 as x", "'table'"),
        ("core/a", f"{HEADER}-- lookback: some months\nselect 1", "`N months`"),
        ("core/a", f"{HEADER}-- lookback: 0 months\nselect 1", "`N months`"),
        ("core/a", f"{HEADER}select * from core.nothing", r"core\.nothing, which does not exist"),
        ("core/a", f"{HEADER}select * from marts.monthly", r"may not read marts\.monthly"),
        ("marts/a", f"{HEADER}select * from marts.total", "spans months"),
        ("marts/a.check", "-- check: x\nselect 1", "without a model"),
    ],
)
def test_a_model_that_breaks_a_rule_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    write_models(tmp_path, HOUSE)
    with pytest.raises(ModelError, match=message):
        write_models(tmp_path, {name: text})


def test_a_cycle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"core\.a -> core\.b -> core\.a|core\.b -> core\.a -> core\.b"):
        write_models(tmp_path, {"core/a": f"{HEADER}select * from core.b", "core/b": f"{HEADER}select * from core.a"})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("select x_nothing from core.daily", "x_nothing"),
        ("select billing_month, cast(billed_cost as double) as billed_cost from core.daily", "is DOUBLE"),
        ("select billing_month, cast(billed_cost as float) as spent_amount from core.daily", "is FLOAT"),
        ("select billing_month, cast(billed_cost as double) as BilledCost from core.daily", "is DOUBLE"),
        ("select charge_date from core.daily", "names billing_month"),
    ],
)
@pytest.mark.parametrize("is_empty", [True, False], ids=["empty", "loaded"])
def test_sql_that_breaks_a_rule_is_refused_and_rolled_back(
    warehouse: Warehouse, tmp_path: Path, body: str, message: str, *, is_empty: bool
) -> None:
    if not is_empty:
        load(warehouse, OCTOBER, "1")
    models = write_models(tmp_path, HOUSE | {"marts/bad": HEADER + body})
    with pytest.raises(ModelError, match=message):
        build(warehouse, models=models)
    assert warehouse.rows("select * from ops.fingerprint") == []
    assert warehouse.rows("select table_name from duckdb_tables() where schema_name in ('months', 'marts')") == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "select date '2026-10-01' as billing_month from focus.cost_and_usage union all select date '2026-10-01'",
            "unique",
        ),
        ("select cast(null as date) as billing_month from focus.cost_and_usage", "null"),
        ("select date '2026-08-01' as billing_month from focus.cost_and_usage", "another month"),
    ],
)
def test_a_broken_key_is_refused(warehouse: Warehouse, tmp_path: Path, body: str, message: str) -> None:
    load(warehouse, OCTOBER, "1")
    with pytest.raises(CheckFailed, match=message):
        build(warehouse, models=write_models(tmp_path, {"core/bad": HEADER + body}))


def test_null_is_a_value_of_a_key_column_that_says_so(warehouse: Warehouse, tmp_path: Path) -> None:
    load(warehouse, OCTOBER, "1")
    header = "-- Purpose.\n-- grain: one row\n-- key: billing_month,\n-- key: b?\n-- Source: nowhere.\n"
    once = "select x_BillingMonth as billing_month, cast(null as date) as b from focus.cost_and_usage"
    build(warehouse, models=write_models(tmp_path, {"core/a": header + once}))
    with pytest.raises(CheckFailed, match="unique"):
        build(warehouse, models=write_models(tmp_path, {"core/a": f"{header}{once} union all {once}"}))


def test_a_failed_check_rolls_the_whole_build_back(
    warehouse: Warehouse, models: tuple[Model, ...], tmp_path: Path
) -> None:
    load(warehouse, OCTOBER, "1")
    build(warehouse, models=models)
    load(warehouse, OCTOBER, "100", version="2")
    check = "-- check: nothing above fifty\nselect * from marts.total where billed_cost > 50;\n"
    guarded = write_models(tmp_path, {"marts/total.check": check})
    with pytest.raises(CheckFailed, match="nothing above fifty") as caught:
        build(warehouse, models=guarded)
    assert (caught.value.model, caught.value.check) == ("marts.total", "nothing above fifty")
    assert totals(warehouse) == [(OCTOBER, "1.000000000000")]
    load(warehouse, OCTOBER, "2", version="3")
    build(warehouse, models=guarded)
    assert totals(warehouse) == [(OCTOBER, "2.000000000000")]


def test_a_warning_is_reported_and_the_build_goes_on(warehouse: Warehouse, tmp_path: Path) -> None:
    load(warehouse, SEPTEMBER, "1")
    load(warehouse, OCTOBER, "100")
    check = (
        "-- warn: dear month\nselect * from marts.monthly where billed_cost > 50\n\n"
        "-- check: days add up\n"
        "select * from (select sum(billed_cost) as s from core.daily) as a\n"
        "inner join (select sum(billed_cost) as s from marts.monthly) as b on a.s <> b.s\n"
    )
    report = build(warehouse, models=write_models(tmp_path, HOUSE | {"marts/monthly.check": check}))
    assert report.warnings == ["marts.monthly 2026-10: dear month"]


def test_lookback_reads_earlier_months_and_is_rebuilt_with_them(warehouse: Warehouse, tmp_path: Path) -> None:
    text = (
        "-- Purpose.\n-- grain: one row per month\n-- key: billing_month\n-- lookback: 1 months\n"
        "select max(m.billing_month) as billing_month, sum(m.billed_cost) as billed_cost from core.daily as m"
    )
    models = write_models(tmp_path, HOUSE | {"marts/trailing": text})
    december, january = date(2026, 12, 1), date(2027, 1, 1)
    for month, cost in ((OCTOBER, "1"), (NOVEMBER, "10"), (december, "100"), (january, "1000")):
        load(warehouse, month, cost)
    build(warehouse, models=models)
    sums = "select billed_cost::bigint from marts.trailing order by billing_month"
    assert warehouse.rows(sums) == [(1,), (11,), (110,), (1100,)]
    load(warehouse, NOVEMBER, "20", version="2")
    built = build(warehouse, models=models).built
    assert [month for name, month in built if name == "marts.trailing"] == ["2026-11-01", "2026-12-01"]
    assert warehouse.rows(sums) == [(1,), (21,), (120,), (1100,)]


def test_lookback_over_charges_and_a_full_model(warehouse: Warehouse, tmp_path: Path) -> None:
    text = (
        "-- Purpose.\n-- grain: one row per month\n-- key: billing_month\n-- lookback: 1 months\n"
        "select max(c.x_BillingMonth) as billing_month, count(*) as charge_count, max(t.billed_cost) as all_cost\n"
        "from focus.cost_and_usage as c cross join marts.total as t"
    )
    models = write_models(tmp_path, HOUSE | {"marts/trailing": text})
    load(warehouse, OCTOBER, "1")
    load(warehouse, NOVEMBER, "2")
    build(warehouse, models=models)
    rows = warehouse.rows("select charge_count, all_cost::bigint from marts.trailing order by billing_month")
    assert rows == [(1, 3), (2, 3)]


def test_a_reader_of_analysis_is_rebuilt_when_analysis_has_written(warehouse: Warehouse, tmp_path: Path) -> None:
    text = "-- P.\n-- grain: one\n-- key: budget_id\n-- materialized: full\nselect budget_id from analysis.budget_state"
    models = write_models(tmp_path, {"marts/states": text})
    build(warehouse, models=models)
    warehouse.execute("insert into ops.fingerprint values ('analysis.budget_state', ?::date, 'x')", [WHOLE])
    assert build(warehouse, models=models).built == [("marts.states", None)]
    assert not build(warehouse, models=models).changed


@pytest.mark.parametrize(
    ("text", "check", "expected"),
    [
        ("select ServiceName from focus.cost_and_usage", "", False),
        ('select max("ResourceName") as name from focus.cost_and_usage', "", True),
        ("select ServiceName from focus.cost_and_usage", "-- check: x\nselect Tags from focus.cost_and_usage", True),
        ("select TagsMore from focus.cost_and_usage", "", False),
    ],
)
def test_a_model_reads_texts_of_tags_where_it_names_a_column_made_of_them(
    text: str, check: str, *, expected: bool
) -> None:
    assert parse_model("core", "a", HEADER + text, check).reads_texts == expected


def test_a_reference_in_a_comment_or_a_string_is_none(warehouse: Warehouse, tmp_path: Path) -> None:
    text = (
        f"{HEADER}select x_BillingMonth as billing_month, 'from core.x' as \"from core.y\" /* join core.z */\n"
        "from focus.cost_and_usage -- from core.w\nwhere 'it''s' is distinct from focus.cost_and_usage.ChargeClass"
    )
    load(warehouse, OCTOBER, "1")
    models = write_models(tmp_path, {"core/a": text.replace("focus.cost_and_usage.Ch", "cost_and_usage.Ch")})
    assert models[0].dependencies == {"focus.cost_and_usage"}
    build(warehouse, models=models)
    assert warehouse.value('select "from core.y" from core.a') == "from core.x"


START = """-- What each month begins with.
-- grain: one row per month
-- key: billing_month
with months as (select * from marts.monthly)
select months.billing_month, 0 as steps, months.billed_cost
from months
"""
STEPS = """-- What each month comes to after all teams have had their turn.
-- grain: one row per month
-- key: billing_month
-- repeated: marts.start, once per row of settings.team_project
with taken as (select * from marts.start), teams as (select * from settings.team_project)
select taken.billing_month, taken.steps + 1 as steps, cast(taken.billed_cost * 2 as decimal(38, 12)) as billed_cost
from taken
cross join (select count(*) as team_count from teams) as counted
"""


def repeated_models(text: str = STEPS) -> list[Model]:
    texts = {"core.daily": DAILY, "marts.monthly": MONTHLY, "marts.start": START, "marts.steps": text}
    return [parse_model(name.split(".")[0], name.split(".")[1], sql) for name, sql in texts.items()]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_repeated_model_is_run_over_its_own_result(count: int) -> None:
    with make_warehouse() as warehouse:
        replace_settings(warehouse, {"settings.team_project": [("t", f"p{number}") for number in range(count)]})
        load_part(warehouse, source="a", month=OCTOBER, charges=[charge(OCTOBER, "3")])
        build(warehouse, models=repeated_models())
        assert warehouse.rows("select steps, billed_cost from marts.steps") == [(count, 3 * 2**count)]
        assert warehouse.value("select count(*) from duckdb_tables() where temporary") == 0

        replace_settings(warehouse, {"settings.team_project": [("t", "p")]})
        build(warehouse, models=repeated_models())
        assert warehouse.rows("select steps from marts.steps") == [(1,)]


def test_a_repetition_over_what_is_not_read_is_refused() -> None:
    with pytest.raises(ModelError, match="repeated must read"):
        parse_model("marts", "steps", STEPS.replace(", once per row of settings.team_project", " for ever"))
