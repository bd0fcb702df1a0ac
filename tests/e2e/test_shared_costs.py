"""Shared costs, from the configuration to the tables, the budgets, the closed month and the journal."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.fakes.nights import AWS, House, aws_lines, query

pytestmark = pytest.mark.e2e

TEAMS = """
[[attribution.rule]]
project = "detector"
match = { resource = "i-0" }
[[attribution.rule]]
project = "segmenter"
match = { resource = "i-1" }
[[attribution.rule]]
project = "cluster"
match = { resource = "i-2" }

[[team]]
name = "perception"
projects = ["detector", "segmenter"]

[[budget]]
id = "direct"
basis = "billed"
limit = { amount = "100", currency = "USD" }
scope = { project = "detector" }

[[budget]]
id = "whole"
basis = "billed"
include = ["shared"]
limit = { amount = "100", currency = "USD" }
scope = { project = "detector" }
"""
CLUSTER = """
[[split]]
name = "cluster"
share = { project = "cluster" }
by = "usage"
usage = "hours.csv"
"""
HOURS = "date,project,quantity\n2026-10,detector,1\n2026-10-03,segmenter,3\n"
BUDGET_OF_CLUSTER = """
[[budget]]
id = "giver"
basis = "billed"
limit = { amount = "100", currency = "USD" }
scope = { project = "cluster" }
"""
SHARED = (
    "select project, split_name, cast(sum(billed_cost) as double) from marts.monthly_cost group by all order by all"
)
BUDGETS = "select budget_id, cast(spent_amount as double) from marts.budget_status order by all"
CLOSED = "select project, kind, cast(sum(billed_cost) as double) from marts.closed_month group by all order by all"
CORRECTIONS = "select project, cause, cast(billed_correction_cost as double) from marts.month_corrections order by all"


def company(home: House, *texts: str, as_of: str = "2026-10-20", code: int = 0) -> str:
    """Run a night on 40 for detector, 5 for segmenter, 8 for the cluster that both use; return what it said."""
    home.configure(AWS, TEAMS, *texts)
    home.deliver_aws("2026-10", *aws_lines("2026-10", "40", "5", "8", bill_invoice_id="I1"))
    return home.night(as_of, code=code).stderr


def write_hours(home: House, text: str) -> None:
    (home.folder / "hours.csv").write_text(text, encoding="utf-8")


def journal(home: House) -> dict[str, str]:
    ran = home.run("export", "chargeback", "--month", "2026-10", "--basis", "billed")
    assert ran.code == 0, ran.stderr
    return {line["project"]: line["debit"] for line in csv.DictReader(io.StringIO(ran.stdout))}


def test_costs_are_shared_by_what_a_file_says(home: House) -> None:
    write_hours(home, HOURS)
    company(home, CLUSTER)

    assert query(home.finance, SHARED) == [
        ("detector", "cluster", 2.0),
        ("detector", None, 40.0),
        ("segmenter", "cluster", 6.0),
        ("segmenter", None, 5.0),
    ]
    assert query(home.finance, BUDGETS) == [("direct", 40.0), ("whole", 42.0)]
    assert query(home.finance, "select distinct team from marts.project_daily_cost") == [("perception",)]
    assert query(home.finance, "select sum(billed_cost)::int from marts.resource_daily_cost") == [(53,)]


def test_a_changed_file_is_read_by_the_next_night_and_a_bad_one_keeps_the_last_tables(home: House) -> None:
    write_hours(home, HOURS)
    company(home, CLUSTER)
    write_hours(home, HOURS.replace("detector,1", "detector,-1"))
    assert "hours.csv:2: quantity must be a number from 0 on" in company(home, CLUSTER, as_of="2026-10-21", code=2)
    assert home.run("check").code == 2
    assert query(home.finance, BUDGETS) == [("direct", 40.0), ("whole", 42.0)]

    write_hours(home, HOURS.replace("detector,1", "detector,3"))
    company(home, CLUSTER, as_of="2026-10-21")
    assert query(home.finance, BUDGETS) == [("direct", 40.0), ("whole", 44.0)]

    (home.folder / "hours.csv").unlink()
    assert "hours.csv cannot be read" in company(home, CLUSTER, as_of="2026-10-21", code=2)
    assert "there is nothing at" in home.run("check").stdout


def test_a_closed_month_and_its_journal_have_the_shared_costs(home: House) -> None:
    write_hours(home, HOURS)
    company(home, CLUSTER, as_of="2026-11-08")
    assert journal(home) == {"detector": "42.00", "segmenter": "11.00"}
    answer = json.loads(home.run("month", "close", "2026-10", "--as-of", "2026-11-08", "--by", "Ada", "--json").stdout)
    assert {total["kind"]: total["billed_cost"] for total in answer["totals"]} == {
        "actual": "53.000000000000",
        "shared": "0.000000000000",
    }
    home.night("2026-11-09")
    assert query(home.finance, CLOSED) == [
        ("cluster", "actual", 8.0),
        ("cluster", "shared", -8.0),
        ("detector", "actual", 40.0),
        ("detector", "shared", 2.0),
        ("segmenter", "actual", 5.0),
        ("segmenter", "shared", 6.0),
    ]
    assert query(home.finance, CORRECTIONS) == []
    assert journal(home) == {"detector": "42.00", "segmenter": "11.00"}

    company(home, CLUSTER.replace("usage", "even", 1).replace('usage = "hours.csv"', ""), as_of="2026-11-10")
    assert query(home.finance, CORRECTIONS) == [("detector", "rule change", 2.0), ("segmenter", "rule change", -2.0)]
    home.deliver_aws("2026-10", *aws_lines("2026-10", "40", "5", "9"), version="20261112T000000Z-e2")
    home.night("2026-11-12")
    assert query(home.finance, CORRECTIONS) == [
        ("cluster", "restatement", 1.0),
        ("cluster", "rule change", -1.0),
        ("detector", "rule change", 2.5),
        ("segmenter", "rule change", -1.5),
    ]
    write_hours(home, HOURS)
    company(home, CLUSTER, as_of="2026-11-13")
    home.deliver_aws("2026-10", *aws_lines("2026-10", "40", "5", "9"), version="20261114T000000Z-e3")
    home.night("2026-11-14")
    assert query(home.finance, CORRECTIONS) == [("detector", "restatement", 0.25), ("segmenter", "restatement", 0.75)]
    assert journal(home) == {"detector": "42.00", "segmenter": "11.00"}


def test_what_finds_nobody_stays_and_is_told(home: House) -> None:
    write_hours(home, "date,project,quantity\n2026-09,detector,1\n2026-10,detector,0\n")
    told = company(home, CLUSTER, BUDGET_OF_CLUSTER)

    assert query(home.finance, SHARED) == [
        ("cluster", "cluster", 8.0),
        ("detector", None, 40.0),
        ("segmenter", None, 5.0),
    ]
    assert query(home.finance, BUDGETS) == [("direct", 40.0), ("giver", 8.0), ("whole", 40.0)]
    assert "split_without_weights" in told
    assert "split_without_weights" not in home.night("2026-10-21").stderr
    assert "cluster: nobody has a weight in 2026-10, so that 8.00 USD stay" in home.run("status").stdout
    (cost,) = json.loads(home.run("status", "--json").stdout)["splits"]["unshared"]
    assert (cost["split_name"], cost["billing_month"], cost["billed_cost"]) == ("cluster", "2026-10", "8.000000000000")

    write_hours(home, "date,project,quantity\n2026-10,detector,3\n2026-10,cluster,1\n")
    assert "split_without_weights" not in company(home, CLUSTER, BUDGET_OF_CLUSTER, as_of="2026-10-22")
    assert query(home.finance, BUDGETS) == [("direct", 40.0), ("giver", 2.0), ("whole", 46.0)]
    assert "came to nothing" not in home.run("status").stdout


def test_what_an_earlier_split_gave_and_nobody_takes_is_told(home: House) -> None:
    first = '[[split]]\nname = "first"\nshare = { project = "cluster" }\nby = "weights"\nweights = { hub = "1" }\n'
    write_hours(home, "date,project,quantity\n2026-09,detector,1\n2026-10,detector,0\n")
    company(home, first, CLUSTER.replace('project = "cluster"', 'project = "hub"'))

    assert ("hub", "cluster", 8.0) in query(home.finance, SHARED)
    (cost,) = json.loads(home.run("status", "--json").stdout)["splits"]["unshared"]
    assert (cost["split_name"], cost["billed_cost"]) == ("cluster", "8.000000000000")


def test_a_split_that_takes_nothing_is_told(home: House) -> None:
    write_hours(home, HOURS)
    company(home, CLUSTER.replace('project = "cluster"', 'project = "clustre", provider = "AWS"'))

    assert "cluster: no cost meets its share" in home.run("status").stdout
    assert json.loads(home.run("status", "--json").stdout)["splits"] == {"unshared": [], "idle": ["cluster"]}


def test_a_copy_for_a_team_does_not_name_the_project_that_a_split_gave_from(home: House) -> None:
    """A split to teams leaves the project, which is another team's."""
    company(
        home,
        '[[team]]\nname = "ops"\nprojects = ["cluster"]\n',
        '[[publish]]\npath = "out/team.duckdb"\nteam = ["perception"]\n',
        '[[split]]\nname = "shares"\nshare = { team = "ops" }\neach = "team"\nby = "even"\nto = ["perception"]\n',
    )

    copy = home.folder / "out/team.duckdb"
    named = "select distinct project from marts.monthly_cost order by all"
    assert query(home.finance, named) == [("cluster",), ("detector",), ("segmenter",)]
    assert query(copy, named) == [("another-team",), ("detector",), ("segmenter",)]
    assert query(copy, "select sum(billed_cost)::int from marts.monthly_cost") == [(53,)]


def test_an_amount_that_cannot_be_shared_exactly_is_told_and_keeps_the_last_tables(home: House) -> None:
    write_hours(home, HOURS)
    company(home, CLUSTER)
    home.deliver_aws("2026-10", *aws_lines("2026-10", "40", "5", "1000000000000"), version="20261021T000000Z-e2")

    told = home.night("2026-10-21", code=4).stderr
    assert "a split shares amounts below 1,000,000,000,000" in told
    assert "(first rows: aws, 2026-10-01, 2026-10-03, " in told
    assert query(home.finance, BUDGETS) == [("direct", 40.0), ("whole", 42.0)]


def test_explain_says_what_a_project_gets_and_gives(home: House) -> None:
    write_hours(home, HOURS)
    company(home, CLUSTER)

    shown = home.run("explain", "segmenter").stdout
    assert "what splits give and take besides" in shown
    told = json.loads(home.run("explain", "cluster", "--json").stdout)
    assert [(one["from_project"], one["project"], one["billed_cost"]) for one in told["shared"]] == [
        ("cluster", "segmenter", "6.000000000000"),
        ("cluster", "detector", "2.000000000000"),
    ]
    assert home.run("query", told["shared_sql"]).code == 0
    assert json.loads(home.run("explain", "i-0", "--json").stdout)["shared"] == []


def test_a_project_that_only_bears_the_costs_of_others_is_explained(home: House) -> None:
    company(home, '[[split]]\nname = "s"\nshare = { project = "cluster" }\nby = "weights"\nweights = { new = "1" }\n')

    told = json.loads(home.run("explain", "new", "--json").stdout)
    assert (told["decisions"], told["billing_month"]) == ([], "2026-10")
    assert [one["project"] for one in told["shared"]] == ["new"]
