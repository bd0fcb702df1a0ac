"""The demo's story: on the basis of its budgets, one of them is used up between the two deliveries.

Spend is computed here from the delivered files alone, with Python's decimals and our own reading of the attribution.
"""

from __future__ import annotations

import gzip
import json
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from overrun.demo.configuration import CONFIGURATION
from overrun.demo.exports import write_exports

CONFIG = tomllib.loads(CONFIGURATION)
AWS_COST_COLUMNS = {
    "Usage": "line_item_unblended_cost",
    "Fee": "line_item_unblended_cost",
    "SavingsPlanCoveredUsage": "savings_plan_savings_plan_effective_cost",
    "DiscountedUsage": "reservation_effective_cost",
}
"""Commitment fees and negations have no effective cost; tax, credits and refunds are out of the budgets' basis."""
AWS_COLUMNS = [
    "line_item_line_item_type",
    "line_item_usage_account_id",
    "resource_tags",
    *sorted(set(AWS_COST_COLUMNS.values())),
]


@dataclass(frozen=True)
class Spend:
    """One charge on the budgets' default basis: effective, before promotional credits, without tax."""

    project: str | None
    team: str | None
    cost: Decimal


def money(value: float | None) -> Decimal:
    return Decimal(repr(value)) if value is not None else Decimal(0)


def november_aws(root: Path) -> list[Spend]:
    files = sorted((root / "aws/acme/ml-cur2/data/BILLING_PERIOD=2026-11").glob("*.parquet"))
    rows = [row for path in files for row in pq.read_table(path, columns=AWS_COLUMNS).to_pylist()]
    return [
        attributed(
            {key.removeprefix("user_"): value for key, value in row["resource_tags"]},
            row["line_item_usage_account_id"],
            money(row[AWS_COST_COLUMNS[row["line_item_line_item_type"]]]),
        )
        for row in rows
        if row["line_item_line_item_type"] in AWS_COST_COLUMNS
    ]


def november_gcp(root: Path) -> list[Spend]:
    (path,) = (root / "gcp" / "detailed").glob("*_202611.ndjson.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [gcp_spend(row) for row in rows if row["cost_type"] != "tax"]


def gcp_spend(row: dict[str, Any]) -> Spend:
    project = row["project"] or {"id": "", "labels": []}
    labels = {label["key"]: label["value"] for label in [*project["labels"], *row["labels"]]}
    kept = sum((money(each["amount"]) for each in row["credits"] if each["type"] != "PROMOTION"), Decimal(0))
    return attributed(labels, project["id"], money(row["cost"]) + kept)


def attributed(tags: dict[str, str], account: str, cost: Decimal) -> Spend:
    project = first_found("project", tags, account) or CONFIG["attribution"]["accounts"].get(account)
    owners = {name: team["name"] for team in CONFIG["team"] for name in team["projects"]}
    return Spend(project, first_found("team", tags, account) or owners.get(project), cost)


def first_found(dimension: str, tags: dict[str, str], account: str) -> str | None:
    attribution = CONFIG["attribution"]
    ruled = [rule[dimension] for rule in attribution["rule"] if dimension in rule and matches(rule, tags, account)]
    tagged = [tags[key] for key in attribution[f"{dimension}_tags"] if tags.get(key)]
    return next(iter(ruled + tagged), None)


def matches(rule: dict[str, Any], tags: dict[str, str], account: str) -> bool:
    wanted = [(tags.get(key, ""), globs) for key, globs in rule["match"].get("tag", {}).items()]
    if "account" in rule["match"]:
        wanted.append((account, rule["match"]["account"]))
    return all(
        any(fnmatchcase(value, glob) for glob in ([globs] if isinstance(globs, str) else globs))
        for value, globs in wanted
    )


@pytest.fixture(scope="module")
def spends(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Spend], list[Spend]]:
    """Return November's charges as of the first and the second delivery."""
    result = []
    for day in (19, 20):
        root = tmp_path_factory.mktemp(f"november-{day}")
        write_exports(root, date(2026, 11, day))
        result.append(november_aws(root) + november_gcp(root))
    return result[0], result[1]


def budget_shares(spend: list[Spend]) -> dict[str, Decimal]:
    shares = {}
    for budget in CONFIG["budget"]:
        ((dimension, names),) = budget["scope"].items()
        total = sum((charge.cost for charge in spend if getattr(charge, dimension) in names), Decimal(0))
        shares[budget["id"]] = total / Decimal(budget["limit"]["amount"])
    return shares


def test_one_budget_is_used_up_between_the_deliveries(spends: tuple[list[Spend], list[Spend]]) -> None:
    before, after = map(budget_shares, spends)
    assert {name for name, share in before.items() if share >= 1} == set()
    assert {name for name, share in after.items() if share >= 1} == {"vision-monthly"}


def test_no_other_threshold_is_crossed_between_the_deliveries(spends: tuple[list[Spend], list[Spend]]) -> None:
    before, after = map(budget_shares, spends)
    warned = {"vision-monthly", "nlp-monthly"}
    assert {name for name, share in before.items() if share >= Decimal("0.8")} == warned
    assert {name for name, share in after.items() if share >= Decimal("0.8")} == warned
    assert max(after[name] for name in after.keys() - warned) < Decimal("0.7")


def test_each_budget_has_its_known_share(spends: tuple[list[Spend], list[Spend]]) -> None:
    percent = [{name: str(round(share * 100, 1)) for name, share in budget_shares(one).items()} for one in spends]
    assert percent == [
        {
            "vision-monthly": "97.9",
            "nlp-monthly": "83.9",
            "robotics-monthly": "48.2",
            "platform-monthly": "54.8",
            "chat-assistant-monthly": "51.6",
        },
        {
            "vision-monthly": "103.8",
            "nlp-monthly": "89.3",
            "robotics-monthly": "51.0",
            "platform-monthly": "58.0",
            "chat-assistant-monthly": "55.1",
        },
    ]


def test_eight_projects_and_more_of_four_teams_spend(spends: tuple[list[Spend], list[Spend]]) -> None:
    totals: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for charge in spends[1]:
        totals[charge.team or "unattributed", charge.project or "unattributed"] += charge.cost
    assert {key: str(round(total, 2)) for key, total in totals.items()} == {
        ("nlp", "chat-assistant"): "19269.74",
        ("nlp", "embeddings"): "11346.69",
        ("nlp", "ranker"): "10444.30",
        ("platform", "data-lake"): "14425.48",
        ("platform", "monitoring"): "2963.48",
        ("robotics", "grasping"): "8184.55",
        ("robotics", "simulator"): "11209.70",
        ("unattributed", "unattributed"): "2759.68",
        ("vision", "detector"): "18487.69",
        ("vision", "segmenter"): "12662.85",
    }
