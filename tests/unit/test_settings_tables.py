"""Settings tables are replaced where their content differs, and never otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest

from sql.contract import SETTINGS_TABLES
from sql.errors import WarehouseError
from sql.settings import dated_settings_hashes, forget_settings, replace_settings, settings_hash
from tests.fakes.parts import make_warehouse

NIGHT, TEAMS = "settings.night", "settings.team_project"


def test_only_a_table_whose_content_differs_is_replaced() -> None:
    rows: dict[str, Sequence[tuple[object, ...]]] = {NIGHT: [(date(2026, 11, 20),)], TEAMS: [("a", "p"), ("b", "q")]}
    with make_warehouse() as warehouse:
        assert replace_settings(warehouse, rows) == [NIGHT, TEAMS]
        assert replace_settings(warehouse, rows | {TEAMS: rows[TEAMS][::-1]}) == []
        before = settings_hash(warehouse, TEAMS)
        assert replace_settings(warehouse, rows | {NIGHT: [(date(2026, 11, 21),)]}) == [NIGHT]
        assert settings_hash(warehouse, TEAMS) == before
        assert warehouse.rows(f"select * from {NIGHT}") == [(date(2026, 11, 21),)]


def test_a_table_that_is_not_named_keeps_its_rows_and_an_empty_one_is_emptied() -> None:
    with make_warehouse() as warehouse:
        never_written = settings_hash(warehouse, TEAMS)
        assert replace_settings(warehouse, {TEAMS: []}) == []
        replace_settings(warehouse, {TEAMS: [(f"t{number}", "p") for number in range(1201)]})
        replace_settings(warehouse, {})
        assert warehouse.value(f"select count(*) from {TEAMS}") == 1201
        assert replace_settings(warehouse, {TEAMS: []}) == [TEAMS]
        assert warehouse.value(f"select count(*) from {TEAMS}") == 0
        assert settings_hash(warehouse, TEAMS) == never_written


def test_amounts_are_written_exactly_beside_nulls_and_other_scales() -> None:
    amounts = [Decimal("0.000000000001"), Decimal("99999999999999999999999999.999999999999"), Decimal("-2"), None]
    rows = [("b", str(number), amount) for number, amount in enumerate(amounts)]
    with make_warehouse() as warehouse:
        replace_settings(warehouse, {"settings.budget_threshold": rows})
        read = warehouse.rows("select threshold_amount from settings.budget_threshold order by threshold")
        assert [row[0] for row in read] == amounts


def test_an_unknown_table_is_refused() -> None:
    with make_warehouse() as warehouse, pytest.raises(WarehouseError, match=r"settings\.nothing"):
        replace_settings(warehouse, {"settings.nothing": []})


def test_a_failure_changes_no_table() -> None:
    with make_warehouse() as warehouse:
        with pytest.raises(Exception, match="Conversion"):
            replace_settings(warehouse, {NIGHT: [(date(2026, 11, 20),)], "settings.source": [("a", "k", "x", False)]})
        assert warehouse.rows(f"select * from {NIGHT}") == []
        assert settings_hash(warehouse, NIGHT) == "empty"


RATES = "settings.exchange_rate"


def rate(day: date, value: str) -> tuple[object, ...]:
    return ("USD", day, None, Decimal(value), day, 1, "made", "up")


def test_a_dated_table_has_a_hash_for_what_each_month_may_read() -> None:
    october, november = date(2026, 10, 5), date(2026, 11, 5)
    with make_warehouse() as warehouse:
        assert dated_settings_hashes(warehouse) == {RATES: {}}
        replace_settings(warehouse, {RATES: [rate(october, "1"), rate(november, "1")]})
        before = dated_settings_hashes(warehouse)[RATES]
        assert list(before) == ["2026-10-01", "2026-11-01"]

        # A later row changes nothing of the month before, an earlier one changes both.
        replace_settings(warehouse, {RATES: [rate(october, "1"), rate(november, "2")]})
        later = dated_settings_hashes(warehouse)[RATES]
        assert (later["2026-10-01"] == before["2026-10-01"], later["2026-11-01"] == before["2026-11-01"]) == (
            True,
            False,
        )
        replace_settings(warehouse, {RATES: [rate(october, "3"), rate(november, "2")]})
        earlier = dated_settings_hashes(warehouse)[RATES]
        assert not set(earlier.values()) & set(later.values())

        # Back to what it was, in any order, is the same; emptied or forgotten, there is nothing.
        replace_settings(warehouse, {RATES: [rate(november, "1"), rate(october, "1")]})
        assert dated_settings_hashes(warehouse)[RATES] == before
        replace_settings(warehouse, {RATES: []})
        assert dated_settings_hashes(warehouse) == {RATES: {}}
        replace_settings(warehouse, {RATES: [rate(october, "1")]})
        forget_settings(warehouse, next(table for table in SETTINGS_TABLES if table.full_name == RATES))
        assert (dated_settings_hashes(warehouse), settings_hash(warehouse, RATES)) == ({RATES: {}}, "empty")
