"""The scanner that finds a model's references sees in each text what a parser sees: splicing a month depends on it."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from sql.model import Model, load_models, scan

MODELS = load_models()


def fault(text: str) -> str | None:
    """Return what a parser finds wrong with a text, or sees in it that the scanner does not; None if all is well."""
    statements = sqlglot.parse(text, read="duckdb")
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        return "is not exactly one SELECT"
    named = {cte.alias for cte in statements[0].find_all(exp.CTE)}
    tables = list(statements[0].find_all(exp.Table))
    parsed = sorted(f"{table.db}.{table.name}" for table in tables if table.db)
    stray = sorted({table.name for table in tables if not table.db} - named)
    if stray or parsed != sorted(reference.name for reference in scan(text).references):
        return f"reads {', '.join(stray or parsed)} in a form that the runner does not see"
    return None


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.full_name)
def test_model_and_checks_name_each_relation_as_the_runner_sees_it(model: Model) -> None:
    assert [fault(query.text) for query in (model.query, *(check.query for check in model.checks))] == [None] * (
        1 + len(model.checks)
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select * from core.daily, core.tag_set", "core.daily, core.tag_set in a form"),
        ("select * from daily", "reads daily in a form"),
        ('select * from "core"."daily"', "core.daily in a form"),
        ("select * from core.daily; select 2 from core.daily", "exactly one SELECT"),
        ("delete from core.daily", "exactly one SELECT"),
    ],
)
def test_a_text_that_the_runner_would_misread_is_found(text: str, message: str) -> None:
    assert message in str(fault(text))
