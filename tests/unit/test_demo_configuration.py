"""The demo's configuration: where it looks for exports, whom it tells, which teams it knows."""

from __future__ import annotations

import tomllib
from pathlib import Path

from overrun.demo.configuration import CONFIGURATION, EXPORTS, write_configuration


def test_it_is_written_as_it_stands_over_an_older_one(tmp_path: Path) -> None:
    path = tmp_path / "demo" / "overrun.toml"
    write_configuration(path)
    path.write_text("older", encoding="utf-8")
    write_configuration(path)
    assert path.read_text(encoding="utf-8") == CONFIGURATION
    assert [entry.name for entry in path.parent.iterdir()] == ["overrun.toml"]


def test_its_sources_lie_where_the_exports_are_written() -> None:
    sources = tomllib.loads(CONFIGURATION)["source"]
    assert [(source["name"], source["kind"], source["location"]) for source in sources] == [
        ("aws-main", "aws-export", f"{EXPORTS}/aws/acme"),
        ("gcp-main", "gcp-export", f"{EXPORTS}/gcp/detailed"),
    ]


def test_it_sends_nothing() -> None:
    document = tomllib.loads(CONFIGURATION)
    assert not document.keys() & {"channel", "route"}


def test_each_team_has_a_budget_and_no_project_has_two_teams() -> None:
    document = tomllib.loads(CONFIGURATION)
    teams = {team["name"] for team in document["team"]}
    projects = [project for team in document["team"] for project in team["projects"]]
    assert len(teams) == 4
    assert len(projects) == len(set(projects)) >= 8
    scopes = [budget["scope"] for budget in document["budget"]]
    assert {name for scope in scopes for name in scope.get("team", [])} == teams
    assert {name for scope in scopes for name in scope.get("project", [])} == {"chat-assistant"}
    assert all(budget["thresholds"] == ["80%", "100%"] for budget in document["budget"])
