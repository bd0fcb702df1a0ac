"""One run at a time, and no program but Overrun in the warehouse: exit code 75 at once, naming who is there."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.fakes.nights import AWS, BUDGET, TEAMS, House, aws_lines, differences, tables

pytestmark = pytest.mark.e2e

AS_OF = "2026-11-20"
SHELL = """\
import sys
import duckdb
with duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reading"):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def place(home: House) -> House:
    """Return a house with something to load."""
    home.configure(AWS, TEAMS, BUDGET)
    home.deliver_aws("2026-11", *aws_lines("2026-11", "40", "5", day=2))
    return home


@pytest.mark.parametrize("moment", ["after sql create table parts", "after file copy warehouse.duckdb"])
def test_a_second_night_ends_at_once_and_names_the_first(place: House, moment: str) -> None:
    first = place.stopped("nightly", "--as-of", AS_OF, at=(moment,))
    second = place.night(AS_OF, code=75)
    assert f"error: another run is under way (process {first.pid}, lock " in second.stderr
    assert "hint: wait until it has ended" in second.stderr
    assert "Traceback" not in second.stderr
    told = json.loads(place.night(AS_OF, "--json", code=75).stdout)
    assert told["code"] == 75
    while first.code is None:
        first = place.forker.resume(first)
    assert first.code == 0
    place.night(AS_OF)
    assert tables(place.finance)['focus."cost_and_usage"'][0] == 2


def test_every_command_that_writes_takes_the_lock(place: House) -> None:
    first = place.stopped("nightly", "--as-of", AS_OF, at=("after sql open warehouse.duckdb",))
    commands = ("ingest", "build", "publish", "alert", "rebuild")
    codes = {command: place.run(command, "--as-of", AS_OF).code for command in commands}
    assert codes == dict.fromkeys(commands, 75)
    while first.code is None:
        first = place.forker.resume(first)
    assert first.code == 0


@pytest.mark.parametrize("way", ["writing", "reading"])
def test_a_shell_on_the_warehouse_ends_the_night_and_is_named(place: House, way: str) -> None:
    place.night(AS_OF)
    before = tables(place.finance)
    place.deliver_aws("2026-10", *aws_lines("2026-10", "3", day=2))
    command = [sys.executable, "-c", SHELL, str(place.warehouse), way]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        assert shell.stdout.readline() == "open\n"
        ran = place.night(AS_OF, code=75)
        assert f"{place.warehouse} is open in process {shell.pid}" in ran.stderr
        assert "hint: close that program" in ran.stderr
        assert "Traceback" not in ran.stderr
        assert differences(tables(place.finance), before) == []
        shell.communicate()
    place.night(AS_OF)
    assert tables(place.finance)['focus."cost_and_usage"'][0] == 3


def test_the_lock_of_a_dead_run_is_no_obstacle(place: House) -> None:
    dead = place.killed("nightly", "--as-of", AS_OF, at="after sql create table parts")
    lock = place.folder / "warehouse.duckdb.lock"
    assert lock.read_text(encoding="ascii") == f"{dead.pid}\n"
    assert place.night(AS_OF).stderr == ""


def test_a_lock_file_is_never_judged_by_what_is_in_it(place: House) -> None:
    lock = place.folder / "warehouse.duckdb.lock"
    lock.write_text("1\n", encoding="ascii")
    assert place.night(AS_OF).stderr == ""
