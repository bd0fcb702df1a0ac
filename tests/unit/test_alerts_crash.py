from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alerts.run import conclude, deliver
from sql.state import Row, StateStore
from sql.warehouse import Warehouse
from sql.waypoints import OBSERVER, Edge, Kind
from tests.fakes.alerts import AS_OF, NOW, TO_SLACK, FakeChannels, Killed, make_warehouse, spent


@contextmanager
def killed_at(number: int | None) -> Iterator[list[str]]:
    """Kill at the edge of that number, counted over statements of the state store and sends; yields the edges seen."""
    seen: list[str] = []

    def observe(kind: Kind, detail: str, edge: Edge) -> None:
        if kind in {"state", "send"} and detail != "close":
            seen.append(f"{edge} {kind} {detail}")
            if len(seen) - 1 == number:
                raise Killed

    token = OBSERVER.set(observe)
    try:
        yield seen
    finally:
        OBSERVER.reset(token)


def night(path: Path, warehouse: Warehouse, channels: FakeChannels) -> None:
    """Conclude and deliver."""
    with StateStore.open(path) as state:
        conclude(warehouse, state, TO_SLACK, AS_OF, NOW)
        deliver(state, TO_SLACK, {}, NOW, open_sender=channels.open)


def outcome(path: Path) -> list[Row]:
    """Return what is told and what is in the outbox, apart from how often it was tried."""
    with StateStore.open_read_only(path) as state:
        return [
            *state.rows("select fingerprint, state, told_at, as_of from alert_state order by 1"),
            *state.rows("select route, told_at from welcome order by 1"),
            *state.rows("select dedupe_key, payload, status, sent_at from outbox order by 1"),
        ]


def test_a_kill_anywhere_loses_nothing_and_repeats_only_what_it_marks(tmp_path: Path) -> None:
    calm, breached = make_warehouse(spent(100_000)), make_warehouse(spent(190_000))
    undisturbed = tmp_path / "undisturbed.sqlite"
    night(undisturbed, calm, FakeChannels())
    with killed_at(None) as edges:
        night(undisturbed, breached, FakeChannels())
    assert len(edges) > 50

    for number, edge in enumerate(edges):
        path, channels = tmp_path / f"{number}.sqlite", FakeChannels()
        night(path, calm, FakeChannels())
        try:
            with killed_at(number):
                night(path, breached, channels)
        except Killed:
            night(path, breached, channels)
        assert outcome(path) == outcome(undisturbed), edge
        copies = Counter(message.dedupe_key for message in channels.received)
        assert set(copies.values()) <= {1, 2}, edge
        assert len(copies) == 1, edge
        assert [message.is_resent for message in channels.received][1:] in ([], [True]), edge
