"""Nights with `organizations = true`: names in the marts, rebuilt when they change; a refusal is a note, no failure."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from overrun.cli import main
from overrun.exits import Exit
from sql.warehouse import Warehouse, WarehouseSettings
from tests.fakes.aws import KEYS
from tests.fakes.cost_explorer import Answer, JsonServer, json_server, refusal
from tests.fakes.exports import cur_line, deliver_export
from tests.fakes.nights import OLD

Captured = pytest.CaptureFixture[str]
ACCOUNT = "012345678901"
CONFIGURATION = """\
[[source]]
name = "{name}"
kind = "aws-export"
location = "exports/aws"
endpoint_url = "{endpoint}"
organizations = true
{more}
"""
DENIED = refusal("AccessDeniedException", "User: arn:aws:iam::1:user/secret-name is not authorized")


@dataclass(frozen=True, slots=True)
class House:
    """A folder with one month of an export, and the organisation that is asked."""

    folder: Path
    server: JsonServer

    def configure(self, name: str = "aws-main", more: str = "") -> None:
        text = CONFIGURATION.format(name=name, endpoint=self.server.endpoint, more=more)
        (self.folder / "overrun.toml").write_text(text, encoding="utf-8")

    def give(self, name: str, *more: Answer, **tags: str) -> None:
        """Let the organisation list one account."""
        pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
        self.server.answers = [(200, {"Accounts": [{"Id": ACCOUNT, "Name": name}]}), *more, (200, {"Tags": pairs})]

    def run(self, command: str = "nightly", *arguments: str) -> int:
        config = str(self.folder / "overrun.toml")
        return main([command, "--config", config, "--as-of", "2026-11-20", *arguments])

    def rows(self, query: str, file: str = "finance.duckdb") -> list[tuple[object, ...]]:
        with Warehouse.open_published(self.folder / file) as copy:
            return copy.rows(query)

    def names(self) -> list[object]:
        """Return the names of accounts in a mart."""
        return [row[0] for row in self.rows("select distinct sub_account_name from marts.resource_daily_cost")]

    def status(self, capsys: Captured) -> Any:  # noqa: ANN401 - JSON
        capsys.readouterr()
        assert self.run("status", "--json") == Exit.DONE
        return json.loads(capsys.readouterr().out)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    deliver_export(tmp_path / "exports" / "aws", "2026-10", [[cur_line(cost="2", account=ACCOUNT)]])
    for path in (tmp_path / "exports").rglob("*"):
        os.utime(path, (OLD, OLD))
    with json_server() as server:
        house = House(tmp_path, server)
        house.configure()
        yield house


def test_a_name_reaches_the_marts_and_a_new_one_replaces_it(house: House, capsys: Captured) -> None:
    house.give("vision", team="eyes")
    assert house.run() == Exit.DONE
    assert house.names() == ["vision"]
    assert house.rows("from settings.sub_account_tag") == [("aws-main", ACCOUNT, "team", "eyes")]
    first = (house.folder / "finance.duckdb").stat().st_ino

    house.give("vision", team="eyes")
    assert house.run() == Exit.DONE
    assert (house.folder / "finance.duckdb").stat().st_ino == first, "nothing new is published"

    house.give("vision-prod")
    assert house.run() == Exit.DONE
    assert house.names() == ["vision-prod"]
    assert house.rows("from settings.sub_account_tag") == []
    assert house.status(capsys)["unlisted_accounts"] == []


def test_a_refusal_is_a_note_and_the_last_names_stay(house: House, capsys: Captured) -> None:
    house.give("vision")
    assert house.run() == Exit.DONE
    house.server.answers = [DENIED]
    assert house.run() == Exit.DONE
    assert "accounts_not_listed" in capsys.readouterr().err
    assert house.run("ingest") == Exit.DONE
    assert house.names() == ["vision"]

    status = house.status(capsys)
    (note,) = status["unlisted_accounts"]
    assert (note["source"], note["runs"]) == ("aws-main", 2)
    assert "organizations:ListAccounts" in note["message"]
    assert status["failed"] == [], "a note is no failure"
    assert house.run("status") == Exit.DONE
    text = capsys.readouterr().out
    assert "Accounts of aws-main not listed in 2 runs: names and tags are those that were listed last" in text
    assert "  warning: source aws-main: access is denied: organizations:ListAccounts" in text
    assert "secret-name" not in text

    house.give("vision")
    assert house.run() == Exit.DONE
    assert house.status(capsys)["unlisted_accounts"] == []


def test_what_was_listed_outlives_a_rebuild_and_a_new_name_of_the_source(house: House, capsys: Captured) -> None:
    house.give("vision", team="eyes")
    assert house.run() == Exit.DONE
    house.server.answers = [DENIED]
    assert house.run("rebuild") == Exit.DONE
    assert house.names() == ["vision"]

    house.configure("aws-renamed", 'was = "aws-main"')
    assert house.run() == Exit.DONE
    assert house.names() == ["vision"]
    assert house.rows("from ops.account_tag") == [("aws-renamed", ACCOUNT, "team", "eyes")]
    capsys.readouterr()


def test_raw_totals_follow_a_source_to_its_new_name(house: House) -> None:
    house.give("vision")
    assert house.run() == Exit.DONE
    with Warehouse.open(WarehouseSettings(path=house.folder / "warehouse.duckdb")) as warehouse:
        warehouse.execute("delete from ops.load_raw_total")
        warehouse.execute(
            "insert into ops.load_raw_total select load_id, 'p', 'a', 'Usage', 'USD', 'UnblendedCost', 2 from ops.load"
        )
    house.configure("aws-renamed", 'was = "aws-main"')
    house.give("vision")
    assert house.run() == Exit.DONE
    joined = "select count(*) from ops.load_raw_total inner join ops.load using (load_id) where is_current"
    assert house.rows(joined) == [(1,)]
