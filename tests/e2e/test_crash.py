"""A kill at any waypoint: the next night finds everything as an undisturbed one would have left it.

The night that is killed has a month delivered for the third time (so that a landed version is pruned), a new month, a
second source, two published copies to replace, and a budget message for Slack and for a mail server.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from tests.fakes.crash import Edge, Forker, cover
from tests.fakes.nights import (
    AWS,
    BUDGET,
    EXCERPT,
    GCP,
    ROUTE_TO_BOTH,
    TEAMS,
    House,
    aws_lines,
    differences,
    gcp_rows,
    house,
    query,
    tables,
)
from tests.fakes.servers import MailServer, SlackServer

SHARES = 6
MORE_POINTS = 4
REAL_KILLS = 3
FIRST, SECOND, THIRD = "2026-10-24", "2026-10-25", "2026-11-20"

Servers = tuple[SlackServer, MailServer]

pytestmark = pytest.mark.e2e


@dataclass(slots=True)
class Company:
    """Three nights: two undisturbed ones, and the one that is killed."""

    empty: House
    """Before its first night."""
    calm: House
    """After two nights, with new deliveries for the third."""
    done: House
    """After the third."""
    first: list[Edge]
    third: list[Edge]
    after_first: dict[str, object]
    after_third: dict[str, object]


def outcome(place: House) -> dict[str, object]:
    """Return everything that must be as after an undisturbed night."""
    landed = (place.folder / "landing").rglob("*")
    return {
        "leftovers": place.leftovers(),
        "landing": sorted(str(path.relative_to(place.folder)) for path in landed),
        "published": tables(place.finance),
        "excerpt": tables(place.folder / "vision.duckdb"),
        **tables(place.warehouse),
        **place.told(),
    }


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory, forker: Forker, slack: SlackServer, mail: MailServer) -> Company:
    """Return the company, with what its undisturbed nights passed and left."""
    folder = tmp_path_factory.mktemp("company")
    empty = house(folder / "empty" / "house", forker, VISION_SLACK_URL=slack.url)
    everything = BUDGET.replace("vision-monthly", "everything").replace('scope = { team = ["vision"] }', "")
    empty.configure(EXCERPT, AWS, GCP, TEAMS, BUDGET, everything, ROUTE_TO_BOTH.format(port=mail.port))
    empty.deliver_aws("2026-09", *aws_lines("2026-09", "4", "5"))
    empty.deliver_aws("2026-10", *aws_lines("2026-10", "40", "5", day=2))

    calm = empty.moved(folder / "calm" / "house")
    first = calm.night(FIRST).edges
    after_first = outcome(calm)
    calm.deliver_aws("2026-10", *aws_lines("2026-10", "40", "5", "6", day=2), version="20261025T000000Z-e2")
    calm.night(SECOND)
    calm.deliver_aws("2026-10", *aws_lines("2026-10", "39", "5", "6", day=2), version="20261101T000000Z-e3")
    calm.deliver_aws("2026-11", *aws_lines("2026-11", "70", "11", day=4))
    calm.deliver_gcp("november.ndjson.gz", *gcp_rows("2026-11", "7", "2"))

    undisturbed = calm.moved(folder / "undisturbed" / "house")
    third = undisturbed.night(THIRD).edges
    after_third = outcome(undisturbed)
    return Company(empty, calm, undisturbed, first, third, after_first, after_third)


@pytest.fixture
def servers(slack: SlackServer, mail: MailServer) -> Servers:
    """Return what takes messages, with none in it."""
    forget(slack, mail)
    return slack, mail


def forget(slack: SlackServer, mail: MailServer) -> None:
    """Forget the messages that came."""
    slack.bodies.clear()
    mail.mails.clear()


def check_messages(point: str, edges: list[Edge], number: int, place: House, texts: dict[str, list[str]]) -> None:
    """See that each channel got its message once; or once more, marked, where the kill fell between send and mark."""
    for channel, received in texts.items():
        sent = next(n for n, edge in enumerate(edges) if edge.kind == "send" and channel in edge.detail)
        claimed = max(n for n in range(sent) if edges[n].detail.startswith("update outbox set status = 'sending'"))
        marked = next(n for n in range(sent, len(edges)) if str(edges[n]) == "after state commit")
        is_sent = sent < number < marked
        assert len(received) == (2 if is_sent else 1), (point, channel, received)
        is_marked = claimed <= number < marked
        marks = [text.startswith("(resent)") for text in received]
        assert marks == ([False] if not is_marked else [False, True] if is_sent else [True]), (point, channel, received)
        assert (channel in place.resent()) == is_marked, (point, channel)


@dataclass(frozen=True, slots=True)
class Left:
    """What kills at some edges leave behind, which is the same for each of them."""

    numbers: list[int]
    folder: Path
    """What is on the disk."""
    texts: dict[str, list[str]]
    """What each channel has received until then."""


def messages(slack: SlackServer, mail: MailServer) -> dict[str, list[str]]:
    """Return the texts that each channel has."""
    return {"vision-slack": slack.texts, "vision-mail": mail.subjects}


def stop(place: House, edges: list[Edge], numbers: Sequence[int], *arguments: str, servers: Servers) -> list[Left]:
    """Run one command line with stops, and keep what a kill at each of these edges would leave.

    A stopped run has done as much as a killed one and no more; but it goes on, so that one run stands for many kills.
    Most edges change nothing outside memory: what they leave is kept once.
    """
    left: dict[object, Left] = {}
    for number, ran in place.stops(*arguments, numbers=numbers):
        assert ways(ran.edges) == ways(edges[: number + 1]), f"stopped {number}: {edges[number]}"
        texts = messages(*servers)
        key = (place.digest(), str(texts))
        if key not in left:
            left[key] = Left([], place.folder.with_name(str(number)), texts)
            place.keep(left[key].folder)
        left[key].numbers.append(number)
    return list(left.values())


def named(edges: list[Edge], left: Left) -> str:
    """Return the edges at which what is left is the same."""
    return "; ".join(f"killed {number}: {edges[number]}" for number in left.numbers)


def check_night(company: Company, place: House, left: Left, servers: Servers) -> None:
    """See that the night after kills has ended as an undisturbed one, and that each channel has its message."""
    assert differences(outcome(place), company.after_third) == [], named(company.third, left)
    texts = {channel: left.texts[channel] + more for channel, more in messages(*servers).items()}
    for number in left.numbers:
        check_messages(f"killed {number}: {company.third[number]}", company.third, number, place, texts)


def ways(edges: list[Edge]) -> list[tuple[str, str]]:
    """Return edges without names of folders, which differ from place to place."""
    return [(edge.side, edge.family) for edge in edges]


def points_of(edges: list[Edge]) -> list[int]:
    """Return the edges at which nights are killed: every class before and after, and some more by lot."""
    chosen = set(cover(edges))
    rest = [number for number in range(len(edges)) if number not in chosen]
    return sorted([*chosen, *Random(20).sample(rest, MORE_POINTS)])  # noqa: S311 - a choice that repeats


def test_every_class_of_operation_is_met(company: Company) -> None:
    assert {name.split(".")[0] for name in company.after_third} >= {"focus", "core", "marts", "analysis"}
    families = {edge.family for edge in (*company.first, *company.third)}
    for wanted in (
        "sql open warehouse.duckdb", "sql close", "sql begin transaction", "sql commit", "sql checkpoint", "sql read",
        "sql create table parts.<charges>", "sql create table parts.<tags>",
        "sql alter table if exists parts.<charges>",
        "sql create or replace view focus.cost_and_usage", "sql create or replace view core.tag_set",
        "sql create or replace view core.split_cost",
        "sql create or replace table months.<month>", "sql create or replace view <model>",
        "sql create or replace table <model>", "sql comment on view", "sql rows of ops.load",
        "sql rows of ops.load_<table>", "sql rows of ops.fingerprint",
        "sql rows of settings.<table>", "sql rows of analysis.budget_state", "sql update ops.load",
        "state open state.sqlite", "state begin immediate", "state commit", "state insert into run",
        "state insert into outbox", "state insert into alert_state", "state insert into welcome", "state update outbox",
        "state insert or replace into published", "state update run", "state close",
        "file mkdir version", "file copy delivered file", "file fsync delivered file", "file write delivery.json",
        "file rename delivery.json", "file fsync unfinished version", "file rename version", "file rmtree version",
        "file copy finance.duckdb", "file fsync finance.duckdb", "file chmod finance.duckdb",
        "file unlink finance.duckdb", "file rename finance.duckdb",
        "send slack vision-slack", "send email vision-mail",
    ):  # fmt: skip
        assert wanted in families, wanted
    assert len(points_of(company.third)) >= 50


@pytest.mark.parametrize("share", range(SHARES))
def test_a_killed_night_heals(company: Company, servers: Servers, tmp_path: Path, share: int) -> None:
    points = points_of(company.third)
    first, last = (len(points) * number // SHARES for number in (share, share + 1))
    place = company.calm.moved(tmp_path / "house")
    kept = stop(place, company.third, points[first:last], "nightly", "--as-of", THIRD, servers=servers)
    assert differences(outcome(place), company.after_third) == [], "stops are no part of the night"
    for left in kept:
        forget(*servers)
        place.put_back(left.folder)
        place.night(THIRD)
        check_night(company, place, left, servers)


def test_a_night_that_is_killed_and_not_stopped_heals(company: Company, servers: Servers, tmp_path: Path) -> None:
    for number in Random(7).sample(points_of(company.third), REAL_KILLS):  # noqa: S311 - a choice that repeats
        forget(*servers)
        place = company.calm.moved(tmp_path / "house")
        ran = place.killed("nightly", "--as-of", THIRD, at=number)
        assert ways(ran.edges) == ways(company.third[: number + 1]), f"killed {number}: {company.third[number]}"
        place.night(THIRD)
        nothing: dict[str, list[str]] = {channel: [] for channel in messages(*servers)}
        check_night(company, place, Left([number], place.folder, nothing), servers)
        shutil.rmtree(place.folder)


def test_a_killed_first_night_heals(company: Company, servers: Servers, tmp_path: Path) -> None:
    known = {(edge.family, edge.side) for edge in company.third}
    only_first = {(edge.family, edge.side) for edge in company.first} - known
    points = cover(company.first, only_first)
    place = company.empty.moved(tmp_path / "house")
    for left in stop(place, company.first, points, "nightly", "--as-of", FIRST, servers=servers):
        place.put_back(left.folder)
        place.night(FIRST)
        assert differences(outcome(place), company.after_first) == [], named(company.first, left)


def numbered(edges: list[Edge], *starts: str) -> list[int]:
    """Return the numbers of the edges whose text begins in one of these ways."""
    return [number for number, edge in enumerate(edges) if str(edge).startswith(starts)]


def test_months_loaded_before_a_kill_are_built_by_the_next_night(company: Company, tmp_path: Path) -> None:
    place = company.calm.moved(tmp_path / "house")
    place.killed("nightly", "--as-of", THIRD, at="before sql delete from settings")
    months = "select distinct strftime({}, '%Y-%m') from {} order by 1"
    assert ("2026-11",) in query(place.warehouse, months.format('"x_BillingMonth"', "focus.cost_and_usage"))
    assert ("2026-11",) not in query(place.warehouse, months.format("billing_month", "marts.monthly_cost"))
    report = json.loads(place.night(THIRD, "--json").stdout)
    assert (report["loaded"], report["unchanged"]) == ([], 4)
    assert report["built"] > 0
    assert differences(outcome(place), company.after_third) == []


def test_a_killed_rebuild_leaves_the_old_warehouse(company: Company, servers: Servers, tmp_path: Path) -> None:
    before = tables(company.done.warehouse)
    edges = company.done.moved(tmp_path / "undisturbed" / "house").run("rebuild", "--as-of", THIRD).edges
    in_place = numbered(edges, "before file rename .warehouse.duckdb.overrun-tmp")[0]
    made = edges[: in_place + 1]
    points = [
        *(numbered(made, start)[0] for start in ("after sql attach", "before sql commit")),
        *(numbered(made, start)[-1] for start in ("after sql commit", "after sql close", "before file rename")),
        in_place + 1,
    ]
    place = company.done.moved(tmp_path / "house")
    for left in stop(place, edges, sorted(points), "rebuild", "--as-of", THIRD, servers=servers):
        place.put_back(left.folder)
        if left.numbers[0] <= in_place:
            assert differences(tables(place.warehouse), before) == [], named(edges, left)
        place.night(THIRD)
        assert differences(outcome(place), company.after_third) == [], named(edges, left)


def test_a_killed_rename_is_finished_by_the_next_night(company: Company, servers: Servers, tmp_path: Path) -> None:
    place = company.done.moved(tmp_path / "house")
    file = place.folder / "overrun.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('name = "aws"', 'name = "acme"\nwas = "aws"'), encoding="utf-8")
    undisturbed = place.moved(tmp_path / "undisturbed" / "house")
    edges = undisturbed.night(THIRD).edges
    wanted = outcome(undisturbed)
    sources = query(undisturbed.warehouse, 'select distinct "x_Source" from focus.cost_and_usage order by 1')
    assert sources == [("acme",), ("gcp",)]
    first, last = numbered(edges, "before sql alter table")[0], numbered(edges, "after file rmtree aws")[0]
    points = [
        first,
        *(first + numbered(edges[first:], start)[0] for start in ("after sql alter table", "before sql commit")),
        *(first + numbered(edges[first:], start)[0] for start in ("after sql commit", "after sql checkpoint")),
        *(first + number for number in numbered(edges[first:last], "after file rename")[:2]),
        last,
    ]
    for left in stop(place, edges, sorted(points), "nightly", "--as-of", THIRD, servers=servers):
        place.put_back(left.folder)
        place.night(THIRD)
        assert differences(outcome(place), wanted) == [], named(edges, left)


def test_what_a_killed_run_could_not_keep_in_memory_is_removed(company: Company, tmp_path: Path) -> None:
    place = company.done.moved(tmp_path / "house")
    for name in ("warehouse.duckdb.tmp", ".warehouse.duckdb.overrun-tmp.tmp"):
        (place.folder / name).mkdir()
        (place.folder / name / "duckdb_temp_storage_DEFAULT-0.tmp").write_bytes(b"spilt")
    place.night(THIRD)
    assert differences(outcome(place), company.after_third) == []
