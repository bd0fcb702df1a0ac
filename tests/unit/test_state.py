from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from sql.errors import DirectoryUnwritable, StateError, WarehouseError
from sql.state import (
    STATE_VERSION,
    Problem,
    PublishedFile,
    Run,
    StateStore,
    instant_from,
    instant_text,
)
from sql.waypoints import OBSERVER, Edge, Kind

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
AS_OF = date(2026, 11, 20)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateStore]:
    with StateStore.open(tmp_path / "state.sqlite") as store:
        yield store


def test_instants_are_written_in_utc_and_sort_as_text() -> None:
    auckland = datetime(2026, 11, 21, 16, 0, tzinfo=timezone(timedelta(hours=13)))
    assert instant_text(auckland) == "2026-11-21T03:00:00Z"
    assert instant_from("2026-11-21T03:00:00Z") == NOW
    with pytest.raises(ValueError, match="time zone"):
        instant_text(datetime(2026, 11, 21))  # noqa: DTZ001 - the mistake under test


def test_it_is_open_for_writers_beside_it_and_keeps_references(state: StateStore) -> None:
    assert state.rows("pragma journal_mode") == [("wal",)]
    assert state.rows("pragma busy_timeout") == [(10_000,)]
    assert state.rows("pragma foreign_keys") == [(1,)]
    assert state.rows("pragma user_version") == [(STATE_VERSION,)]
    with pytest.raises(StateError, match="FOREIGN KEY"):
        state.record_problem(
            "no such run", Problem(source=None, billing_month=None, code="X", message="m", hint=None, at=NOW)
        )


def test_runs_are_listed_newest_first_with_how_they_ended(state: StateStore) -> None:
    state.start_run("r1", "nightly", AS_OF, now=NOW)
    state.finish_run("r1", 3, now=NOW + timedelta(seconds=90))
    state.start_run("r2", "alert", AS_OF, now=NOW)
    ended = Run(
        run_id="r1",
        command="nightly",
        as_of=AS_OF,
        started_at=NOW,
        finished_at=NOW + timedelta(seconds=90),
        exit_code=3,
    )
    running = Run(run_id="r2", command="alert", as_of=AS_OF, started_at=NOW, finished_at=None, exit_code=None)
    assert state.last_runs(5) == [running, ended]
    assert state.last_runs(1) == [running]


def test_problems_come_back_as_they_were_recorded(state: StateStore) -> None:
    state.start_run("r1", "nightly", AS_OF, now=NOW)
    first = Problem(
        source="aws-main",
        billing_month=date(2026, 11, 1),
        code="ExportIncomplete",
        message="file is missing",
        hint="deliver it again",
        at=NOW,
    )
    second = Problem(source=None, billing_month=None, code="DiskFull", message="full", hint=None, at=NOW)
    state.record_problem("r1", first)
    state.record_problem("r1", second)
    assert state.problems("r1") == [first, second]
    assert state.problems("r0") == []


def test_a_published_file_replaces_the_one_recorded_before(state: StateStore, tmp_path: Path) -> None:
    path = tmp_path / "finance.duckdb"
    assert state.published(path) is None
    old = PublishedFile(path=path, build_id="b1", size=10, modified_ns=1, inode=7)
    new = PublishedFile(path=path, build_id="b2", size=11, modified_ns=2, inode=2**64 - 1)
    state.record_published(old)
    state.record_published(new)
    assert state.published(path) == new


def test_a_transaction_is_all_or_nothing(state: StateStore) -> None:
    with pytest.raises(RuntimeError), state.transaction():
        state.start_run("r1", "nightly", AS_OF, now=NOW)
        raise RuntimeError
    assert state.last_runs(5) == []
    with state.transaction():
        state.start_run("r1", "nightly", AS_OF, now=NOW)
    assert len(state.last_runs(5)) == 1


def test_what_is_written_is_there_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    with StateStore.open(path) as store:
        store.start_run("r1", "nightly", AS_OF, now=NOW)
    with StateStore.open(path) as store:
        assert len(store.last_runs(5)) == 1


def test_a_reader_sees_the_last_commit_while_a_transaction_runs(state: StateStore) -> None:
    with state.transaction():
        state.start_run("r1", "nightly", AS_OF, now=NOW)
        with StateStore.open_read_only(state.path) as reader:
            assert reader.last_runs(5) == []
    with StateStore.open_read_only(state.path) as reader:
        assert len(reader.last_runs(5)) == 1
        with pytest.raises(WarehouseError):
            reader.start_run("r2", "nightly", AS_OF, now=NOW)


def test_two_processes_may_create_it_at_once(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    problems: list[Exception] = []

    def create() -> None:
        try:
            StateStore.open(path).close()
        except StateError as error:
            problems.append(error)

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    with StateStore.open_read_only(path) as reader:
        assert reader.last_runs(1) == []


def test_a_missing_file_is_said_so_only_to_readers(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="does not exist yet") as raised:
        StateStore.open_read_only(tmp_path / "state.sqlite")
    assert raised.value.hint == "run overrun nightly once"


def test_a_missing_directory_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(DirectoryUnwritable, match="cannot be opened"):
        StateStore.open(tmp_path / "nowhere" / "state.sqlite")


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    path.write_text("[[source]]\n" * 100, encoding="utf-8")
    with pytest.raises(StateError, match="not a state store"):
        StateStore.open(path)
    assert path.read_text(encoding="utf-8").startswith("[[source]]")


def test_versions_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    sqlite3.connect(path).close()
    with pytest.raises(StateError, match="older Overrun"):
        StateStore.open_read_only(path)
    with StateStore.open(path) as store:
        store.execute(f"pragma user_version = {STATE_VERSION + 1}")
    with pytest.raises(StateError, match="newer Overrun"):
        StateStore.open(path)
    with pytest.raises(StateError, match="newer Overrun"):
        StateStore.open_read_only(path)


def test_a_busy_file_is_named_as_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sql.state.BUSY_SECONDS", 0.0)
    path = tmp_path / "state.sqlite"
    with (
        StateStore.open(path) as first,
        StateStore.open(path) as second,
        first.transaction(),
        pytest.raises(StateError, match="busy"),
        second.transaction(),
    ):
        pass


def test_every_statement_passes_a_waypoint(tmp_path: Path) -> None:
    seen: list[tuple[Kind, str, Edge]] = []
    token = OBSERVER.set(lambda kind, detail, edge: seen.append((kind, detail, edge)))
    try:
        with StateStore.open(tmp_path / "state.sqlite") as store, store.transaction():
            store.start_run("r1", "nightly", AS_OF, now=NOW)
    finally:
        OBSERVER.reset(token)
    details = [detail for kind, detail, edge in seen if kind == "state" and edge == "after"]
    assert details[0] == "open state.sqlite"
    assert [detail.split()[0] for detail in details[-4:]] == ["begin", "insert", "commit", "close"]


def test_a_store_of_an_earlier_version_keeps_what_people_entered_and_takes_closed_months(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    with StateStore.open(path) as store:
        store.execute("insert into invoice values ('I1', '2026-10-01', 'A', 'USD', '12.50', '2026-11-05T00:00:00Z')")
        later = ("waste_dismissal", "waste_reminder", "waste_told")
        for table in ("closed_figure", "closed_load", "closed_month", "invoice_check", *later):
            store.execute(f"drop table {table}")
        store.execute("pragma user_version = 2")
    with pytest.raises(StateError, match="older Overrun"):
        StateStore.open_read_only(path)
    with StateStore.open(path) as store:
        assert store.rows("select invoice_id, amount from invoice") == [("I1", "12.50")]
        assert store.rows("select count(*) from closed_month") == [(0,)]
        assert store.rows("select count(*) from invoice_check") == [(0,)]


def test_one_month_has_one_closing_that_stands(state: StateStore) -> None:
    insert = (
        "insert into closed_month (billing_month, closed_at, closed_by, as_of, is_estimate)"
        " values ('2026-10-01', '2026-11-05T00:00:00Z', 'Ada', '2026-11-05', 0)"
    )
    state.execute(insert)
    with pytest.raises(StateError, match="UNIQUE"):
        state.execute(insert)
    state.execute("update closed_month set reopened_at = '2026-11-06T00:00:00Z', reopened_by = 'Bob'")
    state.execute(insert)
