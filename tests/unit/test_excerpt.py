"""Copies for single teams: whole for the team, and without a word about anybody else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from sql.excerpt import BY_TEAM, FOR_ALL, LEFT_OUT, OTHER, publish_excerpt
from sql.model import load_models
from sql.parts import prepare
from sql.runner import build
from sql.settings import replace_settings
from sql.state import StateStore
from sql.warehouse import Warehouse, WarehouseSettings, quoted
from tests.fakes.demo import demo_folder
from tests.fakes.parts import load_part, settings_rows

OCTOBER = date(2026, 10, 1)
OF_OTHERS = (
    "nlp", "robotics", "platform", "chat-assistant", "embeddings", "ranker", "grasping", "simulator", "data-lake",
)  # fmt: skip
"""Teams and projects of the demo that are none of vision's."""


@contextmanager
def excerpt(published: Path, folder: Path, teams: Sequence[str]) -> Iterator[Warehouse]:
    """Publish an excerpt and open it."""
    target = folder / "team.duckdb"
    with StateStore.open(folder / "state.sqlite") as state:
        publish_excerpt(WarehouseSettings(path=folder / "w.duckdb"), published, target, teams, "build", state)
    with Warehouse.open_published(target) as opened:
        yield opened


def texts(warehouse: Warehouse) -> set[str]:
    """Return every text that a database holds: cells, comments, names, views and macros."""
    columns = warehouse.rows(
        "select schema_name, table_name, column_name from duckdb_columns() where data_type = 'VARCHAR' and not internal"
    )
    found = {
        str(row[0])
        for schema, table, column in columns
        for row in warehouse.rows(f"select distinct {quoted(str(column))} from {schema}.{quoted(str(table))}")
    }
    catalogue = (
        "select comment from duckdb_columns()",
        "select comment from duckdb_tables()",
        "select table_name from duckdb_tables()",
        "select sql from duckdb_views() where not internal",
        "select macro_definition from duckdb_functions() where not internal",
    )
    return found | {str(row[0]) for query in catalogue for row in warehouse.rows(query)}


def test_every_mart_is_thought_of() -> None:
    marts = {model.name for model in load_models() if model.schema == "marts"}
    assert sorted(marts) == sorted({*BY_TEAM, *FOR_ALL, *LEFT_OUT}), "list it in sql/excerpt.py: may each team see it?"


@pytest.mark.e2e
def test_a_copy_of_the_demo_names_nobody_else(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    published = demo_folder(tmp_path_factory) / "demo/finance.duckdb"
    with Warehouse.open_published(published) as whole:
        wanted = whole.rows("select sum(billed_cost), count(*) from marts.monthly_cost where team = 'vision'")
        assert "nlp" in " ".join(texts(whole))
    with excerpt(published, tmp_path, ["vision"]) as opened:
        assert opened.rows("select sum(billed_cost), count(*) from marts.monthly_cost") == wanted
        assert opened.rows("select distinct team from marts.budget_status") == [("vision",)]
        schemas = opened.rows("select distinct schema_name from duckdb_tables() order by 1")
        assert schemas == [("focus",), ("marts",)]
        assert opened.rows("select 1 from duckdb_views() where not internal") == []
        held = "\n".join(sorted(texts(opened)))
        assert [name for name in OF_OTHERS if re.search(rf"\b{name}\b", held, re.IGNORECASE)] == []
    content = (tmp_path / "team.duckdb").read_bytes().lower()
    assert b"segmenter" in content
    # Google has a platform of its own: //aiplatform.googleapis.com.
    assert [name for name in OF_OTHERS if name.encode() in content and name != "platform"] == []


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a published copy in which the rows of one team name others in every way."""
    path = tmp_path_factory.mktemp("shared") / "finance.duckdb"
    charge = {
        "x_Source": "aws", "ChargeCategory": "Usage", "BilledCost": Decimal(10), "EffectiveCost": Decimal(10),
        "ListCost": Decimal(10), "ContractedCost": Decimal(10), "BillingCurrency": "USD",
        "x_PromotionalCredit": Decimal(0), "ServiceName": "nlp", "ProviderName": "AWS",
        "ChargePeriodStart": datetime(2026, 10, 2), "ChargePeriodEnd": datetime(2026, 10, 3),  # noqa: DTZ001 - UTC
        "SubAccountId": "1",
    }  # fmt: skip
    with Warehouse.open(WarehouseSettings(path=path)) as warehouse:
        prepare(warehouse)
        load_part(
            warehouse,
            source="aws",
            month=OCTOBER,
            charges=[
                charge | {
                    "x_RowNumber": 1, "x_TagSetId": 1, "SubAccountName": "acme-NLP_nlp", "ResourceId": "nlpserver/nlp",
                    "ResourceName": "o'reilly ranker", "Tags": '{"team":"vision","nlp":"x","by":"a \\"quoted\\" name"}',
                },
                charge | {"x_RowNumber": 2, "x_TagSetId": 2, "ResourceId": "i-2", "Tags": '{"team":"nlp"}'},
                charge | {"x_RowNumber": 3, "x_TagSetId": 3, "ResourceId": "i-3", "Tags": '{"team":"xy"}'},
            ],
            tag_sets=[
                (1, "team", "vision"), (1, "project", "nlp tools"), (2, "team", "nlp"), (2, "project", "ranker"),
                (3, "team", "xy"), (3, "project", 'a "quoted" name'),
            ],
        )  # fmt: skip
        replace_settings(
            warehouse,
            {
                "settings.attribution_tag": settings_rows(
                    "settings.attribution_tag",
                    [{"dimension": name, "priority": 1, "tag_key": name} for name in ("team", "project")],
                ),
                "settings.night": [(date(2026, 10, 20),)],
            },
        )
        build(warehouse)
        warehouse.checkpoint()
    return path


def test_names_of_others_are_replaced_in_rows_of_a_team(shared: Path, tmp_path: Path) -> None:
    with excerpt(shared, tmp_path, ["vision"]) as opened:
        names = '"SubAccountName", "ResourceId", "ResourceName", "Tags", "ServiceName"'
        row = opened.row(f"select {names} from focus.cost_and_usage")
        assert row == (
            f"acme-{OTHER}_{OTHER}",
            f"nlpserver/{OTHER}",
            f"o'reilly {OTHER}",
            f'{{"team":"vision","{OTHER}":"x","by":"{OTHER}"}}',
            "nlp",
        )
        assert opened.rows("select project, team, resource_id from marts.resource_daily_cost") == [
            ("nlp tools", "vision", f"nlpserver/{OTHER}")
        ]


def test_sources_named_after_others_stay_apart_and_short_names_go_where_they_are_a_value(tmp_path: Path) -> None:
    """A tag's value is a whole text, however short; two sources must not become one."""
    path = tmp_path / "finance.duckdb"
    charge = {
        "ChargeCategory": "Usage", "BillingCurrency": "USD", "ServiceName": "EC2", "ProviderName": "AWS",
        "ChargePeriodStart": datetime(2026, 10, 2), "SubAccountId": "1", "x_TagSetId": 1, "x_RowNumber": 1,  # noqa: DTZ001 - UTC
        "Tags": '{"team":"vision","lent":"hr","hr":"yes","thr":"x"}', "ChargeDescription": "fee of nlp for all",
        **dict.fromkeys(("BilledCost", "EffectiveCost", "ListCost", "ContractedCost"), Decimal(10)),
    }  # fmt: skip
    sources = ("f-nlp", "f-robots")
    with Warehouse.open(WarehouseSettings(path=path)) as warehouse:
        prepare(warehouse)
        for source in sources:
            tag_sets = [(1, "team", "vision"), (1, "project", "eye")]
            load_part(
                warehouse, source=source, month=OCTOBER, charges=[charge | {"x_Source": source}], tag_sets=tag_sets
            )
        owned = ("nlp", "robots", "hr")
        replace_settings(
            warehouse,
            {
                "settings.attribution_tag": settings_rows(
                    "settings.attribution_tag",
                    [{"dimension": name, "priority": 1, "tag_key": name} for name in ("team", "project")],
                ),
                "settings.owner": settings_rows("settings.owner", [{"project": n, "team": n} for n in owned]),
                "settings.source": settings_rows(
                    "settings.source", [{"source": name, "kind": "aws-export"} for name in sources]
                ),
                "settings.night": [(date(2026, 10, 20),)],
            },
        )
        build(warehouse)
        warehouse.checkpoint()
    with excerpt(path, tmp_path, ["vision"]) as opened:
        apart = [(f"f-{OTHER}",), (f"f-{OTHER}-2",)]
        assert opened.rows("select source from marts.monthly_cost order by 1") == apart
        assert opened.rows('select "x_Source" from focus.cost_and_usage order by 1') == apart
        assert opened.value('select distinct "Tags" from focus.cost_and_usage') == (
            f'{{"team":"vision","lent":"{OTHER}","{OTHER}":"yes","thr":"x"}}'
        )
        assert (
            opened.value('select distinct "ChargeDescription" from focus.cost_and_usage') == f"fee of {OTHER} for all"
        )


def test_a_copy_for_all_teams_replaces_nothing(shared: Path, tmp_path: Path) -> None:
    with excerpt(shared, tmp_path, ["vision", "nlp", "xy"]) as opened:
        assert opened.value("select count(*) from focus.cost_and_usage") == 3
        assert OTHER not in " ".join(texts(opened))


def test_a_short_name_is_replaced_only_where_it_is_the_whole_text(shared: Path, tmp_path: Path) -> None:
    with excerpt(shared, tmp_path, ["nlp"]) as opened:
        assert opened.rows("select distinct team from marts.monthly_cost") == [("nlp",)]
        assert "xy" not in texts(opened)
