"""The configuration as rows of the settings tables, in the shape of the contract."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from overrun.config import load_config
from overrun.settings_tables import Row, settings_rows
from sql.contract import SETTINGS_TABLES
from sql.warehouse import Warehouse

TEXT = r"""
[[source]]
name = "aws"
kind = "aws-export"
location = "x"
[attribution]
accounts = { "1" = "p" }
[[attribution.rule]]
project = "p"
team = "t"
match = { tag = { project = ["p*", "100%_?"] }, account = "2*" }
[[attribution.rule]]
team = "u"
match = { account = 'a\b' }
[[attribution.rule]]
project = "ml-{tag:App|lower}-x"
workload = "evaluation"
from = "2026-10"
[attribution.rule.match]
account_tag = { unit = "x" }
cost_category = { Unit = "y*" }
account_name = "lab*"
resource = ["i-*", "i-*"]
[[owner]]
projects = ["p"]
team = "t"
cost_centre = "4711"
until = "2027-01"
[[team]]
name = "t"
projects = ["p", "q"]
[[budget]]
id = "b"
limit = { amount = "10", currency = "USD" }
include = ["tax"]
scope = { project = ["p", "q"], team = "t*" }
"""
AS_OF = date(2026, 11, 20)


@pytest.fixture
def rows(tmp_path: Path) -> dict[str, list[Row]]:
    file = tmp_path / "overrun.toml"
    file.write_text(TEXT, encoding="utf-8")
    return settings_rows(load_config(file, {}), AS_OF, [("old", "gcp-export", 2), ("aws", "aws-export", 1)])


def test_every_settings_table_has_rows_that_fit(rows: dict[str, list[Row]]) -> None:
    elsewhere = (
        "settings.price",
        "settings.exchange_rate",
        "settings.closed_month",
        "settings.closed_load",
        "settings.closed_figure",
        "settings.waste_dismissal",
    )
    tables = [table for table in SETTINGS_TABLES if table.full_name not in elsewhere]
    assert set(rows) == {table.full_name for table in tables}
    with Warehouse.in_memory() as warehouse:
        warehouse.execute("create schema settings")
        for table in tables:
            warehouse.execute(table.create_statement())
            marks = ", ".join("?" for _ in table.columns)
            for row in rows[table.full_name]:
                warehouse.execute(f"insert into {table.full_name} values ({marks})", row)
            read = warehouse.rows(f"from {table.full_name}")
            assert sorted(map(repr, _scaled(read))) == sorted(map(repr, _scaled(rows[table.full_name])))


def _scaled(rows: list[Row]) -> list[Row]:
    """Return rows with decimals of one scale, whatever the scale of their column is."""
    return [
        tuple(value.quantize(Decimal("1e-12")) if isinstance(value, Decimal) else value for value in row)
        for row in rows
    ]


def test_rows(rows: dict[str, list[Row]]) -> None:
    assert rows["settings.night"] == [(AS_OF,)]
    assert rows["settings.source"] == [("aws", "aws-export", 1, False), ("old", "gcp-export", 2, True)]
    assert rows["settings.quiet_source"] == rows["settings.invoice"] == []
    assert rows["settings.attribution_rule"] == [
        (1, "project", "p", None, None, "", None, None),
        (1, "team", "t", None, None, "", None, None),
        (2, "team", "u", None, None, "", None, None),
        (3, "project", "ml-", "App", "lower", "-x", date(2026, 10, 1), None),
        (3, "workload", "monitoring", None, None, "", date(2026, 10, 1), None),
    ]
    assert rows["settings.attribution_condition"] == [
        (1, 1, "tag", "project", "p%", None),
        (1, 1, "tag", "project", r"100\%\__", None),
        (1, 2, "account", "", "2%", None),
        (2, 1, "account", "", "a\\\\b", r"a\b"),
        (3, 1, "tag", "accountTag/unit", "x", "x"),
        (3, 2, "tag", "costCategory/Unit", "y%", None),
        (3, 3, "account_name", "", "lab%", None),
        (3, 4, "resource", "", "i-%", None),
    ]
    assert rows["settings.attribution_tag"] == [
        ("project", 1, "project"),
        ("project", 2, "Project"),
        ("team", 1, "team"),
        ("environment", 1, "environment"),
        ("environment", 2, "env"),
        ("workload", 1, "workload"),
        *(
            ("cost_centre", number, key)
            for number, key in enumerate(
                ("cost_centre", "cost-centre", "cost_center", "cost-center", "CostCenter"), start=1
            )
        ),
    ]
    assert rows["settings.owner"] == [("p", "t", "4711", None, None, date(2027, 1, 1))]
    assert rows["settings.attribution_account"] == [("1", "p")]
    assert rows["settings.team_project"] == [("t", "p"), ("t", "q")]
    assert rows["settings.budget"] == [
        ("b", "cost", "effective", False, True, False, False, Decimal(10), "USD", "month", "t"),
    ]
    assert rows["settings.budget_scope"] == [("b", "project", "p"), ("b", "project", "q"), ("b", "team", "t%")]
    assert rows["settings.budget_threshold"] == [("b", "80%", Decimal(8)), ("b", "100%", Decimal(10))]
