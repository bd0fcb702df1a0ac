"""A disk that fills up, and directories that cannot be written: one clear error, the last good data untouched."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from sql.warehouse import Row
from tests.fakes.crash import Forker, Ran
from tests.fakes.nights import AWS, BUDGET, TEAMS, House, aws_lines, differences, house, tables

pytestmark = pytest.mark.e2e

FIRST, SECOND = "2026-10-24", "2026-11-20"
PHASES = {
    "landing": ("before file copy ml-cur2", "after file copy ml-cur2"),
    "loading": ("before sql create table parts", "after sql commit"),
    "building": ("before sql delete from settings", "before file copy warehouse"),
    "publishing": ("before file copy warehouse", "after file copy warehouse"),
}
"""Where each begins and ends: the disk is full in between."""


@contextmanager
def small_disk(root: Path) -> Iterator[Path]:
    """Mount a small file system of its own at `root`, or skip."""
    root.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", str(root)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"a small file system needs root and mount ({made.stderr.strip()})")
    try:
        yield root
    finally:
        subprocess.run(["umount", str(root)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Return the root of a small file system of its own, or skip."""
    with small_disk(tmp_path / "disk") as root:
        yield root


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


@pytest.fixture(scope="module")
def rooms(prepared: House, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Return the room with which a night gets half through each phase, measured on a night that has enough."""
    folder = tmp_path_factory.mktemp("measured")
    used: list[tuple[str, int]] = []
    with small_disk(folder / "disk") as disk:
        whole = on_disk(prepared, disk, folder / "output")
        before = free_bytes(disk)
        run = whole.stopped("nightly", "--as-of", SECOND, at=tuple(edge for ends in PHASES.values() for edge in ends))
        while run.code is None:
            used.append((str(run.edges[-1]), before - free_bytes(disk)))
            run = whole.forker.resume(run)
        assert run.code == 0
    return {phase: half_way(used, *ends) for phase, ends in PHASES.items()}


def half_way(used: Sequence[tuple[str, int]], start: str, end: str) -> int:
    """Return what is used half way between the first edge like `start` and the next one like `end`."""
    first = next(number for number, (edge, _) in enumerate(used) if edge.startswith(start))
    until = next(size for edge, size in used[first:] if edge.startswith(end))
    return (used[first][1] + until) // 2


@pytest.fixture(scope="module")
def undisturbed(prepared: House, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Row]]:
    """Return what the next night leaves when it has room."""
    place = prepared.moved(tmp_path_factory.mktemp("undisturbed") / "house")
    place.night(SECOND)
    return {"finance": tables(place.finance), "warehouse": tables(place.warehouse)}


def assert_clear(ran: Ran, code: int, clause: str) -> None:
    """See that a run ended with one clear error."""
    assert ran.code == code, ran.stderr
    assert ran.stderr.count("error: ") == 1, ran.stderr
    assert "\nhint: " in ran.stderr
    assert clause in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("phase", PHASES)
def test_a_full_disk_leaves_the_last_good_data(
    disk: Path,
    prepared: House,
    rooms: dict[str, int],
    undisturbed: dict[str, dict[str, Row]],
    tmp_path: Path,
    phase: str,
) -> None:
    place = on_disk(prepared, disk, tmp_path / "output")
    before = tables(place.finance)
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(free_bytes(disk) - rooms[phase]))
    clause = "are free" if phase == "publishing" else "the disk is full"
    assert_clear(place.run("nightly", "--as-of", SECOND), 4, clause)
    assert differences(tables(place.finance), before) == []

    ballast.unlink()
    place.night(SECOND)
    assert differences(tables(place.finance), undisturbed["finance"]) == []
    assert differences(tables(place.warehouse), undisturbed["warehouse"]) == []
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
