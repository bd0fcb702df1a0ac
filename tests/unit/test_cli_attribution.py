"""`overrun explain` and `overrun attribution suggest`, on a night of a small house with hostile tags."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from overrun.attribution_read import glob_of, rule_texts
from overrun.attribution_suggest import quoted_toml
from overrun.cli import main
from overrun.config import load_config
from overrun.config_values import like_pattern
from overrun.exits import Exit
from sql.warehouse import Warehouse

Captured = pytest.CaptureFixture[str]

INJECTION = "x' OR 1=1 --"
ODD_KEY = 'o\'wn,er\n"x" 🐍'
HEADER = (
    "BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "BillingAccountId", "BillingCurrency",
    "BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd", "ChargeCategory", "ProviderName",
    "ServiceName", "ServiceCategory", "SubAccountId", "SubAccountName", "RegionId", "ResourceId", "Tags",
)  # fmt: skip
CHARGES: tuple[tuple[str, str, str, str, str, str | None, dict[str, str]], ...] = (
    # cost, account, name, service, region, resource, tags
    ("100", "a1", "vision-prod", "Compute", "eu-1", "web-1", {"project": "vision", "app": "eye"}),
    ("40", "a1", "vision-prod", "Compute", "eu-1", "disk-1", {}),
    ("30", "a2", "vision-dev", "Storage", "us-1", "web-2", {"app": "eye"}),
    ("7", "a3", "lab", "Compute", "eu-1", "gpu-1", {ODD_KEY: "y", "stage": "Training"}),
    ("5", "a3", "lab", "Storage", "us-1", "gpu-2", {"project": INJECTION, "big": "v" * 60_000}),
    ("3", "a3", "lab", "Storage", "us-1", None, {"Projekt": "vision"}),
)
RULES = f"""
[[source]]
name = "clouds"
kind = "focus-export"
location = "exports"

[attribution]
project_tags = ["project"]

[[attribution.rule]]
project = "gpu"
environment = "prod"
match = {{ service = "Compute", resource = "gpu-*", account_name = "la?" }}

[[attribution.rule]]
workload = "{{tag:stage}}"
team = "t"
match = {{ tag = {{ {json.dumps(ODD_KEY, ensure_ascii=False)} = "y" }} }}

[[attribution.rule]]
team = "storage"
from = "2026-12"
match = {{ service = "Storage" }}

[[owner]]
projects = ["vision"]
team = "eyes"
cost_centre = "4711"
gl_account = "620100"
"""


def write_charges(folder: Path) -> None:
    """Write one FOCUS export of November."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADER)
    for cost, account, name, service, region, resource, tags in CHARGES:
        writer.writerow(
            (
                cost, cost, cost, cost, "0123", "USD", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z",
                "2026-11-02T00:00:00Z", "2026-11-03T00:00:00Z", "Usage", "Acme Cloud", service, "Compute", account,
                name, region, resource or "", json.dumps(tags, ensure_ascii=False),
            )
        )  # fmt: skip
    folder.mkdir(parents=True)
    (folder / "focus.csv").write_text(text.getvalue(), encoding="utf-8")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("attributed")
    write_charges(folder / "exports")
    file = folder / "overrun.toml"
    file.write_text(RULES, encoding="utf-8")
    assert main(["nightly", "--config", str(file), "--as-of", "2026-11-20", "-q"]) == Exit.DONE
    yield file


def explained(config: Path, capsys: Captured, *arguments: str) -> dict[str, tuple[str, str]]:
    """Return what each dimension is, and what named it."""
    assert main(["explain", "--config", str(config), "--json", *arguments]) == Exit.DONE
    shown = json.loads(capsys.readouterr().out)
    return {one["dimension"]: (one["name"], one["named_by"]) for one in shown["decisions"]}


def test_a_resource_that_a_rule_decides(config: Path, capsys: Captured) -> None:
    assert explained(config, capsys, "gpu-1") == {
        "project": ("gpu", "rule 1"),
        "team": ("t", "rule 2"),
        "environment": ("prod", "rule 1"),
        "workload": ("training", "rule 2"),
        "cost_centre": ("unattributed", "unattributed"),
    }


def test_a_project_with_its_owner(config: Path, capsys: Captured) -> None:
    shown = explained(config, capsys, "vision", "--month", "2026-11")
    assert shown["project"] == ("vision", "tag project")
    assert shown["team"] == ("eyes", "owner of project")
    assert shown["cost_centre"] == ("4711", "owner of project")


def test_a_hostile_project_is_a_name(config: Path, capsys: Captured) -> None:
    assert explained(config, capsys, INJECTION)["project"] == (INJECTION, "tag project")


def test_one_row_and_the_sql_that_is_shown(config: Path, capsys: Captured) -> None:
    main(["query", "--config", str(config), "--json",
          "select x_LoadId as l, x_RowNumber as r from focus.cost_and_usage where ResourceId = 'gpu-1'"])  # fmt: skip
    (row,) = json.loads(capsys.readouterr().out)
    thing = f"{row['l']}/{row['r']}"
    assert explained(config, capsys, thing)["project"] == ("gpu", "rule 1")
    assert main(["explain", "--config", str(config), "--json", thing]) == Exit.DONE
    shown = json.loads(capsys.readouterr().out)
    assert shown["kind"] == "row"
    assert shown["decisions"][0]["rule"] == (
        'environment = "prod", project = "gpu" where account_name is "la?" and service is "Compute"'
        ' and resource is "gpu-*"'
    )
    assert main(["query", "--config", str(config), "--json", shown["sql"]]) == Exit.DONE
    again = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in again] == [one["name"] for one in shown["decisions"]]


def test_what_people_see_has_no_control_characters(config: Path, capsys: Captured) -> None:
    assert main(["explain", "--config", str(config), "gpu-1"]) == Exit.DONE
    shown = capsys.readouterr().out
    assert shown.startswith("resource gpu-1, 2026-11\n")
    assert 'rule 2: team = "t", workload = "{tag:stage}" where tag "o\'wn,er' in shown
    assert "\nselect * from (" in shown


def test_a_thing_that_is_not_there(config: Path, capsys: Captured) -> None:
    assert main(["explain", "--config", str(config), "visoin"]) == Exit.USAGE
    error = capsys.readouterr().err
    assert 'no resource, project or row "visoin" has charges' in error
    assert 'did you mean "vision"?' in error
    assert main(["explain", "--config", str(config), "vision", "--month", "2026-09"]) == Exit.USAGE
    error = capsys.readouterr().err
    assert "in 2026-09" in error
    assert "hint: it has charges in 2026-11" in error
    assert main(["explain", "--config", str(config), "q9-z7-k1"]) == Exit.USAGE
    assert "did you mean" not in capsys.readouterr().err
    assert main(["explain", "--config", str(config), "x", "--month", "2026-09..2026-10"]) == Exit.USAGE


def test_a_rule_is_shown_with_the_keys_of_the_configuration(tmp_path: Path, capsys: Captured) -> None:
    write_charges(tmp_path / "exports")
    file = tmp_path / "overrun.toml"
    rule = (
        "[[attribution.rule]]\ncost_centre = 'CC-{cost_category:BU|upper}'\nproject = 'p'\n"
        "match = { account_tag = { stage = 'x' } }\n"
    )
    file.write_text(RULES + rule, encoding="utf-8")
    assert main(["nightly", "--config", str(file), "--as-of", "2026-11-20", "-q"]) == Exit.DONE
    capsys.readouterr()
    with Warehouse.open_published(tmp_path / "finance.duckdb") as copy:
        shown = rule_texts(copy)[4]
    assert shown == 'cost_centre = "CC-{cost_category:BU|upper}", project = "p" where account_tag "stage" is "x"'


def test_rules_are_proposed_by_account_tag_and_name(config: Path, capsys: Captured) -> None:
    assert main(["attribution", "suggest", "--config", str(config)]) == Exit.DONE
    text = capsys.readouterr().out
    rules = tomllib.loads(text)["attribution"]["rule"]
    assert {"project": "vision", "match": {"account": "a1"}} in rules
    assert {"project": "vision", "match": {"tag": {"app": "eye"}}} in rules
    assert {"project": "vision", "match": {"account_name": "vision-*"}} in rules
    assert {"project": "vision", "match": {"resource": "web-*"}} in rules
    assert "# 40.00 USD  a1" in text


def test_a_proposal_does_what_it_says(config: Path, capsys: Captured, tmp_path: Path) -> None:
    assert main(["attribution", "suggest", "--config", str(config), "--json", "--limit", "1"]) == Exit.DONE
    shown = json.loads(capsys.readouterr().out)
    (proposal,) = shown["proposals"]
    write_charges(tmp_path / "exports")
    file = tmp_path / "overrun.toml"
    file.write_text(RULES + proposal["toml"], encoding="utf-8")
    assert load_config(file, {}).warnings == ()
    assert main(["nightly", "--config", str(file), "--as-of", "2026-11-20", "-q"]) == Exit.DONE
    costs = []
    for copy in (config.parent / "finance.duckdb", tmp_path / "finance.duckdb"):
        with Warehouse.open_published(copy) as warehouse:
            costs.append(warehouse.value(
                "select sum(effective_cost) from marts.project_daily_cost where project = 'unattributed'"
            ))  # fmt: skip
    assert Decimal(str(costs[0])) - Decimal(str(costs[1])) == Decimal(proposal["effective_cost"])


def test_a_month_without_charges_has_no_proposals(config: Path, capsys: Captured) -> None:
    assert main(["attribution", "suggest", "--config", str(config), "--month", "2026-01"]) == Exit.DONE
    text = capsys.readouterr().out
    assert tomllib.loads(text) == {}
    assert "# nothing" in text


def test_rules_that_match_nothing_are_told_with_the_nearest_value(tmp_path: Path, capsys: Captured) -> None:
    write_charges(tmp_path / "exports")
    file = tmp_path / "overrun.toml"
    matches = (
        'service = "Compute", account = "a2"',
        'service = "Computes"',
        'tag = { project = "visoin" }',
        'tag = { Projct = "x" }',
        'resource = "gpu-9*"',
        'service = "Storage"',
    )
    rules = "".join(f'[[attribution.rule]]\nteam = "t"\nmatch = {{ {match} }}\n' for match in matches)
    later = '[[attribution.rule]]\nteam = "t"\nfrom = "2026-12"\nmatch = { account = "nobody" }\n'
    file.write_text(RULES.split("[attribution]", maxsplit=1)[0] + rules + later, encoding="utf-8")
    assert main(["nightly", "--config", str(file), "--as-of", "2026-11-20", "-q"]) == Exit.DONE
    capsys.readouterr()
    assert main(["status", "--config", str(file), "--json"]) == Exit.DONE
    told = json.loads(capsys.readouterr().out)["unmatched_rules"]
    assert [(rule["rule_number"], rule["condition"], rule["nearest"]) for rule in told] == [
        (1, None, None),
        (2, 'service is "Computes"', "Compute"),
        (3, 'tag "project" is "visoin"', "vision"),
        (4, 'tag "Projct" is "x"', "project"),
        (5, 'resource is "gpu-9*"', "gpu-1"),
    ]
    assert main(["status", "--config", str(file)]) == Exit.DONE
    shown = capsys.readouterr().out
    assert 'rule 3: team = "t" where tag "project" is "visoin"\n    nothing meets' in shown
    assert "its conditions never hold for the same charge" in shown


def test_a_copy_for_a_team_holds_what_rules_on_services_and_resources_give_it(tmp_path: Path) -> None:
    write_charges(tmp_path / "exports")
    file = tmp_path / "overrun.toml"
    rules = (
        '[[attribution.rule]]\nteam = "lab"\nmatch = { service = "Compute", resource = "gpu-*" }\n'
        '[[attribution.rule]]\nteam = "others"\nmatch = { provider = "*" }\n'
        '[[publish]]\npath = "lab.duckdb"\nteam = ["lab"]\n'
    )
    file.write_text(RULES.split("[attribution]", maxsplit=1)[0] + rules, encoding="utf-8")
    assert main(["nightly", "--config", str(file), "--as-of", "2026-11-20", "-q"]) == Exit.DONE
    with Warehouse.open_published(tmp_path / "lab.duckdb") as warehouse:
        assert warehouse.rows("select ResourceId, BilledCost from focus.cost_and_usage") == [("gpu-1", Decimal(7))]
        assert warehouse.rows("select distinct team, scope from marts.allocation_coverage") == [("lab", "team")]
        tables = [row[0] for row in warehouse.rows("select table_name from duckdb_tables() where schema_name='marts'")]
    assert "tag_problems" not in tables


def test_marts_and_tag_problems_of_the_night(config: Path) -> None:
    with Warehouse.open_published(config.parent / "finance.duckdb") as warehouse:
        near = warehouse.rows("select tag_key, meant from marts.tag_problems where problem = 'key'")
        ledger = warehouse.rows("select distinct gl_account from marts.monthly_cost where project = 'vision'")
        covered = warehouse.row(
            "select attributed_cost, effective_cost from marts.allocation_coverage"
            " where scope = 'all' and dimension = 'project'"
        )
    assert near == [("Projekt", "project")]
    assert ledger == [("620100",)]
    assert covered == (Decimal(112), Decimal(185))


@pytest.mark.parametrize("glob", ["a*", "a_b", "100%", "a\\b?", "*\\*", "x' OR 1=1 --"])
def test_a_pattern_is_shown_as_the_glob_that_it_was(glob: str) -> None:
    assert glob_of(like_pattern(glob)) == glob


@pytest.mark.parametrize("text", ['a"b', "a\\b", "é🐍", "a\x7fb", "tab\t"])
def test_toml_gives_back_what_was_quoted(text: str) -> None:
    assert tomllib.loads(f"x = {quoted_toml(text)}") == {"x": text}
