"""A (provider, billing account, month) belongs to one source; the configuration says which."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from ingest.errors import SourceConflict
from tests.fakes.exports import cur_lines, deliver_export, deliver_legacy, focus_charge, write_csv
from tests.ingest.night import Night, source

OCTOBER, NOVEMBER = date(2026, 10, 1), date(2026, 11, 1)


@pytest.fixture
def legacy(bucket: Path) -> Path:
    """Return a bucket whose legacy report has 1 in each of three months."""
    for month in ("2026-09", "2026-10", "2026-11"):
        deliver_legacy(bucket, month, [cur_lines("1", month=month)])
    return bucket


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """Return a bucket whose CUR 2.0 export has 10 in each of two months."""
    for month in ("2026-10", "2026-11"):
        deliver_export(tmp_path / "newer", month, [cur_lines("10", month=month)])
    return tmp_path / "newer"


def test_two_sources_of_one_payer_and_month_are_a_conflict(night: Night, legacy: Path, newer: Path) -> None:
    report = night.run(source(legacy, name="old"), source(newer, name="new"))

    assert [type(problem) for problem in report.problems] == [SourceConflict, SourceConflict]
    for problem, month in zip(report.problems, (OCTOBER, NOVEMBER), strict=True):
        assert (problem.source, problem.billing_month) == ("new", month)
        assert "111111111111" in str(problem)
        assert "source old" in str(problem)
        assert 'replaces = "old"' in str(problem.hint)
    assert night.values("x_Source") == ["old"] * 3
    assert night.billed() == 3


def test_a_conflict_stays_one_on_the_next_night(night: Night, legacy: Path, newer: Path) -> None:
    night.run(source(legacy, name="old"), source(newer, name="new"))

    report = night.run(source(legacy, name="old"), source(newer, name="new"))

    assert [type(problem) for problem in report.problems] == [SourceConflict, SourceConflict]
    assert night.billed() == 3


@pytest.mark.parametrize("order", [("old", "new"), ("new", "old")])
def test_a_source_that_replaces_another_takes_its_months_over(
    night: Night, legacy: Path, newer: Path, order: tuple[str, str]
) -> None:
    sources = {"old": source(legacy, name="old"), "new": source(newer, name="new", replaces="old")}

    for _ in range(3):
        night.load(*(sources[name] for name in order))

    assert night.rows('"x_Source", "BilledCost"') == [("new", 10), ("new", 10), ("old", 1)]


def test_a_replaced_month_stays_replaced_when_the_old_source_restates_it(
    night: Night, legacy: Path, newer: Path
) -> None:
    sources = source(legacy, name="old"), source(newer, name="new", replaces="old")
    night.load(*sources)
    deliver_legacy(legacy, "2026-10", [cur_lines("1", "1")], assembly="20261005T000000Z")

    night.load(*sources)

    assert night.billed() == 21


def test_from_and_until_part_two_sources(night: Night, legacy: Path, newer: Path) -> None:
    night.load(source(legacy, name="old", until_month=OCTOBER), source(newer, name="new", from_month=OCTOBER))

    assert night.rows('"x_Source", "BilledCost"') == [("new", 10), ("new", 10), ("old", 1)]


def test_sources_of_two_payers_do_not_conflict(night: Night, legacy: Path, tmp_path: Path) -> None:
    deliver_legacy(tmp_path / "b", "2026-10", [cur_lines("5", payer="333333333333")])

    night.load(source(legacy, name="a"), source(tmp_path / "b", name="b"))

    assert night.billed() == 8


def test_the_same_account_id_of_two_providers_is_no_conflict(night: Night, legacy: Path, tmp_path: Path) -> None:
    place = write_csv(tmp_path / "f.csv", [focus_charge(cost="5")])

    night.load(source(legacy, name="a"), source(place, "focus-export", name="b"))

    assert night.billed() == 8


def test_a_report_and_a_focus_export_of_one_payer_are_a_conflict(night: Night, legacy: Path, tmp_path: Path) -> None:
    place = write_csv(tmp_path / "f.csv", [focus_charge(cost="5", ProviderName="Amazon Web Services")])

    problem = night.refusal(source(legacy, name="a"), source(place, "focus-export", name="b"))

    assert isinstance(problem, SourceConflict)
    assert night.billed() == 3


def test_an_account_that_moves_away_within_a_source_is_free_for_another(
    night: Night, bucket: Path, tmp_path: Path
) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1", payer="333333333333")], assembly="20261001T000000Z")
    night.load(source(bucket, name="a"))
    deliver_legacy(bucket, "2026-10", [cur_lines("2")], assembly="20261002T000000Z")
    deliver_legacy(tmp_path / "b", "2026-10", [cur_lines("5", payer="333333333333")])

    night.load(source(bucket, name="a"), source(tmp_path / "b", name="b"))

    assert night.billed() == 7
