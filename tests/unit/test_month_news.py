"""Months that were thought settled and are news: told once to finance, never at the first night."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from alerts.message import Message, from_json, to_json
from alerts.render import html, plain_text, slack_body, subject
from alerts.run import conclude
from sql.state import StateStore
from sql.warehouse import Warehouse
from tests.fakes.alerts import AS_OF, NOW, TO_SLACK, BudgetRow, make_warehouse

UNPROVEN = ("unproven", "aws-main", date(2026, 10, 1), "USD", Decimal("12.5"), "load-1")
RESTATED = ("restated", "aws-main", date(2026, 9, 1), "USD", Decimal("-3.25"), "load-2")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateStore]:
    with StateStore.open(tmp_path / "state.sqlite") as store:
        yield store


def warehouse_with(*news: tuple[object, ...], rows: tuple[BudgetRow, ...] = ()) -> Warehouse:
    warehouse = make_warehouse(rows)
    for row in news:
        warehouse.execute("insert into marts.month_news values (?, ?, ?, ?, ?, ?)", row)
    return warehouse


def night(state: StateStore, *news: tuple[object, ...], rows: tuple[BudgetRow, ...] = ()) -> list[Message]:
    with warehouse_with(*news, rows=rows) as warehouse:
        return [queued.message for queued in conclude(warehouse, state, TO_SLACK, AS_OF, NOW)]


def test_the_first_night_is_a_baseline_and_says_nothing(state: StateStore) -> None:
    assert night(state, UNPROVEN, RESTATED) == []
    assert night(state, UNPROVEN, RESTATED) == []


def test_news_of_a_month_is_told_once(state: StateStore) -> None:
    assert night(state) == []

    [message] = night(state, UNPROVEN)

    assert [(line.news, line.source, line.amount) for line in message.months] == [
        ("unproven", "aws-main", Decimal("12.5"))
    ]
    assert night(state, UNPROVEN) == []


def test_another_amount_is_news_again_and_another_load_of_the_same_is_not(state: StateStore) -> None:
    night(state)
    night(state, UNPROVEN, RESTATED)
    assert night(state, (*UNPROVEN[:4], Decimal(7), "load-3"), (*RESTATED[:5], "load-4")) == []

    again = night(state, (*UNPROVEN[:5], "load-5"), (*RESTATED[:4], Decimal("-4"), "load-6"))

    assert [[line.news for line in message.months] for message in again] == [["restated"]]


def test_budgets_and_months_of_one_night_share_a_message(state: StateStore) -> None:
    calm = BudgetRow(state="ok", crossed_on=None)
    [welcome] = night(state, rows=(calm,))
    assert welcome.kind == "welcome"

    [message] = night(state, UNPROVEN, rows=(BudgetRow(),))

    assert [line.budget_id for line in message.lines] == ["vision-monthly"]
    assert [line.news for line in message.months] == ["unproven"]
    assert "There is news of 1 month thought settled." in plain_text(message)


def test_a_month_alone_is_a_message_in_every_form(state: StateStore) -> None:
    night(state)
    [message] = night(state, UNPROVEN, RESTATED)

    assert from_json(to_json(message)) == message
    assert subject(message).startswith("12.50 USD not accounted for: October 2026 of aws-main is final")
    text = plain_text(message)
    assert "12.50 USD not accounted for: October 2026 of aws-main is final, and 1 more" in text
    assert "-3.25 USD: September 2026 of aws-main was final and is restated" in text
    assert "marts.reconciliation" in text
    assert "marts.restatements" in html(message)
    assert len(slack_body(message)["blocks"]) == 5  # type: ignore[arg-type]


def test_a_gap_that_cannot_be_computed_is_no_zero(state: StateStore) -> None:
    night(state)

    [message] = night(state, (*UNPROVEN[:4], Decimal(0), "load-1"))

    assert plain_text(message).startswith("Effective cost not proven: October 2026 of aws-main is final")
    assert "0.00 USD" not in plain_text(message)
