"""Whatever stands in the file, loading gives a configuration or problems with lines, never another error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overrun.config import load_config
from overrun.config_problems import ConfigError, known_keys
from overrun.config_schema import Document
from sql.text import visible

TABLES = known_keys(Document)
KEYS = sorted({key for table in TABLES for key in known_keys(Document, (table,))} | {"kind", "amount", "x", "project"})
WORDS = st.sampled_from(
    [
        "a",
        "email",
        "slack-webhook",
        "aws-export",
        "2026-10",
        "80%",
        "5 EUR",
        "USD",
        "1GB",
        "*",
        "",
        "\n",
        "env:X",
        "\u202e",
    ]
)
SCALARS = st.one_of(WORDS, st.text(max_size=5), st.integers(-5, 5), st.floats(), st.booleans())


def inline(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {inline(held)}" for key, held in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, str):
        escaped = "".join(f"\\U{ord(character):08X}" for character in value)
        return f'"{escaped}"'
    return str(value).lower() if isinstance(value, bool) else str(value)


VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=6,
)
TABLE = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6)
FILE = st.dictionaries(
    st.sampled_from([*TABLES, "zzz"]), st.one_of(TABLE, st.lists(TABLE, max_size=3), VALUES), max_size=5
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("config")


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=FILE.filter(lambda content: "\ud800" not in repr(content)))
def test_any_file_loads_or_is_refused_with_lines(folder: Path, content: dict[str, object]) -> None:
    file = folder / "overrun.toml"
    lines = [f"{key} = {inline(value)}" for key, value in content.items()]
    file.write_text("\n".join(lines), encoding="utf-8")
    try:
        load_config(file, {})
    except ConfigError as error:
        for problem in error.problems:
            line = int(problem.place.rpartition(":")[2])
            assert lines[line - 1].startswith(problem.key.partition(".")[0])
            assert problem.message
            assert visible(str(problem)) == str(problem)
