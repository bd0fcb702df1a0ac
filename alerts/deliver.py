"""Sending what waits in the outbox, each message at least once and never twice without saying so.

One sender at a time: the front door's lock sees to that. A channel that fails does not keep others from being tried;
a channel that could not be reached is not tried again in the same run. A message that its channel refused waits as
well, and is tried once in each run: a webhook, an address or a server may be repaired. Only age ends that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from alerts import outbox, render
from alerts.email import Envelope, build_email, send_email
from alerts.errors import DeliveryFailed
from alerts.outbox import OutboxMessage
from alerts.settings import AlertSettings, Channel, EmailChannel, SlackWebhookChannel
from alerts.slack import PATIENCE_SECONDS, Patience, open_webhook
from sql.secret import SecretReference, SecretUnresolved
from sql.state import StateStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A channel took the message."""

    is_resent: bool
    note: str | None = None
    """What it did not take: refused recipients."""


Sender = Callable[[OutboxMessage], Sent]
"""Sends one message through one channel; raises DeliveryFailed."""
OpenSender = Callable[[Channel], Sender]
"""Returns the sender of a channel; raises DeliveryFailed where the channel cannot be used at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeliveredMessage:
    """One message that did not get through in this run, or not to all, for a warning; the text holds no secret."""

    route: str
    channel: str
    is_dead: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryReport:
    """What a run did, and what is left."""

    sent: int
    """Taken by their channel in this run."""
    pending: int
    """Still waiting after it: asked for and not delivered."""
    dead: int
    """Given up in this run, since their news had become stale."""
    kept: int
    """All that were kept because their route has no channel; nobody asked for their delivery."""
    undelivered: tuple[UndeliveredMessage, ...] = ()
    partly: tuple[UndeliveredMessage, ...] = ()
    """Sent in this run, though the channel refused some of the recipients; they count as sent."""

    @property
    def is_complete(self) -> bool:
        """Whether everything that was asked for has been delivered, at least to some of its recipients."""
        return self.pending == 0 and self.dead == 0


def deliver(
    state: StateStore,
    settings: AlertSettings,
    environ: Mapping[str, str],
    now: datetime,
    *,
    patience: Patience | None = None,
    open_sender: OpenSender | None = None,
) -> DeliveryReport:
    """Send what is due; returns when each due message is sent, left for a later run, or given up as stale.

    Retries of all messages together take at most PATIENCE_SECONDS. `open_sender` replaces the real channels.
    """
    patience = patience or Patience()
    opened = open_sender or _real_channels(environ, now, patience)
    outbox.recover_interrupted(state, now)
    expired = [
        _undelivered(message, message.last_error or "expired", is_dead=True) for message in outbox.expire(state, now)
    ]
    run = _DeliveryRun(state, settings, opened, now)
    for message in outbox.read_outbox(state, "pending"):
        run.handle(message)
    counts = outbox.count_outbox(state)
    return DeliveryReport(
        sent=run.sent,
        pending=counts["pending"],
        dead=len(expired),
        kept=counts["kept"],
        undelivered=(*expired, *run.waiting),
        partly=tuple(run.partly),
    )


class _DeliveryRun:
    """One pass over the outbox: which channels are down, and what came of each message."""

    def __init__(self, state: StateStore, settings: AlertSettings, open_sender: OpenSender, now: datetime) -> None:
        self.sent = 0
        self.partly: list[UndeliveredMessage] = []
        self.waiting: list[UndeliveredMessage] = []
        self._state = state
        self._channels = {channel.id: channel for channel in settings.channels}
        self._open_sender = open_sender
        self._now = now
        self._down: dict[str, str] = {}

    def handle(self, message: OutboxMessage) -> None:
        """Send one message, or note why not."""
        if message.channel in self._down:
            self._wait(message, self._down[message.channel])
        elif message.not_before is not None and message.not_before > self._now:
            self._wait(message, message.last_error or "the service asked to wait")
        else:
            self._send(message)

    def _send(self, message: OutboxMessage) -> None:
        """Open the channel, mark, send, mark."""
        try:
            sender = self._open(message.channel)
        except DeliveryFailed as error:
            self._fail(message, error)
            return
        if not outbox.claim(self._state, message.id):
            return
        try:
            sent = sender(message)
        except DeliveryFailed as error:
            self._fail(message, error)
            return
        if sent.is_resent and not message.is_resent:
            outbox.mark_resent(self._state, message.id)
        outbox.mark_sent(self._state, message.id, sent.note, self._now)
        self.sent += 1
        if sent.note is not None:
            self.partly.append(_undelivered(message, sent.note, is_dead=False))

    def _open(self, channel_id: str) -> Sender:
        """Return the sender of a channel; raises DeliveryFailed."""
        channel = self._channels.get(channel_id)
        if channel is None:
            raise DeliveryFailed(f"the configuration has no channel {channel_id!r} any more", is_retryable=True)
        return self._open_sender(channel)

    def _fail(self, message: OutboxMessage, error: DeliveryFailed) -> None:
        """Record a failure until a later run; a refusal is the message's, any other failure the whole channel's."""
        reason = str(error)
        if error.may_have_arrived:
            outbox.mark_resent(self._state, message.id)
        if error.is_retryable:
            self._down[message.channel] = reason
        outbox.mark_delayed(self._state, message.id, reason, retry_after=error.retry_after, now=self._now)
        self._wait(message, reason)

    def _wait(self, message: OutboxMessage, reason: str) -> None:
        """Note that a message is left for a later run."""
        self.waiting.append(_undelivered(message, reason, is_dead=False))


def _undelivered(message: OutboxMessage, reason: str, *, is_dead: bool) -> UndeliveredMessage:
    """Return what a warning needs to say about a message."""
    return UndeliveredMessage(route=message.route, channel=message.channel, is_dead=is_dead, reason=reason)


def _real_channels(environ: Mapping[str, str], now: datetime, patience: Patience) -> OpenSender:
    """Return how to open Slack and email channels, secrets taken from `environ` and files."""
    deadline = patience.clock() + PATIENCE_SECONDS

    def open_channel(channel: Channel) -> Sender:
        if isinstance(channel, SlackWebhookChannel):
            return _slack_sender(channel, _resolve(channel.url, environ), now, deadline, patience)
        password = None if channel.password is None else _resolve(channel.password, environ)
        return _email_sender(channel, password, now)

    return open_channel


def _slack_sender(channel: SlackWebhookChannel, url: str, now: datetime, deadline: float, patience: Patience) -> Sender:
    """Return what posts one message to a webhook."""
    webhook = open_webhook(channel, url, now=now, deadline=deadline, patience=patience)

    def send(message: OutboxMessage) -> Sent:
        def body(is_resent: bool) -> dict[str, object]:
            return render.slack_body(message.message, is_resent=is_resent)

        return Sent(is_resent=webhook.post(body, is_resent=message.is_resent))

    return send


def _email_sender(channel: EmailChannel, password: str | None, now: datetime) -> Sender:
    """Return what sends one message by email."""

    def send(message: OutboxMessage) -> Sent:
        envelope = Envelope(dedupe_key=message.dedupe_key, is_resent=message.is_resent, now=now)
        note = send_email(channel, password, build_email(channel, message.message, envelope))
        return Sent(is_resent=message.is_resent, note=note)

    return send


def _resolve(reference: SecretReference, environ: Mapping[str, str]) -> str:
    """Return the value of a secret; raises DeliveryFailed, since only this channel suffers."""
    try:
        return reference.resolve(environ)
    except SecretUnresolved as error:
        raise DeliveryFailed(str(error), is_retryable=True) from error
