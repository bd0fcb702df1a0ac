"""`overrun status`: before the first night, after good, failed and killed ones, and while one runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from overrun.cli import main
from overrun.exits import Exit
from overrun.status_read import Oddity, SourceStatus, Status
from overrun.status_show import ODDITIES_SHOWN, print_status
from sql.lock import run_lock
from sql.state import StateStore
from tests.fakes.focus_house import write_house

Captured = pytest.CaptureFixture[str]
DAY = "2026-11-05"
CHANNEL = """\
[[channel]]
id = "slack"
kind = "slack-webhook"
url = "env:NOT_SET"
[[route]]
channels = ["slack"]
"""


def night(config: Path, *arguments: str, as_of: str = DAY) -> int:
    return main(["nightly", "-q", "--config", str(config), "--as-of", as_of, *arguments])


def status_json(config: Path, capsys: Captured, as_of: str = DAY) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["status", "--json", "--config", str(config), "--as-of", as_of]) == Exit.DONE
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def status_text(config: Path, capsys: Captured, as_of: str = DAY) -> str:
    capsys.readouterr()
    assert main(["status", "--config", str(config), "--as-of", as_of]) == Exit.DONE
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    file = write_house(tmp_path_factory.mktemp("house"))
    assert night(file) == Exit.DONE
    yield file


def test_before_the_first_night(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path)
    text = status_text(config, capsys)
    assert text.startswith("No night has run yet")
    assert "no data yet" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["exports", "overrun.toml"]


def test_without_a_source(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "overrun.toml").touch()
    assert "No source is configured." in status_text(tmp_path / "overrun.toml", capsys)


def test_after_a_night(config: Path, capsys: Captured) -> None:
    answer = status_json(config, capsys)
    (source,) = answer["sources"]
    assert (source["source"], source["kind"], source["months"], source["rows"]) == ("clouds", "focus-export", 1, 6)
    assert (source["last_usage_date"], source["complete_through"]) == ("2026-11-03", "2026-11-01")
    assert (source["days_behind"], source["state"], source["is_retired"]) == (1, "fresh", False)
    (run,) = answer["runs"]
    assert (run["command"], run["as_of"], run["exit_code"]) == ("nightly", DAY, 0)
    assert (answer["failed"], answer["running_pid"], answer["has_run"]) == ([], None, True)
    assert answer["copies"][0]["is_touched"] is False
    assert answer["kept"] == 1


def test_the_table_of_sources(config: Path, capsys: Captured) -> None:
    text = status_text(config, capsys)
    assert "clouds  1 (2026-11 to 2026-11)        6" in text
    assert "2026-11-03  2026-11-01        1 d     fresh" in text
    assert "0 done" in text


def test_a_source_falls_behind_with_the_day_on_which_somebody_asks(config: Path, capsys: Captured) -> None:
    (source,) = status_json(config, capsys, as_of="2026-11-15")["sources"]
    assert (source["days_behind"], source["state"]) == (11, "late")


def test_a_run_under_way(config: Path, capsys: Captured) -> None:
    lock = config.parent / "warehouse.duckdb.lock"
    with run_lock(lock), StateStore.open(config.parent / "state.sqlite") as state:
        state.start_run("going", "nightly", date(2026, 11, 6), now=datetime(2027, 1, 1, tzinfo=UTC))
        text = status_text(config, capsys)
        answer = status_json(config, capsys)
        state.execute("delete from run where run_id = 'going'")
    assert "A run is under way (process" in text
    assert "under way" in text
    assert answer["runs"][0]["is_under_way"] is True


def test_a_killed_run(config: Path, capsys: Captured) -> None:
    with StateStore.open(config.parent / "state.sqlite") as state:
        state.start_run("killed", "nightly", date(2026, 11, 6), now=datetime(2027, 1, 1, tzinfo=UTC))
        text = status_text(config, capsys)
        answer = status_json(config, capsys)
        state.execute("delete from run where run_id = 'killed'")
    assert "killed before its end" in text
    assert (answer["runs"][0]["is_killed"], answer["running_pid"]) == (True, None)


def test_what_failed_stands_until_a_night_has_made_up_for_it(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path, '[[source]]\nname = "gone"\nkind = "aws-export"\nlocation = "nowhere"\n')
    assert night(config) == Exit.SOURCE
    assert main(["alert", "-q", "--config", str(config), "--as-of", DAY]) == Exit.DONE
    text = status_text(config, capsys)
    assert "Failed in nightly of" in text
    assert "error: source gone: " in text
    assert "hint: check `location`" in text
    assert "gone    0" in text
    (failed,) = status_json(config, capsys)["failed"]
    assert (failed["exit_code"], failed["problems"][0]["source"]) == (3, "gone")
    (tmp_path / "nowhere").mkdir()
    assert night(config) == Exit.DONE
    assert "Failed" not in status_text(config, capsys)


def test_messages_that_wait(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path, CHANNEL)
    assert night(config) == Exit.UNDELIVERED
    text = status_text(config, capsys)
    assert "Messages that wait: 1" in text
    assert "environment variable NOT_SET is not set" in text
    with StateStore.open(tmp_path / "state.sqlite") as state:
        state.execute("update outbox set status = 'dead', last_error = 'no_service'")
    assert "Messages given up: 1" in status_text(config, capsys)
    assert status_json(config, capsys)["dead"][0]["last_error"] == "no_service"


def test_a_message_that_some_recipients_did_not_get(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path, CHANNEL)
    assert night(config) == Exit.UNDELIVERED
    assert status_json(config, capsys)["partly"] == []
    with StateStore.open(tmp_path / "state.sqlite") as state:
        state.execute(
            "update outbox set status = 'sent', sent_at = '2026-11-05T07:00:00Z', last_error = 'refused: b@x'"
        )
    text = status_text(config, capsys)
    assert "Messages that some recipients did not get: 1" in text
    assert "refused: b@x" in text
    assert status_json(config, capsys)["partly"][0]["last_error"] == "refused: b@x"
    config.write_text(config.read_text(encoding="utf-8").replace('"slack"', '"other"'), encoding="utf-8")
    assert status_json(config, capsys)["partly"] == []


def test_a_retired_source_and_a_copy_that_was_touched(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path)
    assert night(config) == Exit.DONE
    config.write_text("", encoding="utf-8")
    assert "fresh, retired" in status_text(config, capsys)
    (tmp_path / "finance.duckdb").unlink()
    text = status_text(config, capsys)
    assert "it has been changed or removed since" in text
    assert "No source is configured." in text


def test_odd_input_is_cut_to_the_most_frequent(capsys: Captured) -> None:
    oddities = tuple(
        Oddity(rule=f"rule {number}\x1b", effect="noted", subject="col", rows=9 - number, months=1)
        for number in range(7)
    )
    source = SourceStatus(
        source="aws", kind="aws-export", months=2, months_without_resource_ids=2, months_unproven=1, oddities=oddities
    )
    import sys

    print_status(Status(as_of=date(2026, 11, 5), has_run=True, running_pid=0, sources=(source,)), sys.stdout)
    text = capsys.readouterr().out
    assert text.startswith("A run is under way (another process)")
    assert text.count("rows noted") == ODDITIES_SHOWN
    assert "  ... 2 more: " in text
    assert "no resource ids in 2 months" in text
    assert "effective cost is unproven in 1 month:" in text
    assert "\x1b" not in text


def test_rules_of_focus_that_are_broken_are_cut_to_the_most_frequent(capsys: Captured) -> None:
    import sys

    rules = (("region_named", 900), ("list_cost_of_price", 3), ("sku_of_price_set", 2), ("service_name_set", 1))
    source = SourceStatus(source="aws", kind="aws-export", months=1, rules_broken=rules)
    status = Status(as_of=date(2026, 11, 5), has_run=True, running_pid=0, sources=(source,))
    print_status(status, sys.stdout)

    assert (
        "4 rules of FOCUS broken, charges each: region_named 900, list_cost_of_price 3, sku_of_price_set 2 and 1 more"
        " (marts.conformance)"
    ) in capsys.readouterr().out


def test_rules_of_focus_that_are_broken_are_read_from_the_copy(config: Path, capsys: Captured) -> None:
    (source,) = status_json(config, capsys)["sources"]

    assert {"rule": "pricing_quantity_set", "rows": 6} in source["rules_broken"]
