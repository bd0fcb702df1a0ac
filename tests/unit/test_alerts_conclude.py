from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from alerts.errors import RouteError
from alerts.message import from_json, to_json
from alerts.outbox import OutboxMessage, read_outbox
from alerts.render import plain_text
from alerts.run import conclude
from alerts.settings import AlertSettings, Route, SlackWebhookChannel
from sql.secret import SecretReference
from sql.state import StateStore
from tests.fakes.alerts import AS_OF, NOW, SLACK, TO_SLACK, BudgetRow, make_warehouse, spent

DECEMBER = {"period_start": date(2026, 12, 1), "period_end": date(2027, 1, 1)}


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateStore]:
    with StateStore.open(tmp_path / "state.sqlite") as store:
        yield store


def evaluate(
    state: StateStore,
    rows: Sequence[BudgetRow],
    *,
    settings: AlertSettings = TO_SLACK,
    as_of: date = AS_OF,
    scopes: Sequence[tuple[str, str, str]] = (),
) -> list[OutboxMessage]:
    """Conclude one night."""
    with make_warehouse(rows, scopes) as warehouse:
        return conclude(warehouse, state, settings, as_of, NOW)


def told(state: StateStore) -> list[tuple[str, str, str]]:
    """Return (budget, threshold, state) of all that counts as told."""
    return state.rows("select budget_id, threshold, state from alert_state order by 1, 2")


def test_the_first_night_is_one_digest_that_marks_what_is_crossed(state: StateStore) -> None:
    rows = [*spent(190_000), *spent(100_000, budget_id="detector-monthly")]
    (digest,) = evaluate(state, rows)
    assert (digest.kind, digest.route, digest.channel, digest.status) == (
        "welcome",
        "default",
        "vision-slack",
        "pending",
    )
    assert [(line.budget_id, line.threshold) for line in digest.message.lines] == [
        ("vision-monthly", "100%"),
        ("detector-monthly", None),
    ]
    assert told(state) == [("vision-monthly", "100%", "baseline"), ("vision-monthly", "80%", "baseline")]
    assert evaluate(state, rows) == []


def test_fifty_evaluations_after_a_crossing_make_one_message(state: StateStore) -> None:
    evaluate(state, spent(100_000))
    for _ in range(50):
        evaluate(state, spent(150_000))
    assert [message.kind for message in read_outbox(state)] == ["welcome", "budget"]


def test_fifty_evaluations_after_restarts_make_one_message(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    for amount in (100_000, *([150_000] * 50)):
        with StateStore.open(path) as state:
            evaluate(state, spent(amount))
    with StateStore.open(path) as state:
        assert len(read_outbox(state)) == 2


def test_only_the_highest_new_threshold_is_announced(state: StateStore) -> None:
    evaluate(state, spent(100_000))
    (message,) = evaluate(state, spent(181_000))
    assert [line.threshold for line in message.message.lines] == ["100%"]
    assert told(state) == [("vision-monthly", "100%", "announced"), ("vision-monthly", "80%", "included")]


def test_each_threshold_is_announced_as_it_is_reached(state: StateStore) -> None:
    evaluate(state, spent(100_000))
    first = evaluate(state, spent(150_000))
    second = evaluate(state, spent(185_000))
    assert [message.message.lines[0].threshold for message in (*first, *second)] == ["80%", "100%"]


def test_a_told_threshold_holds_back_lower_ones(state: StateStore) -> None:
    evaluate(state, spent(100_000))
    evaluate(state, [row for row in spent(185_000) if row.threshold == "100%"])
    assert evaluate(state, spent(185_000)) == []
    assert evaluate(state, spent(150_000)) == []
    assert told(state) == [("vision-monthly", "100%", "announced"), ("vision-monthly", "80%", "included")]


def test_a_restatement_around_the_threshold_fires_once(state: StateStore) -> None:
    evaluate(state, spent(100_000))
    fired = [bool(evaluate(state, spent(amount))) for amount in (143_000, 144_500, 143_500, 145_000)]
    assert fired == [False, True, False, False]


def test_a_new_period_is_told_again(state: StateStore) -> None:
    evaluate(state, spent(100_000))
    november = evaluate(state, spent(150_000))
    december_rows = spent(150_000, crossed_on=date(2026, 12, 16), **DECEMBER)
    december = evaluate(state, december_rows, as_of=date(2026, 12, 17))
    assert [message.message.lines[0].period_start for message in (*november, *december)] == [
        date(2026, 11, 1),
        date(2026, 12, 1),
    ]


def test_only_the_period_of_today_is_judged(state: StateStore) -> None:
    october = spent(190_000, period_start=date(2026, 10, 1), period_end=date(2026, 11, 1))
    assert evaluate(state, [*october, *spent(190_000, **DECEMBER)]) == []
    (digest,) = evaluate(state, [*october, *spent(100_000)])
    assert [line.threshold for line in digest.message.lines] == [None]
    assert {told_state for _, _, told_state in told(state)} == {"baseline"}


def test_the_last_days_of_a_period_arrive_after_it_and_are_told(state: StateStore) -> None:
    evaluate(state, spent(100_000))
    late = spent(150_000, crossed_on=date(2026, 11, 30))
    (message,) = evaluate(state, [*late, *spent(0, **DECEMBER)], as_of=date(2026, 12, 2))
    assert [(line.threshold, line.period_end) for line in message.message.lines] == [("80%", date(2026, 12, 1))]
    assert evaluate(state, [*late, *spent(0, **DECEMBER)], as_of=date(2026, 12, 3)) == []


def test_an_earlier_day_of_a_period_that_has_ended_is_no_news(state: StateStore) -> None:
    evaluate(state, spent(100_000))
    backfilled = spent(150_000, crossed_on=date(2026, 11, 10))
    assert evaluate(state, [*backfilled, *spent(0, **DECEMBER)], as_of=date(2026, 12, 2)) == []


def test_another_scope_or_limit_is_another_budget(state: StateStore) -> None:
    evaluate(state, spent(100_000))
    assert len(evaluate(state, spent(150_000))) == 1
    assert len(evaluate(state, spent(150_000), scopes=[("vision-monthly", "project", "vision%")])) == 1
    lowered = [replace(row, limit_amount=Decimal(150_000), threshold_amount=Decimal(120_000)) for row in spent(150_000)]
    assert len(evaluate(state, lowered)) == 1


def test_two_budgets_of_one_night_share_a_message_most_urgent_first(state: StateStore) -> None:
    evaluate(state, [*spent(0), *spent(0, budget_id="detector-monthly")])
    (message,) = evaluate(state, [*spent(150_000), *spent(200_000, budget_id="detector-monthly")])
    assert [(line.budget_id, line.threshold) for line in message.message.lines] == [
        ("detector-monthly", "100%"),
        ("vision-monthly", "80%"),
    ]


def test_teams_hear_of_their_own_budgets_only(state: StateStore) -> None:
    audio = SlackWebhookChannel(id="audio-slack", url=SecretReference("env", "AUDIO"))
    settings = AlertSettings(
        channels=(SLACK, audio),
        routes=(Route(team="audio", channels=("audio-slack",)), Route(team=None, channels=("vision-slack",))),
    )
    rows = [*spent(0), *spent(0, budget_id="audio-monthly", team="audio"), *spent(0, budget_id="all", team=None)]
    digests = evaluate(state, rows, settings=settings)
    assert {digest.route: [line.budget_id for line in digest.message.lines] for digest in digests} == {
        "default": ["all", "vision-monthly"],
        "team audio": ["audio-monthly"],
    }


def test_a_route_with_two_channels_has_a_row_for_each(state: StateStore) -> None:
    other = SlackWebhookChannel(id="ops-slack", url=SecretReference("env", "OPS"))
    settings = AlertSettings(
        channels=(SLACK, other),
        routes=(Route(team="vision", channels=("vision-slack",)), Route(team="vision", channels=("ops-slack",))),
    )
    rows = evaluate(state, spent(0), settings=settings)
    assert [(row.route, row.channel) for row in rows] == [("team vision", "vision-slack"), ("team vision", "ops-slack")]
    assert len({row.dedupe_key for row in rows}) == 2


def test_without_routes_the_message_is_kept(state: StateStore) -> None:
    (digest,) = evaluate(state, spent(150_000), settings=AlertSettings())
    assert (digest.route, digest.channel, digest.status) == ("default", "", "kept")
    assert "vision-monthly: crossed 80%" in plain_text(digest.message)


def test_a_route_added_later_has_its_own_digest(state: StateStore) -> None:
    evaluate(state, spent(150_000))
    settings = AlertSettings(
        channels=(SLACK,), routes=(*TO_SLACK.routes, Route(team="vision", channels=("vision-slack",)))
    )
    (digest,) = evaluate(state, spent(150_000), settings=settings)
    assert (digest.kind, digest.route) == ("welcome", "team vision")


def test_a_first_channel_brings_a_digest_to_those_who_have_heard_nothing(state: StateStore) -> None:
    evaluate(state, spent(150_000), settings=AlertSettings())
    (digest,) = evaluate(state, spent(150_000))
    assert (digest.kind, digest.channel, digest.message.lines[0].threshold) == ("welcome", "vision-slack", "80%")


def test_a_route_to_a_missing_channel_writes_nothing(state: StateStore) -> None:
    settings = AlertSettings(routes=(Route(team="vision", channels=("gone",)),))
    with pytest.raises(RouteError, match="'vision' names channel 'gone'"):
        evaluate(state, spent(150_000), settings=settings)
    assert read_outbox(state) == []
    assert not state.rows("select * from welcome")


def test_state_and_outbox_change_together(state: StateStore, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate(state, spent(100_000))

    def fail(*_: object) -> list[OutboxMessage]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("alerts.run.queue", fail)
        with pytest.raises(KeyboardInterrupt):
            evaluate(state, spent(150_000))
    assert told(state) == []
    assert len(evaluate(state, spent(150_000))) == 1


def test_other_currencies_give_no_number_and_are_said_once(state: StateStore) -> None:
    evaluate(state, spent(100_000))
    rows = [replace(row, state="unknown", crossed_on=None) for row in spent(150_000)]
    (message,) = evaluate(state, rows)
    (line,) = message.message.lines
    assert (line.standing, line.threshold, line.spent_amount, line.gross_amount, line.net_amount) == (
        "unknown",
        None,
        None,
        None,
        None,
    )
    text = plain_text(message.message)
    assert text.startswith("No figure: vision-monthly cannot be judged\n")
    assert "not known: its charges are not all in USD" in text
    assert "150,000" not in text
    assert evaluate(state, rows) == []


def test_credits_decide_by_basis_and_both_views_are_printed(state: StateStore) -> None:
    amounts = {
        "limit_amount": Decimal(80),
        "threshold_amount": Decimal(80),
        "gross_amount": Decimal(100),
        "net_amount": Decimal(70),
        "threshold": "100%",
    }
    gross = BudgetRow(**{**amounts, "budget_id": "gross", "spent_amount": Decimal(100)})  # type: ignore[arg-type]
    net = BudgetRow(
        **{**amounts, "budget_id": "net", "spent_amount": Decimal(70), "state": "ok", "crossed_on": None}  # type: ignore[arg-type]
    )
    with make_warehouse([gross, net]) as warehouse:
        for budget_id, includes_credits in (("gross", False), ("net", True)):
            warehouse.execute(
                "insert into settings.budget (budget_id, includes_credits) values (?, ?)", (budget_id, includes_credits)
            )
        (digest,) = conclude(warehouse, state, TO_SLACK, AS_OF, NOW)
    text = plain_text(digest.message)
    assert "at least 100.00 USD (125 %)" in text
    assert "at least 70.00 USD (87.5 %)" in text
    assert text.count("Gross, before promotional credits 100.00 USD") == 2
    assert text.count("Net, after promotional credits    70.00 USD") == 2
    assert "negotiated prices, promotional credits in; tax, purchase refunds, shared costs out" in text
    assert "negotiated prices in; promotional credits, tax, purchase refunds, shared costs out" in text


def test_a_message_survives_the_outbox_to_the_last_digit(state: StateStore) -> None:
    rows = spent("12345678901234567890.123456789012", limit_amount=Decimal("99999999999999999999999999"))
    (digest,) = evaluate(state, rows)
    assert digest.message.lines[0].spent_amount == Decimal("12345678901234567890.123456789012")
    assert from_json(to_json(digest.message)) == digest.message


SCRIPT = """
import sys, pathlib
from alerts.render import plain_text
from alerts.run import conclude
from sql.state import StateStore
from tests.fakes.alerts import AS_OF, NOW, TO_SLACK, make_warehouse, spent
with StateStore.open(pathlib.Path(sys.argv[1])) as state:
    for amount in (100_000, 150_000):
        for row in conclude(make_warehouse(spent(amount)), state, TO_SLACK, AS_OF, NOW):
            sys.stdout.write(row.dedupe_key + str(row.created_at) + str(row.expires_at) + plain_text(row.message))
"""


def test_the_zone_of_the_machine_changes_nothing(tmp_path: Path, repository: Path) -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / f"{number}.sqlite")],
            cwd=repository,
            env={**os.environ, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number, zone in enumerate(("UTC", "Pacific/Auckland", "America/Los_Angeles"))
    }
    assert len(outputs) == 1
    assert "crossed 80%" in outputs.pop()
