"""Which landed versions are kept: every one of a month that moves, the one in force of a month that is settled."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.landing import count_landed, prune
from ingest.rebuild import rebuild
from ingest.retention import KeepLanded
from sql.warehouse import Warehouse, WarehouseSettings
from tests.fakes.exports import Row, cur_line, deliver_legacy
from tests.ingest.night import Night, source

FINAL = {"bill_invoice_id": "INV-1", "bill_invoicing_entity": "AWS"}


def deliver(night: Night, bucket: Path, when: str, lines: list[Row], month: str = "2026-10") -> str:
    """Deliver a month, load it at `when` and return the version."""
    night.now = datetime.fromisoformat(when).replace(tzinfo=UTC)
    deliver_legacy(bucket, month, [lines], assembly=f"{night.now:%Y%m%dT%H%M%SZ}")
    return night.load(source(bucket)).loaded[-1].delivery.version


def deliver_often(night: Night, bucket: Path, *costs: str, month: str = "2026-10") -> list[str]:
    """Deliver a month that is not invoiced, night after night from its 20th; return the versions."""
    versions = []
    for day, cost in enumerate(costs, start=20):
        lines = [cur_line(cost=cost, month=month, start=f"{month}-01T00:00:00Z")]
        versions.append(deliver(night, bucket, f"{month}-{day:02}T03:00:00", lines, month))
    return versions


def landed(night: Night, month: str = "2026-10") -> set[str]:
    """Return the versions that stand in a month's folder."""
    return {path.name for path in (night.landing / "main" / month).iterdir() if path.is_dir()}


def idle_night(night: Night, bucket: Path, when: str) -> None:
    """Let a night pass in which nothing changed."""
    night.now = datetime.fromisoformat(when).replace(tzinfo=UTC)
    assert not night.load(source(bucket)).loaded


def test_every_version_of_a_month_is_kept_until_it_is_final(night: Night, bucket: Path) -> None:
    versions = deliver_often(night, bucket, "1", "2", "3")
    versions.append(deliver(night, bucket, "2026-11-03T03:00:00", [cur_line(cost="4")]))
    assert landed(night) == set(versions)
    final = deliver(night, bucket, "2026-11-06T03:00:00", [cur_line(cost="4", **FINAL)])
    assert landed(night) == {final}


def test_a_month_whose_rows_are_all_invoiced_is_kept_whole_before_its_end(night: Night, bucket: Path) -> None:
    first = deliver(night, bucket, "2026-10-30T03:00:00", [cur_line(cost="1", **FINAL)])
    second = deliver(night, bucket, "2026-10-31T23:59:59", [cur_line(cost="2", **FINAL)])
    assert landed(night) == {first, second}
    idle_night(night, bucket, "2026-11-01T00:00:00")
    assert landed(night) == {second}


def test_a_restated_month_is_kept_until_it_is_final_again(night: Night, bucket: Path) -> None:
    final = deliver(night, bucket, "2026-11-06T03:00:00", [cur_line(cost="4", **FINAL)])
    restated = deliver(night, bucket, "2026-11-07T03:00:00", [cur_line(cost="4", **FINAL), cur_line(cost="1")])
    assert landed(night) == {final, restated}
    again = deliver(night, bucket, "2026-11-08T03:00:00", [cur_line(cost="5", **FINAL)])
    assert landed(night) == {again}


@pytest.mark.parametrize(("when", "kept"), [("2026-12-31T00:00:00", 3), ("2026-12-31T00:00:01", 1)])
def test_a_month_that_is_never_invoiced_is_settled_sixty_days_after_its_end(
    night: Night, bucket: Path, when: str, kept: int
) -> None:
    versions = deliver_often(night, bucket, "1", "2", "3")
    idle_night(night, bucket, when)
    assert landed(night) == set(versions[-kept:])


def test_months_of_a_source_that_delivers_nothing_are_settled_too(night: Night, bucket: Path) -> None:
    versions = deliver_often(night, bucket, "1", "2")
    shutil.rmtree(bucket)
    bucket.mkdir()
    night.now = datetime(2027, 3, 1, tzinfo=UTC)
    night.refusal(source(bucket))
    assert landed(night) == {versions[-1]}
    versions.append("retired")
    (night.landing / "main" / "2026-10" / "retired").mkdir()
    night.run()
    assert landed(night) == {versions[1]}


@pytest.mark.parametrize(("keep", "kept"), [("open-months", 4), ("newest", 2), ("all", 4)])
def test_what_is_kept_of_an_open_month(night: Night, bucket: Path, keep: KeepLanded, kept: int) -> None:
    night.keep_landed = keep
    versions = deliver_often(night, bucket, "1", "2", "3", "4")
    assert landed(night) == set(versions[-kept:])


@pytest.mark.parametrize(("keep", "kept"), [("open-months", 1), ("newest", 2), ("all", 4)])
def test_what_is_kept_of_a_settled_month(night: Night, bucket: Path, keep: KeepLanded, kept: int) -> None:
    night.keep_landed = "all"
    versions = deliver_often(night, bucket, "1", "2", "3", "4")
    night.keep_landed = keep
    idle_night(night, bucket, "2027-03-01T03:00:00")
    assert landed(night) == set(versions[-kept:])


def test_nothing_is_removed_while_the_version_in_force_is_not_whole(night: Night, bucket: Path) -> None:
    versions = deliver_often(night, bucket, "1", "2")
    (night.landing / "main" / "2026-10" / versions[1] / "delivery.json").unlink()
    idle_night(night, bucket, "2027-03-01T03:00:00")
    assert landed(night) == set(versions)


def test_what_a_ledger_does_not_know_is_left_alone(night: Night, bucket: Path) -> None:
    deliver_often(night, bucket, "1", "2")
    other = night.landing / "main" / "2026-09" / "older"
    other.mkdir(parents=True)
    idle_night(night, bucket, "2027-03-01T03:00:00")
    assert other.is_dir()


def test_a_refused_version_stays_while_it_is_offered(night: Night, bucket: Path) -> None:
    deliver(night, bucket, "2027-03-01T03:00:00", [cur_line(resource=f"i-{number}") for number in range(10)])
    deliver_legacy(bucket, "2026-10", [[cur_line(cost="9")]], assembly="20270302T000000Z")
    for _ in range(2):
        night.refusal(source(bucket))
        assert len(landed(night)) == 2


def test_hidden_directories_of_a_fetch_stay_and_half_removed_versions_go(tmp_path: Path) -> None:
    month = tmp_path / "main" / "2026-10"
    for name in (".fetch", ".old.overrun-tmp", "old", "new"):
        (month / name).mkdir(parents=True)
        (month / name / "delivery.json").touch()
    day = datetime(2026, 10, 1, tzinfo=UTC).date()
    prune(tmp_path, "main", day, None)
    assert {path.name for path in month.iterdir()} == {".fetch", "old", "new"}
    prune(tmp_path, "main", day, [])
    assert {path.name for path in month.iterdir()} == {".fetch", "old", "new"}
    prune(tmp_path, "main", day, ["new"])
    assert {path.name for path in month.iterdir()} == {".fetch", "new"}


def test_landed_versions_are_counted_by_source(night: Night, bucket: Path) -> None:
    deliver_often(night, bucket, "1", "2")
    deliver_often(night, bucket, "3", month="2026-11")
    (night.landing / "main" / "2026-10" / ".fetch").mkdir()
    (night.landing / "main" / "2026-10" / ".fetch" / "delivery.json").write_text("{}", encoding="utf-8")
    [counted] = count_landed(night.landing)
    files = [path for path in night.landing.rglob("[!.]*/[!.]*") if path.is_file() and ".fetch" not in str(path)]
    assert (counted.source, counted.months, counted.versions) == ("main", 2, 3)
    assert counted.size == sum(path.stat().st_size for path in files if path.name != "in-force")
    assert count_landed(night.landing / "nowhere") == []


def test_a_rebuild_copies_a_month_whose_files_are_gone_and_counts_its_invoices(tmp_path: Path, bucket: Path) -> None:
    settings = WarehouseSettings(path=tmp_path / "warehouse.duckdb")
    invoices = "select load_id, invoicing_entity, rows_delivered, rows_invoiced from ops.load_invoice order by all"
    with Warehouse.open(settings) as warehouse:
        night = Night(warehouse, tmp_path / "landing")
        deliver(night, bucket, "2026-11-02T03:00:00", [cur_line(cost="4")])
        deliver(night, bucket, "2026-11-06T03:00:00", [cur_line(cost="4", **FINAL)])
        expected = warehouse.rows(invoices)
        shutil.rmtree(night.landing / "main" / "2026-10")
        warehouse.execute("delete from ops.load_invoice where rows_invoiced > 0")
    report = rebuild(settings, [source(bucket)], tmp_path / "landing", datetime(2026, 12, 1, tzinfo=UTC))
    assert (report.loaded, report.copied) == (0, 1)
    with Warehouse.open(settings) as warehouse:
        assert warehouse.rows(invoices) == expected
        # A warehouse of a version that did not count invoices yet.
        warehouse.execute("drop table ops.load_invoice")
    rebuild(settings, [source(bucket)], tmp_path / "landing", datetime(2026, 12, 1, tzinfo=UTC))
    with Warehouse.open(settings) as warehouse:
        assert warehouse.rows(invoices) == [row for row in expected if row[3]]
