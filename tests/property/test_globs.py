"""A glob and the LIKE pattern made from it match the same values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overrun.config_values import like_pattern
from sql.warehouse import Warehouse

ALPHABET = "ab*?%_\\[]é日😀 \n."


@pytest.fixture(scope="module")
def warehouse() -> Iterator[Warehouse]:
    with Warehouse.in_memory() as opened:
        yield opened


def matches(glob: str, value: str) -> bool:
    """Return whether `glob` matches the whole of `value`, letter by letter."""
    if not glob:
        return not value
    if glob[0] == "*":
        return matches(glob[1:], value) or (bool(value) and matches(glob, value[1:]))
    return bool(value) and glob[0] in {"?", value[0]} and matches(glob[1:], value[1:])


def is_like(warehouse: Warehouse, value: str, pattern: str) -> object:
    return warehouse.value(r"select ?::varchar like ?::varchar escape '\'", [value, pattern])


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(glob=st.text(ALPHABET, max_size=6), value=st.text(ALPHABET, max_size=8))
def test_like_pattern_matches_what_the_glob_matches(warehouse: Warehouse, glob: str, value: str) -> None:
    assert is_like(warehouse, value, like_pattern(glob)) == matches(glob, value)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.text(st.characters(blacklist_characters="*?\0", blacklist_categories=["Cs"]), max_size=20))
def test_a_plain_value_matches_itself_alone(warehouse: Warehouse, value: str) -> None:
    assert is_like(warehouse, value, like_pattern(value)) is True
    assert is_like(warehouse, value + "x", like_pattern(value)) is False
    assert is_like(warehouse, value.swapcase(), like_pattern(value)) == (value.swapcase() == value)
