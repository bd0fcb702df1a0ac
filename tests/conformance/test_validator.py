"""The FinOps Foundation's own validator finds nothing in our charges but what `unmet.toml` gives a reason for."""

from __future__ import annotations

import subprocess
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from sql.warehouse import Warehouse
from tests.conformance.conftest import HERE, write_focus
from tests.fakes.environments import program

UNMET: Mapping[str, Mapping[str, str]] = tomllib.loads((HERE / "unmet.toml").read_text(encoding="utf-8"))
CRITERIA = (
    "AVAILABILITY_ZONE_SUPPORTED", "CAPACITY_RESERVATION_SUPPORTED", "COMMITMENT_DISCOUNT_SUPPORTED",
    "MULTIPLE_PRICING_CATEGORIES_SUPPORTED", "MULTIPLE_SUB_ACCOUNT_TYPES_SUPPORTED",
    "MULTIPLE_BILLING_ACCOUNT_TYPES_SUPPORTED", "NEGOTIATED_PRICING_SUPPORTED", "PUBLIC_PRICE_LIST_SUPPORTED",
    "USAGE_MEASUREMENT_SUPPORTED", "UNIT_PRICING_SUPPORTED", "SUB_ACCOUNT_SUPPORTED",
    "BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED", "RESOURCE_TYPE_ASSIGNMENT_SUPPORTED",
    "PRICING_BILLING_CURRENCY_DIFFERENCES_SUPPORTED", "REGION_SUPPORTED", "TAGGING_SUPPORTED",
)  # fmt: skip
"""What both clouds have; neither sells in a currency of its own (VIRTUAL_CURRENCY_SUPPORTED)."""
NAMED = "ACCOUNT_NAMING_SUPPORTED"
"""CUR 2.0 alone names accounts: neither the legacy report nor Cloud Billing names billing accounts."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of each rule."""

    passed: frozenset[str]
    failed: frozenset[str]
    """Single rules; what is made up of them fails along."""
    skipped: frozenset[str]


def validate(packages: Path, data: Path, criteria: tuple[str, ...]) -> Verdict:
    """Run the validator. It ends with 0 whatever it finds, so its report is read."""
    report = data.with_suffix(".xml")
    done = subprocess.run(
        [
            program(packages, "focus-validator"), "--data-file", data, "--validate-version", "1.2",
            "--focus-dataset", "CostAndUsage", "--block-download", "--applicability-criteria", ",".join(criteria),
            "--output-type", "unittest", "--output-destination", report,
        ],
        cwd=packages, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert report.is_file(), done.stderr[-2000:]
    outcomes: dict[str, set[str]] = {"passed": set(), "failure": set(), "skipped": set(), "error": set()}
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - written by the validator just now
        rule, _, check = case.attrib["name"].partition(" :: ")
        outcome = case[0].tag if len(case) else "passed"
        if outcome != "failure" or check != "Composite":
            outcomes[outcome].add(rule)
    return Verdict(
        frozenset(outcomes["passed"]),
        frozenset(outcomes["failure"] | outcomes["error"]),
        frozenset(outcomes["skipped"]),
    )


@pytest.mark.parametrize(
    ("warehouse", "name", "criteria", "unmet"),
    [
        ("converted", "aws", CRITERIA, ("rules", "legacy-cur")),
        ("converted", "gcp", CRITERIA, ("rules",)),
        ("demo", "aws-main", (*CRITERIA, NAMED), ("rules",)),
        ("demo", "gcp-main", CRITERIA, ("rules",)),
    ],
    ids=["converted-aws", "converted-gcp", "demo-aws", "demo-gcp"],
)
def test_every_rule_holds_that_data_can_satisfy(  # noqa: PLR0913, PLR0917 - fixtures, and what differs
    validator: Path,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    warehouse: str,
    name: str,
    criteria: tuple[str, ...],
    unmet: tuple[str, ...],
) -> None:
    charges: Warehouse = request.getfixturevalue(warehouse)
    data = write_focus(charges, f"\"x_Source\" = '{name}'", tmp_path / "charges.parquet")
    verdict = validate(validator, data, criteria)
    listed = {rule for part in unmet for rule in UNMET[part]}
    print(f"{len(verdict.passed)} rules pass, {len(verdict.failed)} fail, {len(verdict.skipped)} do not apply")  # noqa: T201 - its result

    assert len(verdict.passed) > 340
    assert sorted(verdict.failed - listed) == []


def test_each_unmet_rule_has_a_reason() -> None:
    assert [rule for part in UNMET.values() for rule, reason in part.items() if len(reason) < 40] == []
