from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.deliver import DeliveryReport, Sender, Sent, UndeliveredMessage
from alerts.errors import DeliveryFailed
from alerts.outbox import count_outbox, read_outbox, read_partly_sent
from alerts.run import conclude, deliver
from alerts.settings import AlertSettings, Channel, EmailChannel, Route
from sql.secret import SecretReference
from sql.state import StateStore
from tests.fakes.alerts import (
    AS_OF,
    NOW,
    SLACK,
    TO_SLACK,
    FakeChannels,
    Killed,
    make_warehouse,
    refuse_secret,
    spent,
)

EMAIL = EmailChannel(
    id="vision-mail", smtp_host="localhost", sender="overrun@acme.example", recipients=("a@b.example",)
)
TO_BOTH = AlertSettings(channels=(SLACK, EMAIL), routes=(Route(team=None, channels=("vision-slack", "vision-mail")),))


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateStore]:
    with StateStore.open(tmp_path / "state.sqlite") as store:
        yield store


def queue_digest(state: StateStore, settings: AlertSettings = TO_SLACK) -> None:
    """Put one welcome digest into the outbox."""
    with make_warehouse(spent(150_000)) as warehouse:
        conclude(warehouse, state, settings, AS_OF, NOW)


def send(
    state: StateStore, channels: FakeChannels, *, days: int = 0, settings: AlertSettings = TO_SLACK
) -> DeliveryReport:
    """Deliver through fake channels, `days` later."""
    return deliver(state, settings, {}, NOW + timedelta(days=days), open_sender=channels.open)


def history(state: StateStore) -> list[tuple[str, str | None]]:
    """Return outcome and detail of every delivery, in order."""
    return state.rows("select outcome, detail from delivery_log order by delivery_id")


def test_what_is_queued_is_sent_once(state: StateStore) -> None:
    queue_digest(state)
    channels = FakeChannels()
    assert send(state, channels) == DeliveryReport(sent=1, pending=0, dead=0, kept=0)
    assert send(state, channels).sent == 0
    assert len(channels.received) == 1
    (message,) = read_outbox(state, "sent")
    assert (message.attempts, message.sent_at, message.is_resent) == (1, NOW, False)


def test_a_kill_between_going_out_and_being_marked_sends_a_marked_copy(state: StateStore) -> None:
    queue_digest(state)
    channels = FakeChannels(answers=[Killed()])
    with pytest.raises(Killed):
        send(state, channels)
    assert count_outbox(state)["sending"] == 1
    assert send(state, channels).sent == 1
    assert [message.is_resent for message in channels.received] == [False, True]
    assert len({message.dedupe_key for message in channels.received}) == 1
    assert [message.is_resent for message in read_outbox(state, "sent")] == [True]
    assert history(state) == [("interrupted", None), ("sent", None)]


def test_a_channel_that_is_down_leaves_the_message_for_the_next_run(state: StateStore) -> None:
    queue_digest(state)
    channels = FakeChannels(answers=[DeliveryFailed("Slack answered 503", is_retryable=True)])
    report = send(state, channels)
    waiting = UndeliveredMessage(route="default", channel="vision-slack", is_dead=False, reason="Slack answered 503")
    assert report == DeliveryReport(sent=0, pending=1, dead=0, kept=0, undelivered=(waiting,))
    assert not report.is_complete
    assert send(state, channels).is_complete
    assert [message.is_resent for message in channels.received] == [False]


def test_a_service_that_asks_to_wait_is_left_alone_until_then(state: StateStore) -> None:
    queue_digest(state)
    channels = FakeChannels(answers=[DeliveryFailed("Slack answered 429", is_retryable=True, retry_after=3_600.0)])
    send(state, channels)
    assert read_outbox(state)[0].not_before == NOW + timedelta(hours=1)
    assert send(state, channels).pending == 1
    assert channels.received == []
    assert send(state, channels, days=1).sent == 1


def test_a_lost_answer_makes_the_next_copy_a_marked_one(state: StateStore) -> None:
    queue_digest(state)
    channels = FakeChannels(answers=[DeliveryFailed("no answer", is_retryable=True, may_have_arrived=True)])
    send(state, channels)
    send(state, channels)
    assert [message.is_resent for message in channels.received] == [True]


def test_a_copy_sent_within_one_run_is_recorded_as_such(state: StateStore) -> None:
    queue_digest(state)
    send(state, FakeChannels(answers=[Sent(is_resent=True)]))
    assert read_outbox(state)[0].is_resent


def test_a_refused_message_is_tried_once_each_run_until_its_channel_is_repaired(state: StateStore) -> None:
    queue_digest(state)
    error = "Slack answered 404 no_service"
    refusal = DeliveryFailed(error, is_retryable=False)
    channels = FakeChannels(answers=[refusal, refusal])
    for tries in (1, 2):
        report = send(state, channels, days=tries - 1)
        assert (report.sent, report.pending, report.dead, report.is_complete) == (0, 1, 0, False)
        assert [(message.is_dead, message.reason) for message in report.undelivered] == [(False, error)]
        (message,) = read_outbox(state, "pending")
        assert (message.attempts, message.last_error, message.not_before) == (tries, error, None)
    assert send(state, channels, days=2).is_complete
    assert [message.is_resent for message in channels.received] == [False]
    assert history(state) == [("delayed", error), ("delayed", error), ("sent", None)]


def test_a_message_that_is_refused_for_ever_expires(state: StateStore) -> None:
    queue_digest(state)
    channels = FakeChannels(answers=[DeliveryFailed("no_service", is_retryable=False)] * 18)
    assert [send(state, channels, days=day).pending for day in range(18)] == [1] * 18
    report = send(state, channels, days=18)
    assert (report.dead, report.pending, report.is_complete) == (1, 0, False)
    assert report.undelivered[0].reason == "expired after the end of its period; no_service"
    assert send(state, channels, days=19).is_complete


def test_a_refusal_does_not_keep_other_messages_of_the_channel_from_being_tried(state: StateStore) -> None:
    queue_digest(state)
    with make_warehouse(spent(190_000)) as warehouse:
        conclude(warehouse, state, TO_SLACK, AS_OF, NOW)
    channels = FakeChannels(answers=[DeliveryFailed("invalid_payload", is_retryable=False)])
    report = send(state, channels)
    assert (report.sent, report.pending) == (1, 1)


def test_a_channel_that_fails_does_not_keep_others_from_being_tried(state: StateStore) -> None:
    queue_digest(state, TO_BOTH)
    channels = FakeChannels(answers=[DeliveryFailed("down", is_retryable=True)])
    report = send(state, channels, settings=TO_BOTH)
    assert (report.sent, report.pending) == (1, 1)
    assert [message.channel for message in channels.received] == ["vision-mail"]


def test_a_channel_that_is_down_is_tried_once_per_run(state: StateStore) -> None:
    queue_digest(state)
    with make_warehouse(spent(190_000)) as warehouse:
        conclude(warehouse, state, TO_SLACK, AS_OF, NOW)
    channels = FakeChannels(answers=[DeliveryFailed("down", is_retryable=True)])
    report = send(state, channels)
    assert (report.sent, report.pending, len(report.undelivered)) == (0, 2, 2)
    assert [message.attempts for message in read_outbox(state)] == [1, 0]


def test_a_secret_that_does_not_resolve_leaves_the_message_pending(state: StateStore) -> None:
    queue_digest(state)
    report = deliver(state, TO_SLACK, {}, NOW)
    assert (report.pending, report.undelivered[0].reason) == (1, "environment variable VISION_SLACK_URL is not set")
    assert deliver(state, TO_SLACK, {}, NOW, open_sender=refuse_secret).pending == 1


def test_a_password_that_does_not_resolve_leaves_the_email_pending(state: StateStore, tmp_path: Path) -> None:
    channel = EmailChannel(
        id="vision-mail",
        smtp_host="localhost",
        username="overrun",
        password=SecretReference("file", str(tmp_path / "nothing")),
        sender="overrun@acme.example",
        recipients=("a@b.example",),
    )
    settings = AlertSettings(channels=(channel,), routes=(Route(team=None, channels=("vision-mail",)),))
    queue_digest(state, settings)
    assert "cannot be read" in deliver(state, settings, {}, NOW).undelivered[0].reason


def test_a_channel_removed_from_the_configuration_is_named(state: StateStore) -> None:
    queue_digest(state)
    report = deliver(state, AlertSettings(), {}, NOW)
    assert report.undelivered[0].reason == "the configuration has no channel 'vision-slack' any more"


def test_what_nobody_asked_for_is_kept_and_complete(state: StateStore) -> None:
    queue_digest(state, AlertSettings())
    report = deliver(state, AlertSettings(), {}, NOW)
    assert report == DeliveryReport(sent=0, pending=0, dead=0, kept=1)
    assert report.is_complete


def test_stale_news_expires_a_week_after_its_period(state: StateStore) -> None:
    queue_digest(state)
    down = FakeChannels(answers=[DeliveryFailed("down", is_retryable=True)])
    assert send(state, down, days=17).pending == 1
    channels = FakeChannels()
    report = send(state, channels, days=18)
    assert (report.dead, channels.received) == (1, [])
    assert read_outbox(state)[0].last_error == "expired after the end of its period; down"
    assert report.undelivered[0].reason == "expired after the end of its period; down"


def test_what_was_refused_of_a_sent_message_is_recorded_and_reported(state: StateStore) -> None:
    queue_digest(state)
    note = "refused recipients: a@b (550 no)"
    report = send(state, FakeChannels(answers=[Sent(is_resent=False, note=note)]))
    partly = UndeliveredMessage(route="default", channel="vision-slack", is_dead=False, reason=note)
    assert report == DeliveryReport(sent=1, pending=0, dead=0, kept=0, partly=(partly,))
    assert report.is_complete
    assert read_outbox(state, "sent")[0].last_error == "refused recipients: a@b (550 no)"
    assert history(state) == [("sent", note)]


def test_a_partly_sent_message_stands_until_all_get_a_later_one(state: StateStore) -> None:
    queue_digest(state)
    send(state, FakeChannels(answers=[Sent(is_resent=False, note="refused recipients: a@b (550 no)")]))
    assert [message.channel for message in read_partly_sent(state)] == ["vision-slack"]
    with make_warehouse(spent(190_000)) as warehouse:
        conclude(warehouse, state, TO_SLACK, AS_OF, NOW)
    assert send(state, FakeChannels()).partly == ()
    assert read_partly_sent(state) == []


def test_a_message_that_another_sender_has_taken_is_left_to_it(state: StateStore) -> None:
    queue_digest(state)
    channels = FakeChannels()

    def open_late(channel: Channel) -> Sender:
        state.execute("update outbox set status = 'sending'")
        return channels.open(channel)

    assert deliver(state, TO_SLACK, {}, NOW, open_sender=open_late).sent == 0
    assert channels.received == []
