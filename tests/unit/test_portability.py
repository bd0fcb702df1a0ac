"""Core and marts stay within what sqlglot carries to Spark, BigQuery, Athena and Trino.

sqlglot passes a function that it does not know through without a word, so the syntax tree is walked against a list of
what is allowed, and each translation is parsed again in its own dialect.
"""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from sql.model import Model, load_models, scan

MODELS = load_models()
TARGETS = ("spark", "bigquery", "athena", "trino")

FUNCTIONS = {
    "abs", "and", "case", "cast", "coalesce", "count", "datediff", "if", "lag", "length", "levenshtein", "lower", "max",
    "min", "nullif", "or", "replace", "rownumber", "sum", "timestamptrunc", "datetrunc", "translate", "trim", "upper",
}  # fmt: skip
"""sqlglot's names of functions that each target has with the same meaning."""

REFUSED: tuple[type[exp.Expression], ...] = (
    exp.Anonymous, exp.AnonymousAggFunc, exp.Pivot, exp.Qualify, exp.Lambda, exp.Struct, exp.Array, exp.Map, exp.Unnest,
    exp.JSONExtract, exp.JSONExtractScalar, exp.RegexpLike, exp.Lateral, exp.Parameter, exp.Placeholder, exp.Filter,
)  # fmt: skip

TYPES = {"DATE", "VARCHAR", "TEXT", "BIGINT", "DOUBLE", "DECIMAL", "INTERVAL"}


def _problems(text: str) -> list[str]:
    """Return what in a model a target would not understand."""
    tree = sqlglot.parse_one(text, read="duckdb")
    found = [f"{type(node).__name__}: {node.sql('duckdb')}" for node in tree.walk() if isinstance(node, REFUSED)]
    found += [f"function {node.key}" for node in tree.find_all(exp.Func) if node.key not in FUNCTIONS]
    found += [
        f"type {node.this.value}" for node in tree.find_all(exp.DataType) if node.this.value not in TYPES | {"INTERVAL"}
    ]
    found += ["group by all" for node in tree.find_all(exp.Group) if node.args.get("all")]
    found += ["ordinal" for node in tree.find_all(exp.Group) if any(key.is_int for key in node.expressions)]
    return found


def _translated(text: str, target: str) -> str:
    """Return the model in another dialect; BigQuery's LIKE has no ESCAPE clause and escapes by a backslash as it is."""
    tree = sqlglot.parse_one(text, read="duckdb")
    if target == "bigquery":
        for node in list(tree.find_all(exp.Escape)):
            assert node.expression.name == "\\"
            node.replace(node.this)
    return tree.sql(target, unsupported_level=sqlglot.ErrorLevel.RAISE)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.full_name)
def test_model_uses_only_what_every_target_has(model: Model) -> None:
    assert _problems(model.query.text) == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.full_name)
def test_model_is_carried_to_target(model: Model, target: str) -> None:
    translated = _translated(model.query.text, target)
    tree = sqlglot.parse_one(translated, read=target)
    tables = {f"{table.db}.{table.name}" for table in tree.find_all(exp.Table) if table.db}
    assert tables == {reference.name for reference in scan(model.query.text).references}


@pytest.mark.parametrize(
    "text",
    [
        "select list_aggregate(a, 'sum') as x from core.t",
        "select farm_fingerprint(a) as x from core.t",
        "select a from core.t group by all",
        "select a, count(*) from core.t group by 1",
        "select a from core.t qualify row_number() over (order by a) = 1",
        "select {'a': a} as x from core.t",
        "select a ->> '$.b' as x from core.t",
        "select cast(a as hugeint) as x from core.t",
        "select count(*) filter (where a) from core.t",
    ],
)
def test_what_one_engine_alone_understands_is_found(text: str) -> None:
    assert _problems(text)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.full_name)
def test_model_keeps_the_style_of_the_house(model: Model) -> None:
    lines = model.query.text.splitlines()
    assert len(lines) <= 100
    assert max(len(line) for line in lines) <= 120
    code = [line for line in lines if not line.lstrip().startswith("--")]
    assert not [line for line in code if " right join " in line or line.rstrip() != line]
