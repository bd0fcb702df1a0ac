"""A disk that fills up, and directories that cannot be written: one clear error, the last good data untouched."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.fakes.crash import Forker, Ran
from tests.fakes.nights import AWS, BUDGET, TEAMS, House, aws_lines, differences, house, tables

pytestmark = pytest.mark.e2e

FIRST, SECOND = "2026-10-24", "2026-11-20"
PHASES = {
    "landing": ("before file copy ml-cur2", "after file copy ml-cur2"),
    "loading": ("before sql create or replace table parts", "after sql commit"),
    "building": ("before sql delete from settings", "before file copy warehouse"),
    "publishing": ("before file copy warehouse", "after file copy warehouse"),
}
"""Where each begins and ends: the disk is full in between."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Return the root of a small file system of its own, or skip."""
    root = tmp_path / "disk"
    root.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(root)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"a small file system needs root and mount ({made.stderr.strip()})")
    yield root
    subprocess.run(["umount", str(root)], check=True)


def free_bytes(root: Path) -> int:
    """Return the room that is left."""
    stat = os.statvfs(root)
    return stat.f_bavail * stat.f_frsize


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> House:
    """Return a house after its first night, whose next night brings a month of 3000 resources."""
    place = house(tmp_path_factory.mktemp("disk") / "house", forker)
    place.configure(AWS, TEAMS, BUDGET)
    place.deliver_aws("2026-09", *aws_lines("2026-09", "4", "5"))
    place.night(FIRST)
    some = Random(7)  # noqa: S311 - ids that repeat
    lines = [line for day in range(1, 29) for line in aws_lines("2026-10", *["1"] * 23, day=day)]
    named = [line | {"line_item_resource_id": f"i-{some.random()}"} for line in lines * 5]
    place.deliver_aws("2026-10", *named)
    return place


def on_disk(place: House, disk: Path, output: Path) -> House:
    """Return a copy of a house on the small disk; what runs print goes elsewhere."""
    moved = place.moved(disk / "house")
    moved.output = output
    return moved


def room_needed(place: House, disk: Path, output: Path, phase: str) -> int:
    """Return the room with which a night gets half through a phase, measured on a night that has enough."""
    start, end = PHASES[phase]
    whole = on_disk(place, disk, output)
    before = free_bytes(disk)
    used: list[tuple[str, int]] = []
    run = whole.stopped("nightly", "--as-of", SECOND, at=(start, end))
    while run.code is None:
        used.append((str(run.edges[-1]), before - free_bytes(disk)))
        run = whole.forker.resume(run)
    first = next(number for number, (edge, _) in enumerate(used) if edge.startswith(start))
    until = next(size for edge, size in used[first:] if edge.startswith(end))
    subprocess.run(["rm", "-rf", str(whole.folder)], check=True)
    return (used[first][1] + until) // 2


def assert_clear(ran: Ran, code: int, clause: str) -> None:
    """See that a run ended with one clear error."""
    assert ran.code == code, ran.stderr
    assert ran.stderr.count("error: ") == 1, ran.stderr
    assert "\nhint: " in ran.stderr
    assert clause in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("phase", PHASES)
def test_a_full_disk_leaves_the_last_good_data(disk: Path, prepared: House, tmp_path: Path, phase: str) -> None:
    room = room_needed(prepared, disk, tmp_path / "measured", phase)
    place = on_disk(prepared, disk, tmp_path / "output")
    before = tables(place.finance)
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(free_bytes(disk) - room))
    clause = "are free" if phase == "publishing" else "the disk is full"
    assert_clear(place.run("nightly", "--as-of", SECOND), 4, clause)
    assert differences(tables(place.finance), before) == []

    ballast.unlink()
    place.night(SECOND)
    undisturbed = prepared.moved(tmp_path / "undisturbed")
    undisturbed.night(SECOND)
    assert differences(tables(place.finance), tables(undisturbed.finance)) == []
    assert differences(tables(place.warehouse), tables(undisturbed.warehouse)) == []
    assert place.leftovers() == []


def test_a_disk_without_any_room_is_one_clear_error(disk: Path, prepared: House, tmp_path: Path) -> None:
    place = on_disk(prepared, disk, tmp_path / "output")
    before = tables(place.finance)
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(free_bytes(disk)))
    assert_clear(place.run("nightly", "--as-of", SECOND), 4, "the disk is full")
    assert differences(tables(place.finance), before) == []
    ballast.unlink()
    place.night(SECOND)
    assert place.leftovers() == []


def test_a_read_only_file_system_cannot_be_written(disk: Path, prepared: House, tmp_path: Path) -> None:
    place = on_disk(prepared, disk, tmp_path / "output")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    assert_clear(place.run("nightly", "--as-of", SECOND), 2, str(place.folder))


@pytest.mark.parametrize("closed", [".", "landing/aws"])
def test_a_directory_with_the_wrong_mode_cannot_be_written(prepared: House, tmp_path: Path, closed: str) -> None:
    place = prepared.moved(tmp_path / "house")
    before = tables(place.finance)
    (place.folder / closed).chmod(0o555)
    ran = place.run("nightly", "--as-of", SECOND, order={"is_ordinary": True})
    (place.folder / closed).chmod(0o755)
    assert_clear(ran, 2, str(place.folder))
    assert differences(tables(place.finance), before) == []
    place.night(SECOND)
