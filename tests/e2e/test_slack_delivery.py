"""Budget messages through slack-sdk to a Slack stand-in on this machine."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from alerts.deliver import DeliveryReport
from alerts.outbox import read_outbox
from alerts.run import conclude, deliver
from alerts.slack import Patience
from sql.state import StateStore
from tests.fakes.alerts import AS_OF, NOW, TO_SLACK, FakeTime, make_warehouse, spent

SECRET = "T000-made-up-token"


@dataclass(frozen=True)
class Answer:
    """What the stand-in says to one request."""

    status: int = 200
    body: str = "ok"
    headers: tuple[tuple[str, str], ...] = ()
    hang_seconds: float = 0.0


@dataclass
class SlackStandIn:
    """A webhook that gives scripted answers and then `ok`, and remembers what it got."""

    url: str
    answers: list[Answer] = field(default_factory=list)
    bodies: list[dict[str, object]] = field(default_factory=list)


@pytest.fixture
def slack() -> Iterator[SlackStandIn]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            stand_in.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer = stand_in.answers.pop(0) if stand_in.answers else Answer()
            time.sleep(answer.hang_seconds)
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            content = answer.body.encode()
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

        def handle(self) -> None:
            """Bear a client that has gone."""
            try:
                super().handle()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stand_in = SlackStandIn(f"http://127.0.0.1:{server.server_port}/services/{SECRET}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield stand_in
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateStore]:
    with StateStore.open(tmp_path / "state.sqlite") as store:
        with make_warehouse(spent(150_000, budget_id="<!channel> & co")) as warehouse:
            conclude(warehouse, store, TO_SLACK, AS_OF, NOW)
        yield store


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


Send = Callable[[str], DeliveryReport]


@pytest.fixture
def send(state: StateStore, fake_time: FakeTime) -> Send:
    """Return what delivers to an address, without waiting between tries."""

    def deliver_to(url: str) -> DeliveryReport:
        patience = Patience(clock=fake_time.clock, sleep=fake_time.sleep, answer_seconds=1)
        return deliver(state, TO_SLACK, {"VISION_SLACK_URL": url}, NOW, patience=patience)

    return deliver_to


def closed_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_message_arrives_once_escaped(slack: SlackStandIn, send: Send) -> None:
    assert send(slack.url).sent == 1
    assert send(slack.url).sent == 0
    (body,) = slack.bodies
    assert "&lt;!channel&gt; &amp; co: crossed 80%" in str(body["text"])
    assert "<!channel>" not in str(body["text"])
    assert body["unfurl_links"] is False


def test_it_waits_as_told_and_tries_again(
    slack: SlackStandIn, send: Send, fake_time: FakeTime, state: StateStore
) -> None:
    slack.answers = [Answer(429, "rate_limited", (("Retry-After", "7"),)), Answer(500, "rollup_error")]
    assert send(slack.url) == DeliveryReport(sent=1, pending=0, dead=0, kept=0)
    assert len(slack.bodies) == 3
    assert fake_time.slept == [7.0, 2.0]
    assert not read_outbox(state)[0].is_resent


def test_a_wait_may_be_a_date(slack: SlackStandIn, send: Send, fake_time: FakeTime) -> None:
    slack.answers = [Answer(429, headers=(("Retry-After", "Sat, 21 Nov 2026 03:00:12 GMT"),))]
    assert send(slack.url).sent == 1
    assert fake_time.slept == [12.0]


def test_a_wait_that_is_neither_is_short(slack: SlackStandIn, send: Send, fake_time: FakeTime) -> None:
    slack.answers = [Answer(429, headers=(("Retry-After", "soon"),))]
    assert send(slack.url).sent == 1
    assert fake_time.slept == [1.0]


def test_a_long_wait_is_left_to_a_later_run(
    slack: SlackStandIn, send: Send, fake_time: FakeTime, state: StateStore
) -> None:
    slack.answers = [Answer(429, "rate_limited", (("Retry-After", "600"),))] * 5
    report = send(slack.url)
    assert (report.pending, report.undelivered[0].reason) == (1, "Slack answered 429 rate_limited")
    assert fake_time.slept == [30.0]
    assert read_outbox(state)[0].not_before == NOW + timedelta(minutes=10)


def test_no_wait_outlasts_the_next_night(slack: SlackStandIn, send: Send, state: StateStore) -> None:
    slack.answers = [Answer(429, "rate_limited", (("Retry-After", "999999"),))] * 5
    assert send(slack.url).pending == 1
    assert read_outbox(state)[0].not_before == NOW + timedelta(hours=12)


def test_retries_end_after_five_tries(slack: SlackStandIn, send: Send, fake_time: FakeTime) -> None:
    slack.answers = [Answer(503)] * 20
    assert send(slack.url).pending == 1
    assert fake_time.slept == [1.0, 2.0, 4.0, 8.0]
    assert len(slack.bodies) == 5
    slack.answers = []
    assert send(slack.url).sent == 1


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (302, "", "Slack answered 302"),
        (400, "invalid_payload", "Slack answered 400 invalid_payload"),
        (403, "action_prohibited", "Slack answered 403 action_prohibited: the workspace does not allow it"),
        (404, "no_service", "Slack answered 404 no_service: the webhook or its Slack channel was removed"),
        (410, "channel_is_archived", "Slack answered 410 channel_is_archived: its Slack channel is archived"),
    ],
)
def test_a_refusal_says_why_and_waits_for_a_repaired_webhook(
    slack: SlackStandIn, send: Send, state: StateStore, status: int, body: str, error: str
) -> None:
    slack.answers = [Answer(status, body)]
    report = send(slack.url)
    assert (report.dead, report.pending, len(slack.bodies)) == (0, 1, 1)
    assert read_outbox(state, "pending")[0].last_error == error
    assert send(slack.url).is_complete
    assert not read_outbox(state)[0].is_resent


def test_a_service_that_hangs_is_given_up_and_its_next_copy_is_marked(
    slack: SlackStandIn, send: Send, state: StateStore
) -> None:
    slack.answers = [Answer(hang_seconds=2.0)]
    assert send(slack.url).sent == 1
    assert [str(body["text"]).startswith("(resent) ") for body in slack.bodies] == [False, True]
    assert read_outbox(state)[0].is_resent


def test_a_service_that_is_away_leaves_the_message_pending(send: Send, state: StateStore) -> None:
    report = send(f"http://127.0.0.1:{closed_port()}/services/{SECRET}")
    assert (report.pending, report.undelivered[0].reason) == (1, "Slack cannot be reached (Connection refused)")
    assert not read_outbox(state)[0].is_resent


def test_a_web_page_is_no_answer(slack: SlackStandIn, send: Send) -> None:
    slack.answers = [Answer(200, "<!doctype html><title>Sign in</title>")] * 20
    assert send(slack.url).undelivered[0].reason == "a web page answered instead of Slack"


@pytest.mark.parametrize(
    "address",
    [
        f"http://hooks.slack.example/{SECRET}",
        f"file:///{SECRET}",
        f"https://host:port/{SECRET}",
        f"https://[::1/{SECRET}",
        f"https:///{SECRET}",
        f"https://hooks.slack.example/ {SECRET}",
        f"https://hooks.slack.example/é{SECRET}",
        SECRET,
    ],
)
def test_an_address_that_is_none_is_said_without_repeating_it(send: Send, address: str) -> None:
    report = send(address)
    assert (report.pending, report.undelivered[0].reason) == (1, "env:VISION_SLACK_URL does not hold an https address")


def test_the_address_is_written_nowhere(
    slack: SlackStandIn, send: Send, state: StateStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    slack.answers = [Answer(404, f"no service at {slack.url}")]
    send(slack.url)
    send(f"http://127.0.0.1:{closed_port()}/services/{SECRET}")
    state.execute("pragma wal_checkpoint(truncate)")
    assert SECRET not in caplog.text
    assert SECRET.encode() not in state.path.read_bytes()


def test_a_proxy_is_not_used_for_this_machine(slack: SlackStandIn, send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert send(slack.url).sent == 1
