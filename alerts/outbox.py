"""Once only: what each route has been told, and the messages that wait to be sent. Tables of the state store.

A row is `pending`, then `sending` (committed before anything goes out), then `sent`, or `pending` again for a later run
where it was not taken. It is `dead` once its news is stale; or `kept` from the start, where nobody asked for delivery.
A row still `sending` when a run begins was interrupted between going out and being marked: it is sent once more and
says so. That needs one sender at a time, which the lock of the front door gives.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal, cast

from alerts.message import Message, MessageKind, from_json, to_json
from alerts.route import Destination
from sql.state import Row, StateStore, instant_from, instant_text

Status = Literal["pending", "sending", "sent", "dead", "kept"]
ToldState = Literal["announced", "included", "baseline"]
Outcome = Literal["interrupted", "sent", "delayed", "dead"]

DAYS_AFTER_PERIOD = 7
"""A message that could not be sent expires this many days after the end of its period, or its day if it has none."""

_COLUMNS = (
    "id, dedupe_key, route, channel, kind, payload, status, attempts, not_before, last_error, created_at, expires_at,"
    " sent_at, is_resent"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxMessage:
    """One message on its way through one channel."""

    id: int
    dedupe_key: str
    """Identity of (what is told, channel); the same news queued again is no new row."""
    route: str
    channel: str
    """Channel id; empty where the route has none."""
    kind: MessageKind
    message: Message
    status: Status
    attempts: int
    not_before: datetime | None
    last_error: str | None
    created_at: datetime
    expires_at: datetime
    sent_at: datetime | None
    is_resent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A threshold that counts as told from now on; the names are for people, the fingerprint decides."""

    fingerprint: str
    budget_id: str
    threshold: str
    period_start: date
    state: ToldState


def has_welcome(state: StateStore, audience: str) -> bool:
    """Return whether the audience of a route has had its digest."""
    return bool(state.rows("select 1 from welcome where route = ?", (audience,)))


def record_welcome(state: StateStore, audience: str, as_of: date, now: datetime) -> None:
    """Record that the audience of a route has had its digest."""
    state.execute(
        "insert into welcome (route, told_at, as_of) values (?, ?, ?)", (audience, instant_text(now), as_of.isoformat())
    )


def told_fingerprints(state: StateStore, fingerprints: Collection[str]) -> frozenset[str]:
    """Return which of the fingerprints have been told."""
    found = state.rows(
        "select fingerprint from alert_state where fingerprint in (select value from json_each(?))",
        (json.dumps(sorted(fingerprints)),),
    )
    return frozenset(fingerprint for (fingerprint,) in found)


def record_told(state: StateStore, told: Sequence[Told], as_of: date, now: datetime) -> None:
    """Record thresholds as told; one that is recorded already stays as it is."""
    for threshold in told:
        state.execute(
            "insert into alert_state (fingerprint, budget_id, threshold, period_start, state, told_at, as_of)"
            " values (?, ?, ?, ?, ?, ?, ?) on conflict (fingerprint) do nothing",
            (
                threshold.fingerprint,
                threshold.budget_id,
                threshold.threshold,
                threshold.period_start.isoformat(),
                threshold.state,
                instant_text(now),
                as_of.isoformat(),
            ),
        )


def queue(
    state: StateStore, destination: Destination, message: Message, identity: Sequence[str], now: datetime
) -> list[OutboxMessage]:
    """Put `message` into the outbox once per channel, or once as kept; returns the new rows.

    `identity` says what is told (fingerprints); the same identity queued again for a channel adds nothing.
    """
    content = json.dumps([message.kind, destination.route, *identity])
    news = hashlib.sha256(content.encode()).hexdigest()[:32]
    ids: list[int] = []
    for channel in destination.channels or ("",):
        status: Status = "pending" if channel else "kept"
        inserted = state.rows(
            "insert into outbox (dedupe_key, route, channel, kind, payload, status, created_at, expires_at)"
            " values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (dedupe_key) do nothing returning id",
            (
                f"{message.kind}|{news}|{channel}",
                message.route,
                channel,
                message.kind,
                to_json(message),
                status,
                instant_text(now),
                instant_text(now + _lifetime(message)),
            ),
        )
        ids.extend(new_id for (new_id,) in inserted)
    return [message for message in read_outbox(state) if message.id in ids] if ids else []


def read_outbox(state: StateStore, *statuses: Status) -> list[OutboxMessage]:
    """Return the messages in one of `statuses`, or all, oldest first."""
    found = state.rows(
        f"select {_COLUMNS} from outbox where ? = '[]' or status in (select value from json_each(?)) order by id",
        (json.dumps(statuses), json.dumps(statuses)),
    )
    return [_message(row) for row in found]


def read_partly_sent(state: StateStore) -> list[OutboxMessage]:
    """Return the sent messages that some recipients were refused, unless all got a later one of the same channel."""
    found = state.rows(
        f"select {_COLUMNS} from outbox where status = 'sent' and last_error is not null and not exists ("
        "select 1 from outbox as later where later.channel = outbox.channel and later.status = 'sent'"
        " and later.last_error is null and (later.sent_at, later.id) > (outbox.sent_at, outbox.id)) order by id"
    )
    return [_message(row) for row in found]


def count_outbox(state: StateStore) -> dict[Status, int]:
    """Return how many messages are in each status."""
    counts: dict[Status, int] = dict.fromkeys(("pending", "sending", "sent", "dead", "kept"), 0)
    counts.update(cast("list[tuple[Status, int]]", state.rows("select status, count(*) from outbox group by status")))
    return counts


def recover_interrupted(state: StateStore, now: datetime) -> None:
    """Make messages that a killed run left in `sending` pending again, to be marked as resent."""
    with state.transaction():
        for (interrupted,) in state.rows("select id from outbox where status = 'sending'"):
            state.execute("update outbox set status = 'pending', is_resent = 1 where id = ?", (interrupted,))
            _log(state, interrupted, "interrupted", None, now)


def expire(state: StateStore, now: datetime) -> list[OutboxMessage]:
    """Give up on messages whose news is stale; returns them as they are then."""
    stale = [message for message in read_outbox(state, "pending") if message.expires_at <= now]
    for message in stale:
        reason = f"expired after the end of its period; {message.last_error or 'it was never tried'}"
        mark_dead(state, message.id, reason, now)
    ids = {message.id for message in stale}
    return [message for message in read_outbox(state, "dead") if message.id in ids]


def claim(state: StateStore, message_id: int) -> bool:
    """Mark a pending message as being sent; False where it is no longer pending."""
    statement = "update outbox set status = 'sending', attempts = attempts + 1 where id = ? and status = 'pending'"
    return state.execute(statement, (message_id,)) == 1


def mark_resent(state: StateStore, message_id: int) -> None:
    """Record that what goes out next may be a second copy."""
    state.execute("update outbox set is_resent = 1 where id = ?", (message_id,))


def mark_sent(state: StateStore, message_id: int, note: str | None, now: datetime) -> None:
    """Record that the channel took the message; `note` says what it did not take, e.g. refused recipients."""
    with state.transaction():
        state.execute(
            "update outbox set status = 'sent', sent_at = ?, last_error = ?, not_before = null where id = ?",
            (instant_text(now), note, message_id),
        )
        _log(state, message_id, "sent", note, now)


def mark_delayed(state: StateStore, message_id: int, reason: str, *, retry_after: float | None, now: datetime) -> None:
    """Record that the message waits for a later run, not before `retry_after` seconds from now."""
    not_before = None if retry_after is None else instant_text(now + timedelta(seconds=retry_after))
    with state.transaction():
        state.execute(
            "update outbox set status = 'pending', last_error = ?, not_before = ? where id = ?",
            (reason, not_before, message_id),
        )
        _log(state, message_id, "delayed", reason, now)


def mark_dead(state: StateStore, message_id: int, reason: str, now: datetime) -> None:
    """Record that the message is given up."""
    with state.transaction():
        state.execute("update outbox set status = 'dead', last_error = ? where id = ?", (reason, message_id))
        _log(state, message_id, "dead", reason, now)


def _lifetime(message: Message) -> timedelta:
    """Return how long the news stays worth sending, from the as-of day on, so that a replay of old days is the same."""
    ends = [line.period_end for line in message.lines] or [message.as_of]
    return max(ends) + timedelta(days=DAYS_AFTER_PERIOD) - message.as_of


def _log(state: StateStore, message_id: int, outcome: Outcome, detail: str | None, now: datetime) -> None:
    """Add a line to the history of a message."""
    state.execute(
        "insert into delivery_log (outbox_id, at, outcome, detail) values (?, ?, ?, ?)",
        (message_id, instant_text(now), outcome, detail),
    )


def _message(row: Row) -> OutboxMessage:
    """Return one row of the outbox, read by `_COLUMNS`."""
    (message_id, dedupe_key, route, channel, kind, payload, status, attempts, *rest) = row
    not_before, last_error, created_at, expires_at, sent_at, is_resent = rest
    return OutboxMessage(
        id=message_id,
        dedupe_key=dedupe_key,
        route=route,
        channel=channel,
        kind=kind,
        message=from_json(payload),
        status=status,
        attempts=attempts,
        not_before=None if not_before is None else instant_from(not_before),
        last_error=last_error,
        created_at=instant_from(created_at),
        expires_at=instant_from(expires_at),
        sent_at=None if sent_at is None else instant_from(sent_at),
        is_resent=bool(is_resent),
    )
