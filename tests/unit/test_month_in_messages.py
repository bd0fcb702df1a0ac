"""How settled a month is, from the sources of a budget to the words of a message."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from alerts import phrases, render
from alerts.message import BudgetLine, Message, from_json, to_json
from alerts.run import conclude
from analysis.budget import STATUSES, least_settled
from analysis.run import analyse
from sql.contract import BUDGET_STATE, LOAD_INVOICE
from sql.runner import build
from sql.settings import replace_settings
from sql.state import StateStore
from sql.warehouse import Warehouse
from tests.fakes.alerts import AS_OF, NOW, TO_SLACK, spent
from tests.fakes.alerts import make_warehouse as concluded
from tests.fakes.parts import insert_rows, load_part, make_warehouse, settings_rows

SEPTEMBER, OCTOBER = date(2026, 9, 1), date(2026, 10, 1)
LINE = BudgetLine(
    budget_id="vision-monthly",
    standing="ok",
    threshold=None,
    crossed_on=None,
    spent_amount=Decimal(1),
    gross_amount=Decimal(1),
    net_amount=Decimal(1),
    limit_amount=Decimal(2),
    billing_currency="USD",
    basis="effective",
    includes_credits=False,
    includes_tax=False,
    includes_refunds=False,
    period_start=OCTOBER,
    period_end=date(2026, 11, 1),
    complete_through=None,
    month_status="estimated",
)
BUDGETS = [
    {
        "budget_id": name, "measure": "cost", "basis": "effective", "includes_credits": False, "includes_tax": False,
        "includes_refunds": False, "limit_amount": Decimal(100), "billing_currency": "USD", "period": "month",
    }
    for name in ("all", "none")
]  # fmt: skip


def load(warehouse: Warehouse, source: str, month: date, cost: str, *, rows_invoiced: int, version: str = "1") -> None:
    """Load one charge of a month, a day after its end, as far invoiced as said."""
    charge = {
        "BilledCost": cost, "EffectiveCost": cost, "BillingCurrency": "USD", "ChargeCategory": "Usage",
        "ChargePeriodStart": f"{month} 05:00:00", "BillingAccountId": source,
    }  # fmt: skip
    load_id = load_part(warehouse, source=source, month=month, charges=[charge], version=version)
    warehouse.execute("update ops.load set loaded_at = timestamp '2026-11-02 03:00:00'")
    invoiced = {
        "load_id": load_id, "billing_account_id": source, "invoicing_entity": source, "rows_delivered": 1,
        "rows_invoiced": rows_invoiced, "invoice_digest": "x" * rows_invoiced,
    }  # fmt: skip
    insert_rows(warehouse, LOAD_INVOICE, [invoiced])


def judged(warehouse: Warehouse, as_of: date) -> list[tuple[object, ...]]:
    """Return (budget, month status, whether it is restated) of October as of a day."""
    replace_settings(warehouse, {"settings.night": [(as_of,)]})
    build(warehouse)
    analyse(warehouse)
    return warehouse.rows(
        f"select budget_id, month_status, is_month_restated from {BUDGET_STATE.full_name}"
        " where period_start = ? order by 1",
        [OCTOBER],
    )


def make_house() -> Warehouse:
    """Return a warehouse with two sources, a budget on everything and one on a team that spends nothing."""
    warehouse = make_warehouse()
    replace_settings(
        warehouse,
        {
            "settings.budget": settings_rows("settings.budget", BUDGETS),
            "settings.budget_threshold": [(row["budget_id"], "80%", Decimal(80)) for row in BUDGETS],
            "settings.budget_scope": [("none", "team", "nobody")],
            "settings.source": [("aws", "aws-export", 1, False), ("gcp", "gcp-export", 1, False)],
        },
    )
    return warehouse


def test_the_least_settled_source_speaks_for_a_budget() -> None:
    with make_house() as warehouse:
        assert judged(warehouse, date(2026, 10, 20)) == [("all", "no data", False), ("none", "no data", False)]
        load(warehouse, "aws", OCTOBER, "10", rows_invoiced=1)
        assert judged(warehouse, date(2026, 10, 20)) == [("all", "open", False), ("none", "no data", False)]
        assert judged(warehouse, date(2026, 11, 2)) == [("all", "final", False), ("none", "final", False)]
        load(warehouse, "gcp", OCTOBER, "10", rows_invoiced=0)
        assert judged(warehouse, date(2026, 11, 2)) == [("all", "estimated", False), ("none", "estimated", False)]


def test_a_restated_source_is_told_beside_the_least_settled_one() -> None:
    with make_house() as warehouse:
        load(warehouse, "aws", OCTOBER, "10", rows_invoiced=1)
        load(warehouse, "aws", OCTOBER, "11", rows_invoiced=1, version="2")
        assert judged(warehouse, date(2026, 11, 3)) == [("all", "restated", True), ("none", "restated", True)]
        load(warehouse, "gcp", OCTOBER, "10", rows_invoiced=0)
        assert judged(warehouse, date(2026, 11, 3)) == [("all", "estimated", True), ("none", "estimated", True)]


def test_statuses_are_ordered_from_nothing_to_settled() -> None:
    assert least_settled([]) == "no data"
    assert [least_settled(STATUSES[number:]) for number in range(5)] == list(STATUSES)
    assert least_settled(STATUSES[:0:-1]) == "open"


@pytest.mark.parametrize(
    ("status", "is_restated", "words"),
    [
        ("no data", False, "October 2026 has no data yet"),
        ("open", False, "October 2026 is open"),
        ("estimated", False, "October 2026 is estimated"),
        ("estimated", True, "October 2026 is estimated; restated in part"),
        ("final", False, "October 2026 is final"),
        ("restated", True, "October 2026 is restated"),
    ],
)
@pytest.mark.parametrize("kind", ["welcome", "budget"])
def test_every_form_of_a_message_says_how_settled_the_month_is(
    status: str, is_restated: bool, words: str, kind: str
) -> None:
    line = replace(LINE, month_status=status, is_month_restated=is_restated)
    message = Message(kind="welcome" if kind == "welcome" else "budget", route="default", as_of=AS_OF, lines=(line,))
    assert words in render.plain_text(message).replace("  ", " ")
    assert f'<td style="padding:2px 0">{words}</td>' in render.html(message)
    assert json.dumps(f"*Month*\n{words}") in json.dumps(render.slack_body(message))


def test_a_message_of_an_earlier_version_is_still_read() -> None:
    message = Message(kind="budget", route="default", as_of=AS_OF, lines=(LINE,))
    assert from_json(to_json(message)) == message
    content = json.loads(to_json(message))
    for name in ("month_status", "is_month_restated"):
        del content["lines"][0][name]
    old = from_json(json.dumps(content))
    assert old.lines[0].month_status is None
    assert "Month" not in dict(phrases.facts(old.lines[0], AS_OF))


def test_what_the_analysis_concluded_reaches_the_message(tmp_path: Path) -> None:
    rows = spent(100_000, month_status="estimated", is_month_restated=True)
    with StateStore.open(tmp_path / "state.sqlite") as state, concluded(rows) as warehouse:
        (queued,) = conclude(warehouse, state, TO_SLACK, AS_OF, NOW)
    assert "November 2026 is estimated; restated in part" in render.plain_text(queued.message)
