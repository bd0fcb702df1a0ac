"""docs/finance.md: its text and questions from docs/questions.toml, its answers and tables out of the demo."""

from __future__ import annotations

import io
import tomllib
from dataclasses import dataclass
from typing import Any

from overrun.query_formats import write_table
from sql.warehouse import Row, Warehouse
from tests.conftest import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One entry of docs/questions.toml."""

    title: str
    about: str
    sql: str


def source() -> dict[str, Any]:
    """Return docs/questions.toml."""
    return tomllib.loads((ROOT / "docs/questions.toml").read_text(encoding="utf-8"))


def questions() -> list[Question]:
    """Return the questions in order."""
    entries = source()["question"]
    return [Question(title=entry["title"], about=entry["about"], sql=entry["sql"].strip()) for entry in entries]


def answer(finance: Warehouse, question: Question) -> str:
    """Return the answer to a question as a table of text."""
    cursor = finance.execute(question.sql)
    shown = io.StringIO()
    write_table([str(column[0]) for column in cursor.description or []], iter(cursor.fetchall()), shown)
    return "\n".join(line.rstrip() for line in shown.getvalue().splitlines())


def page(finance: Warehouse) -> str:
    """Return docs/finance.md as it should be."""
    asked = "".join(_section(finance, number, question) for number, question in enumerate(questions(), start=1))
    described = "".join(_table(finance, row) for row in _tables(finance))
    text = source()
    return f"{text['head']}{asked}\n{text['tables']}{described}"


def _section(finance: Warehouse, number: int, question: Question) -> str:
    return (
        f"\n### {number}. {question.title}\n\n{question.about}\n\n```sql\n{question.sql}\n```\n\n"
        f"```text\n{answer(finance, question)}\n```\n"
    )


def _tables(finance: Warehouse) -> list[Row]:
    """Return schema, name and comment of each table, marts first."""
    return finance.rows(
        "select * from (select schema_name as schema, view_name as name, comment from duckdb_views()"
        " union all select schema_name, table_name, comment from duckdb_tables())"
        " where schema in ('focus', 'marts') order by schema desc, name"
    )


def _table(finance: Warehouse, table: Row) -> str:
    schema, name, comment = table
    columns = finance.rows(
        "select column_name, data_type, comment from duckdb_columns() where schema_name = ? and table_name = ?"
        " order by column_index",
        [schema, name],
    )
    lines = [f"| `{column}` | {kind} | {str(said).replace('|', chr(92) + '|')} |" for column, kind, said in columns]
    body = "\n".join(lines)
    return f"\n### {schema}.{name}\n\n{comment}.\n\n| column | type | what it is |\n|---|---|---|\n{body}\n"
