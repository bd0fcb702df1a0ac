"""People who have `finance.duckdb` open before, during and after a night: the whole old state or the whole new one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest

from tests.fakes.crash import Forker
from tests.fakes.nights import AWS, BUDGET, EXCERPT, GCP, TEAMS, House, aws_lines, gcp_rows, house, query, tables

pytestmark = pytest.mark.e2e

OLD_NIGHT, NEW_NIGHT = "2026-10-24", "2026-11-20"
CONTROL = (
    'select (select cast(sum("BilledCost") as varchar) from focus.cost_and_usage),'
    " (select cast(sum(billed_cost) as varchar) from marts.monthly_cost),"
    " (select cast(sum(billed_cost) as varchar) from marts.resource_daily_cost)"
)
PROGRAM = """\
import json, sys
import duckdb
path, control = sys.argv[1:]
connection = None
for line in sys.stdin:
    word, answer = line.strip(), None
    if word == "open":
        connection = duckdb.connect(path, read_only=True)
    elif word == "open for writing":
        connection = duckdb.connect(path)
        connection.execute("set wal_autocheckpoint = '1TB'")
    elif word == "read":
        answer = connection.execute(control).fetchone()
    elif word == "write":
        connection.execute("create table scribble as select range as i from range(1000)")
    elif word == "checkpoint":
        connection.execute("checkpoint")
    elif word == "close":
        connection.close()
    print(json.dumps(answer), flush=True)
"""
LOOP = """\
import json, sys, threading
import duckdb
path, control = sys.argv[1:]
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set())).start()
while not ended.is_set():
    with duckdb.connect(path, read_only=True) as connection:
        print(json.dumps(connection.execute(control).fetchone()), flush=True)
"""


@dataclass(slots=True)
class Person:
    """A colleague's program that has DuckDB and the published copy."""

    path: Path
    process: subprocess.Popen[str]

    @classmethod
    def at(cls, path: Path, program: str = PROGRAM) -> Self:
        """Start the program."""
        command = [sys.executable, "-c", program, str(path), CONTROL]
        return cls(path, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))

    def __enter__(self) -> Self:
        """Return self."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the program."""
        self.process.communicate()

    def does(self, *words: str) -> object:
        """Let the program do these things, and return the answer to the last."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        answer = None
        for word in words:
            self.process.stdin.write(f"{word}\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
        return answer

    def next_line(self) -> object:
        """Return what the program says next."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def dies(self) -> None:
        """Kill the program."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def reading(path: Path) -> list[str]:
    """Return what a new reader, in its own process, reads."""
    with Person.at(path) as person:
        answer = person.does("open", "read")
    assert isinstance(answer, list)
    return answer


def log_of(place: House) -> Path:
    """Return where DuckDB puts the log of the published copy."""
    return place.finance.with_name("finance.duckdb.wal")


@dataclass(frozen=True, slots=True)
class Nights:
    """A house after its first night whose next night has something new, and what each state reads as."""

    first: House
    old: list[str]
    new: list[str]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Nights:
    """Return the two states of a house."""
    folder = tmp_path_factory.mktemp("readers")
    first = house(folder / "first", forker)
    first.configure(AWS, GCP, TEAMS, BUDGET)
    first.deliver_aws("2026-10", *aws_lines("2026-10", "40", "5", day=2))
    first.night(OLD_NIGHT)
    first.deliver_aws("2026-10", *aws_lines("2026-10", "30", "5", day=2), version="20261101T000000Z-e2")
    first.deliver_gcp("november.ndjson.gz", *gcp_rows("2026-11", "7", "2"))
    second = first.moved(folder / "second")
    second.night(NEW_NIGHT)
    old, new = reading(first.finance), reading(second.finance)
    assert old == ["45.000000000000"] * 3
    assert new == ["44.000000000000"] * 3
    return Nights(first, old, new)


@pytest.fixture
def place(prepared: Nights, tmp_path: Path) -> Iterator[House]:
    """Return a house of one's own; its published copy is recorded as that of this place."""
    own = prepared.first.moved(tmp_path / "house")
    yield own
    assert not log_of(own).exists()


def test_every_moment_of_a_publication_shows_a_whole_state(place: House, prepared: Nights) -> None:
    moments = tuple(
        f"{side} file {operation}"
        for operation in ("copy warehouse", "fsync .finance", "chmod .finance", "rename .finance")
        for side in ("before", "after")
    )
    run = place.stopped("nightly", "--as-of", NEW_NIGHT, at=moments)
    seen = []
    while run.code is None:
        seen.append((str(run.edges[-1]).split(" -> ")[0], reading(place.finance)))
        run = place.forker.resume(run)
    assert run.code == 0
    assert len(seen) == len(moments)
    is_renamed = [moment == "after file rename .finance.duckdb.overrun-tmp" for moment, _ in seen]
    assert [state for _, state in seen] == [prepared.new if renamed else prepared.old for renamed in is_renamed]
    assert reading(place.finance) == prepared.new


def test_readers_that_come_and_go_all_night_see_whole_states_in_order(place: House, prepared: Nights) -> None:
    with Person.at(place.finance, LOOP) as first, Person.at(place.finance, LOOP) as second:
        assert first.next_line() == second.next_line() == prepared.old
        place.night(NEW_NIGHT)
        for _ in range(5):
            assert place.run("publish", "--force", "--as-of", NEW_NIGHT).code == 0
        printed = [person.process.communicate()[0] for person in (first, second)]
        readings = [[json.loads(line) for line in lines.splitlines()] for lines in printed]
        assert (first.process.returncode, second.process.returncode) == (0, 0)
    for states in readings:
        olds = states.count(prepared.old)
        assert states == [prepared.old] * olds + [prepared.new] * (len(states) - olds)
    assert reading(place.finance) == prepared.new


def test_a_long_reader_keeps_its_state_until_it_opens_the_file_again(place: House, prepared: Nights) -> None:
    with Person.at(place.finance) as person:
        assert person.does("open", "read") == prepared.old
        place.night(NEW_NIGHT)
        assert person.does("read") == prepared.old
        assert person.does("close", "open", "read") == prepared.new


def leave_a_log(copy: Path) -> None:
    """Open a published copy for writing, write, and die."""
    copy.chmod(0o644)
    with Person.at(copy) as person:
        person.does("open for writing", "write")
        person.dies()
    copy.chmod(0o444)
    assert copy.with_name(f"{copy.name}.wal").stat().st_size > 0


def test_a_log_that_a_killed_writer_left_does_not_spoil_the_next_copy(place: House, prepared: Nights) -> None:
    leave_a_log(place.finance)
    place.night(NEW_NIGHT)
    assert not log_of(place).exists()
    assert reading(place.finance) == prepared.new
    assert query(place.finance, "select count(*) from duckdb_tables() where table_name = 'scribble'") == [(0,)]


def test_a_log_that_a_killed_writer_left_is_removed_where_nothing_is_new(place: House, prepared: Nights) -> None:
    place.night(NEW_NIGHT)
    inode = place.finance.stat().st_ino
    leave_a_log(place.finance)
    place.night(NEW_NIGHT)
    assert not log_of(place).exists()
    assert place.finance.stat().st_ino == inode
    assert reading(place.finance) == prepared.new
    assert tables(place.finance) == tables(place.warehouse)


def test_a_log_beside_the_copy_for_a_team_is_removed_where_nothing_is_new(place: House) -> None:
    place.configure(EXCERPT, AWS, GCP, TEAMS, BUDGET)
    place.night(NEW_NIGHT)
    copy = place.folder / "vision.duckdb"
    held = tables(copy)
    leave_a_log(copy)
    place.night(NEW_NIGHT)
    assert place.leftovers() == []
    assert tables(copy) == held


def test_a_copy_that_somebody_changed_is_replaced_where_nothing_is_new(place: House, prepared: Nights) -> None:
    place.night(NEW_NIGHT)
    place.finance.chmod(0o644)
    with Person.at(place.finance) as person:
        person.does("open for writing", "write", "checkpoint", "close")
    place.night(NEW_NIGHT)
    assert tables(place.finance) == tables(place.warehouse)
    assert place.finance.stat().st_mode & 0o777 == 0o444
    assert query(place.finance, "select count(*) from duckdb_tables() where table_name = 'scribble'") == [(0,)]
    assert reading(place.finance) == prepared.new


@pytest.mark.parametrize("has_written", [False, True], ids=["idle", "with-a-log"])
@pytest.mark.parametrize("is_new", [True, False], ids=["news", "nothing-new"])
def test_a_writer_that_stays_is_named_and_locks_nobody_out(
    place: House, prepared: Nights, has_written: bool, is_new: bool
) -> None:
    if not is_new:
        place.night(NEW_NIGHT)
    place.finance.chmod(0o644)
    with Person.at(place.finance) as person:
        person.does("open for writing", *(["write"] if has_written else []))
        ran = place.night(NEW_NIGHT)
        (warning,) = [json.loads(line) for line in ran.stderr.splitlines()]
        assert warning["level"] == "warning"
        assert warning["event"] == "published_copy_open_for_writing"
        assert warning["pid"] == person.process.pid
        assert reading(place.finance) == prepared.new
        person.does("close")
    assert reading(place.finance) == prepared.new
    assert place.night(NEW_NIGHT).stderr == ""
    assert tables(place.finance) == tables(place.warehouse)
