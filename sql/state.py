"""The state store: what people and other processes must be able to write while a night runs, and no rebuild touches.

It holds runs and their problems, what was published, what each route has been told, the outbox, the invoices that
people entered, what they were found to come to, the months that people closed and the waste that they dismissed. It is
the only place that opens SQLite. A second process may write at the same time (WAL mode, ten seconds of patience). Every
statement passes a waypoint, so that the crash tests reach each of them.

`overrun` keeps runs, problems and publications through the methods below; `alerts` keeps its own tables through
`transaction`, `execute` and `rows`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self

from sql.errors import DirectoryUnwritable, DiskFull, StateError
from sql.waypoints import waypoint

Row = tuple[Any, ...]
Value = str | int | None

BUSY_SECONDS = 10.0

_FIRST_VERSION = (
    """create table run (
        run_id text primary key, command text not null, as_of text not null,
        started_at text not null, finished_at text, exit_code integer) strict""",
    """create table problem (
        problem_id integer primary key, run_id text not null references run (run_id), source text,
        billing_month text, code text not null, message text not null, hint text, at text not null) strict""",
    "create index problem_of_run on problem (run_id)",
    """create table published (
        path text primary key, build_id text not null, size integer not null, modified_ns integer not null,
        inode text not null) strict""",
    "create table welcome (route text primary key, told_at text not null, as_of text not null) strict",
    """create table alert_state (
        fingerprint text primary key, budget_id text not null, threshold text not null, period_start text not null,
        state text not null check (state in ('announced', 'included', 'baseline')),
        told_at text not null, as_of text not null) strict""",
    """create table outbox (
        id integer primary key, dedupe_key text not null unique, route text not null, channel text not null,
        kind text not null check (kind in ('welcome', 'budget')), payload text not null,
        status text not null check (status in ('pending', 'sending', 'sent', 'dead', 'kept')),
        attempts integer not null default 0, not_before text, last_error text, created_at text not null,
        expires_at text not null, sent_at text, is_resent integer not null default 0) strict""",
    "create index outbox_by_status on outbox (status)",
    """create table delivery_log (
        delivery_id integer primary key, outbox_id integer not null references outbox (id), at text not null,
        outcome text not null check (outcome in ('interrupted', 'sent', 'delayed', 'dead')), detail text) strict""",
)
_ENTERED_INVOICES = (
    """create table invoice (
        invoice_id text primary key, billing_month text not null, billing_account_id text not null,
        billing_currency text not null, amount text not null, entered_at text not null) strict""",
)
_INVOICE_CHECKS = (
    """create table invoice_check (
        check_id integer primary key, checked_at text not null, billing_month text not null, source text not null,
        load_id text not null, billing_account_id text not null, issuer text not null, invoice_id text,
        billing_currency text not null, invoice_lines integer not null, billed_cost text not null,
        invoiced_cost text not null, billed_tax text not null, invoiced_tax text, tolerance text not null,
        outcome text not null check (outcome in ('ties', 'rounding', 'differs', 'no invoice'))) strict""",
)
_CLOSED_MONTHS = (
    """create table closed_month (
        close_id integer primary key, billing_month text not null, closed_at text not null, closed_by text not null,
        as_of text not null, is_estimate integer not null, reopened_at text, reopened_by text) strict""",
    "create unique index closed_month_in_force on closed_month (billing_month) where reopened_at is null",
    """create table closed_load (
        close_id integer not null references closed_month (close_id), source text not null, load_id text not null,
        version text not null, status text not null, complete_through text, primary key (close_id, source)) strict""",
    """create table closed_figure (
        close_id integer not null references closed_month (close_id), figure_number integer not null,
        source text not null, kind text not null check (kind in ('actual', 'accrual')), provider text,
        billing_account_id text, invoice_id text, sub_account_id text, tag_set_id text, service_name text,
        service_category text, charge_category text, project text not null, team text not null, cost_centre text,
        billing_currency text not null, billed_cost text not null, effective_cost text not null,
        cost_before_credits text not null, list_cost text, charge_rows integer not null,
        primary key (close_id, figure_number)) strict""",
)
_SHARED_FIGURES = (
    "alter table closed_figure rename to earlier_closed_figure",
    """create table closed_figure (
        close_id integer not null references closed_month (close_id), figure_number integer not null,
        source text not null, kind text not null check (kind in ('actual', 'shared', 'accrual')), provider text,
        billing_account_id text, invoice_id text, sub_account_id text, tag_set_id text, service_name text,
        service_category text, charge_category text, project text not null, team text not null, cost_centre text,
        billing_currency text not null, billed_cost text not null, effective_cost text not null,
        cost_before_credits text not null, list_cost text, charge_rows integer not null,
        primary key (close_id, figure_number)) strict""",
    "insert into closed_figure select * from earlier_closed_figure",
    "drop table earlier_closed_figure",
)
"""What splits move is a kind of its own; SQLite changes no constraint of a table that is there."""
_CLOSED_SPLITS = ("alter table closed_month add column splits_version text not null default ''",)
_CLOSED_ACCOUNTS = ("alter table closed_figure add column gl_account text",)
_WASTE = (
    """create table waste_dismissal (
        dismissal_id integer primary key, finding_id text not null, dismissed_at text not null,
        dismissed_by text not null, until text not null, reason text not null) strict""",
    """create table waste_told (
        audience text not null, finding_id text not null, first_found text not null, told_at text not null,
        as_of text not null, primary key (audience, finding_id, first_found)) strict""",
    "create table waste_reminder (audience text primary key, as_of text not null) strict",
)
_MIGRATIONS: tuple[tuple[str, ...], ...] = (
    _FIRST_VERSION,
    _ENTERED_INVOICES,
    _INVOICE_CHECKS,
    _CLOSED_MONTHS,
    _SHARED_FIGURES,
    _CLOSED_SPLITS,
    _WASTE,
    _CLOSED_ACCOUNTS,
)
STATE_VERSION = len(_MIGRATIONS)
"""`user_version` of a file that this program reads and writes; each migration raises it by one."""


def read_foreign(path: Path, query: str) -> list[Row]:
    """Return rows of another program's SQLite file, opened for reading only; raises ValueError where it is none."""
    with waypoint("state", f"read {path.name}"):
        try:
            with closing(
                sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
            ) as other:
                return other.execute(query).fetchall()
        except sqlite3.Error as error:
            raise ValueError(f"{path.name} cannot be read: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a command; `finished_at` and `exit_code` are None while it runs, or for ever if it was killed."""

    run_id: str
    command: str
    as_of: date
    started_at: datetime
    finished_at: datetime | None
    exit_code: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What failed in a run and why."""

    source: str | None
    """None where it concerns no single source."""
    billing_month: date | None
    """First day of the month; None where it concerns none."""
    code: str
    """Name of the error's class, for programs."""
    message: str
    hint: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFile:
    """A published copy as it was left: while size, time and inode are the same, nobody has touched it."""

    path: Path
    build_id: str
    size: int
    modified_ns: int
    inode: int


def instant_text(instant: datetime) -> str:
    """Return `instant` as the store writes it, `2026-11-20T03:00:00Z`: sortable, to the second, UTC.

    Raises ValueError for a datetime without zone.
    """
    if instant.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def instant_from(text: str) -> datetime:
    """Return the instant that `instant_text` wrote."""
    return datetime.fromisoformat(text)


class StateStore:
    """An open `state.sqlite`. Use as a context manager."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open for writing; creates the file, or brings an older one up to date.

        Raises StateError where the file is no state store or was written by a newer Overrun.
        """
        store = cls(_connect(path, f"{path.absolute().as_uri()}?mode=rwc"), path)
        try:
            store.execute("pragma journal_mode = wal")
            store.execute("pragma synchronous = full")
            store.execute("pragma foreign_keys = on")
            store._migrate()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def open_read_only(cls, path: Path) -> Self:
        """Open for reading, which never waits for a writer; raises StateError where there is no file yet."""
        if not path.is_file():
            raise StateError(f"{path} does not exist yet", hint="run overrun nightly once")
        store = cls(_connect(path, f"{path.absolute().as_uri()}?mode=ro"), path)
        try:
            if store._version() < STATE_VERSION:
                raise StateError(f"{path} was written by an older Overrun", hint="run overrun nightly once")
        except BaseException:
            store.close()
            raise
        return store

    def __enter__(self) -> Self:
        """Return self."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection; SQLite folds its log into the file."""
        with waypoint("state", "close"), _sqlite_errors(self.path):
            self._connection.close()

    def execute(self, statement: str, parameters: Sequence[Value] = ()) -> int:
        """Run one statement with bound `parameters`; returns the number of rows that it changed."""
        with waypoint("state", statement[:80]), _sqlite_errors(self.path):
            return self._connection.execute(statement, parameters).rowcount

    def execute_many(self, statement: str, parameters: Iterable[Sequence[Value]]) -> None:
        """Run one statement for each of `parameters`; only within a transaction is that all of it, or nothing."""
        with waypoint("state", statement[:80]), _sqlite_errors(self.path):
            self._connection.executemany(statement, parameters)

    def rows(self, statement: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Return all rows of a query, or of a statement with `returning`."""
        with waypoint("state", statement[:80]), _sqlite_errors(self.path):
            return self._connection.execute(statement, parameters).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the `with` block in one transaction that holds the write lock from its start: all of it, or nothing."""
        self.execute("begin immediate")
        try:
            yield
            self.execute("commit")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.rollback()
            raise

    def start_run(self, run_id: str, command: str, as_of: date, *, now: datetime) -> None:
        """Record that a command began; `run_id` must be new."""
        self.execute(
            "insert into run (run_id, command, as_of, started_at) values (?, ?, ?, ?)",
            (run_id, command, as_of.isoformat(), instant_text(now)),
        )

    def finish_run(self, run_id: str, exit_code: int, *, now: datetime) -> None:
        """Record how a command ended."""
        self.execute(
            "update run set finished_at = ?, exit_code = ? where run_id = ?", (instant_text(now), exit_code, run_id)
        )

    def record_problem(self, run_id: str, problem: Problem) -> None:
        """Record what failed in a run that `start_run` has begun."""
        month = None if problem.billing_month is None else problem.billing_month.isoformat()
        self.execute(
            "insert into problem (run_id, source, billing_month, code, message, hint, at) values (?, ?, ?, ?, ?, ?, ?)",
            (run_id, problem.source, month, problem.code, problem.message, problem.hint, instant_text(problem.at)),
        )

    def last_runs(self, count: int) -> list[Run]:
        """Return the `count` latest runs, newest first."""
        found = self.rows(
            "select run_id, command, as_of, started_at, finished_at, exit_code from run"
            " order by started_at desc, rowid desc limit ?",
            (count,),
        )
        return [
            Run(
                run_id=run_id,
                command=command,
                as_of=date.fromisoformat(as_of),
                started_at=instant_from(started_at),
                finished_at=None if finished_at is None else instant_from(finished_at),
                exit_code=exit_code,
            )
            for run_id, command, as_of, started_at, finished_at, exit_code in found
        ]

    def problems(self, run_id: str) -> list[Problem]:
        """Return what failed in a run, in the order in which it happened."""
        found = self.rows(
            "select source, billing_month, code, message, hint, at from problem where run_id = ? order by problem_id",
            (run_id,),
        )
        return [
            Problem(
                source=source,
                billing_month=None if month is None else date.fromisoformat(month),
                code=code,
                message=message,
                hint=hint,
                at=instant_from(at),
            )
            for source, month, code, message, hint, at in found
        ]

    def record_published(self, file: PublishedFile) -> None:
        """Record the published copy at `file.path` in place of the one recorded before."""
        self.execute(
            "insert or replace into published (path, build_id, size, modified_ns, inode) values (?, ?, ?, ?, ?)",
            # An inode is unsigned and may not fit SQLite's integer.
            (str(file.path), file.build_id, file.size, file.modified_ns, str(file.inode)),
        )

    def published(self, path: Path) -> PublishedFile | None:
        """Return what was last published at `path`, or None."""
        found = self.rows("select build_id, size, modified_ns, inode from published where path = ?", (str(path),))
        if not found:
            return None
        build_id, size, modified_ns, inode = found[0]
        return PublishedFile(path=path, build_id=build_id, size=size, modified_ns=modified_ns, inode=int(inode))

    def _version(self) -> int:
        """Return the file's version; raises StateError where it is newer than this program."""
        version = int(self.rows("pragma user_version")[0][0])
        if version > STATE_VERSION:
            raise StateError(f"{self.path} was written by a newer Overrun", hint="install that version again")
        return version

    def _migrate(self) -> None:
        """Bring the tables up to date; a process that waits here for another finds the work done."""
        if self._version() == STATE_VERSION:
            return
        with self.transaction():
            for statements in _MIGRATIONS[self._version() :]:
                for statement in statements:
                    self.execute(statement)
            self.execute(f"pragma user_version = {STATE_VERSION}")


def _connect(path: Path, address: str) -> sqlite3.Connection:
    """Open a connection without Python's own implicit transactions."""
    with waypoint("state", f"open {path.name}"), _sqlite_errors(path):
        return sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


@contextmanager
def _sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into the errors of this layer, naming `path`."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        primary = None if code is None else code & 0xFF
        if primary == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE:
            raise DiskFull(
                f"the disk is full while writing {path}", hint="free some space and run again; nothing was changed"
            ) from error
        if primary in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
            raise DirectoryUnwritable(
                f"{path} cannot be opened ({error})", hint="check that its directory exists, its owner and its mode"
            ) from error
        if primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise StateError(
                f"{path} has been busy for {BUSY_SECONDS:.0f} seconds", hint="close the program that is writing to it"
            ) from error
        if primary == sqlite3.SQLITE_NOTADB:
            raise StateError(f"{path} is not a state store", hint="move that file away, or name another") from error
        raise StateError(f"{path}: {error}") from error
