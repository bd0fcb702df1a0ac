"""`overrun demo`: what it shows, that it can be repeated, and that it touches nobody's folder."""

from __future__ import annotations

import json
import shlex
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alerts.outbox import read_outbox
from overrun.cli import main
from overrun.commands.demo import program_as_called
from overrun.config import load_config
from overrun.demo.nights import MARKER, NIGHTS, DemoResult, clear
from overrun.exits import CommandFailed, Exit
from overrun.night import NightReport
from sql.lock import run_lock
from sql.state import StateStore
from tests.fakes.demo import LEFT, demo_folder

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_folder(tmp_path_factory)


def test_it_makes_anew_what_an_earlier_demo_left(demo: Path) -> None:
    assert (demo / "demo/notes.txt").read_text(encoding="utf-8") == LEFT


def test_it_shows_what_people_would_see(demo: Path) -> None:
    shown = (demo / "shown.txt").read_text(encoding="utf-8")
    assert "chat-assistant" in shown
    assert "vision-monthly          over" in shown
    assert "31,150.54 of 30,000.00 USD: vision-monthly crossed 100%" in shown
    assert "First message to this route." in shown
    assert str(demo / "demo/finance.duckdb") in shown
    assert "None" not in shown


def test_each_query_to_try_works(demo: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.chdir(demo)
    lines = [
        line for line in (demo / "shown.txt").read_text(encoding="utf-8").splitlines() if " query --config " in line
    ]
    assert len(lines) == 3
    for line in lines:
        assert main(shlex.split(line)[1:]) == Exit.DONE
        assert len(capsys.readouterr().out.splitlines()) > 3


def test_a_night_that_repeats_the_last_changes_nothing(demo: Path, capsys: Captured) -> None:
    day = NIGHTS[-1].isoformat()
    assert main(["nightly", "--config", str(demo / "demo/overrun.toml"), "--as-of", day, "--json"]) == Exit.DONE
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (report["loaded"], report["built"], report["queued"]) == ([], 0, 0)


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    clear(tmp_path)
    clear(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_its_own_folder_is_cleared_of_what_it_made_only(tmp_path: Path) -> None:
    (tmp_path / "exports/aws").mkdir(parents=True)
    for name in (MARKER, "overrun.toml", "finance.duckdb", "state.sqlite-wal", "exports/aws/x", "notes.sql"):
        (tmp_path / name).touch()
    clear(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [MARKER, "notes.sql"]


def test_a_folder_that_no_demo_made_is_left_alone(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "overrun.toml").write_text("mine", encoding="utf-8")
    assert main(["demo", "--directory", str(tmp_path)]) == Exit.USAGE
    assert "holds files that no demo made" in capsys.readouterr().err
    assert (tmp_path / "overrun.toml").read_text(encoding="utf-8") == "mine"


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "demo").touch()
    assert main(["demo", "--directory", str(tmp_path / "demo")]) == Exit.USAGE


def test_a_night_in_the_folder_is_not_disturbed(tmp_path: Path) -> None:
    (tmp_path / MARKER).touch()
    with run_lock(tmp_path / "warehouse.duckdb.lock"), pytest.raises(CommandFailed, match="a night runs in") as raised:
        clear(tmp_path)
    assert raised.value.code == Exit.LOCKED


def test_the_program_is_named_as_it_can_be_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = tmp_path / "bin dir" / "overrun"
    ours.parent.mkdir()
    ours.write_text("#!/bin/sh\n", encoding="utf-8")
    ours.chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    assert program_as_called(str(ours)) == shlex.quote(str(ours))
    assert program_as_called("/nowhere/pytest") == "overrun"
    monkeypatch.setenv("PATH", str(ours.parent))
    assert program_as_called(str(ours)) == "overrun"


def test_it_tells_programs_too(demo: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    config = load_config(demo / "demo/overrun.toml", {})
    with StateStore.open_read_only(config.state) as state:
        queued = read_outbox(state)
    result = DemoResult(
        config=config,
        reports=(NightReport(queued=queued[:1]), NightReport(queued=queued[1:])),
        projects=[("detector", "vision", Decimal("1.50"), Decimal("1.50"), "USD")],
        budgets=[("vision-monthly", "over", Decimal(2), Decimal(1), Decimal(200), "USD")],
    )
    monkeypatch.setattr("overrun.demo.nights.run_demo", lambda *_: result)
    assert main(["demo", "--json", "--config", "nowhere.toml", "--as-of", "2020-01-01"]) == Exit.DONE
    shown = json.loads(capsys.readouterr().out)
    assert [len(messages) for messages in shown["messages"]] == [1, 1]
    assert shown["budgets"][0]["spent_amount"] == "2"
    assert shown["projects"][0]["effective_cost"] == "1.50"
    assert (shown["exit_code"], len(shown["queries"])) == (0, 3)
