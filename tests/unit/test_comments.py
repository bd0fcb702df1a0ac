"""What people who open the file read: each table of focus and marts says its grain, each column what it is, on which
basis and in which unit."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

from sql.runner import build
from sql.warehouse import Row, Warehouse
from tests.fakes.parts import load_part, make_warehouse

PUBLIC = "schema_name in ('focus', 'marts')"


@pytest.fixture(scope="module")
def warehouse() -> Iterator[Warehouse]:
    with make_warehouse() as made:
        load_part(made, source="aws", month=date(2026, 10, 1), charges=[])
        build(made)
        yield made


@pytest.fixture(scope="module")
def columns(warehouse: Warehouse) -> list[tuple[str, str, str, str]]:
    """Return (table, column, type, comment) of everything that people query."""
    rows = warehouse.rows(
        "select schema_name || '.' || table_name, column_name, data_type, coalesce(comment, '')"
        f" from duckdb_columns() where {PUBLIC} order by all"
    )
    return [(str(row[0]), str(row[1]), str(row[2]), str(row[3])) for row in rows]


def names(columns: Iterator[tuple[str, str, str, str]]) -> list[str]:
    return [f"{table}.{column}: {comment}" for table, column, _, comment in columns]


def tables(warehouse: Warehouse) -> list[Row]:
    return warehouse.rows(
        f"select schema_name || '.' || view_name, comment from duckdb_views() where {PUBLIC} union all"
        f" select schema_name || '.' || table_name, comment from duckdb_tables() where {PUBLIC} order by 1"
    )


def test_every_table_says_what_one_row_is(warehouse: Warehouse) -> None:
    found = tables(warehouse)
    assert len(found) > 10
    assert [name for name, comment in found if "one row per" not in str(comment)] == []


def test_every_column_says_what_it_is(columns: list[tuple[str, str, str, str]]) -> None:
    vague = (entry for entry in columns if len(entry[3].split()) < 2 or entry[3].endswith("."))
    assert names(vague) == []


def test_every_amount_stands_beside_its_currency(columns: list[tuple[str, str, str, str]]) -> None:
    with_amounts = {table for table, column, _, _ in columns if column.endswith(("_cost", "_amount"))}
    assert "marts.monthly_cost" in with_amounts
    with_currency = {table for table, column, _, _ in columns if column == "billing_currency"}
    assert with_amounts - with_currency == set()


@pytest.mark.parametrize(
    ("endings", "kind", "words"),
    [
        (("_percent",), None, ("[%]",)),
        (("_days", "days_behind"), None, ("days", "Days")),
        ((), "DATE", ("day", "Day", "month")),
        ((), "TIMESTAMP", ("UTC", "00:00Z")),
        (("Quantity",), None, ("Unit", "Amount")),
    ],
    ids=["percent", "days", "dates", "instants", "quantities"],
)
def test_units_are_told(
    endings: tuple[str, ...], kind: str | None, words: tuple[str, ...], columns: list[tuple[str, str, str, str]]
) -> None:
    concerned = [entry for entry in columns if entry[1].endswith(endings) or entry[2] == kind]
    assert concerned
    assert names(entry for entry in concerned if not any(word in entry[3] for word in words)) == []


def test_every_cost_of_focus_says_its_basis(columns: list[tuple[str, str, str, str]]) -> None:
    costs = [
        entry for entry in columns if entry[1].endswith(("Cost", "UnitPrice")) and entry[0] == "focus.cost_and_usage"
    ]
    words = ("bill", "price", "commitment", "delivered", "provider", "PricingCurrency")
    assert len(costs) > 5
    assert names(entry for entry in costs if not any(word in entry[3] for word in words)) == []


def test_a_comment_that_says_why_is_no_description(columns: list[tuple[str, str, str, str]]) -> None:
    described = {(table, column): comment for table, column, _, comment in columns}
    assert described["marts.month_news", "news"] == "unproven or restated"
    assert "restated (it was final" in described["marts.month_status", "status"]
