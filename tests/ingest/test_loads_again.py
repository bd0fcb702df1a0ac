"""A version that comes again after another: every load stays in the ledger, and that in force has its plain id."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from ingest.rename import apply_renames
from ingest.run import IngestOptions, ingest
from sql.runner import build
from sql.settings import replace_settings
from tests.fakes.exports import cur_lines, deliver_legacy
from tests.ingest.night import Night, source


def deliver(bucket: Path, *costs: str) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines(*costs)], assembly=None, suffix=".csv")


def test_every_load_stays_where_a_version_comes_again(night: Night, bucket: Path) -> None:
    for costs in (("1", "2"), ("1", "3"), ("1", "2"), ("1", "3")):
        deliver(bucket, *costs)
        night.load(source(bucket))
    replace_settings(night.warehouse, {})
    build(night.warehouse)

    assert night.warehouse.rows("select sequence, is_current from ops.load order by 1") == [
        (1, False),
        (2, False),
        (3, False),
        (4, True),
    ]
    assert night.warehouse.rows("select load_number, change_cost from marts.restatements order by 1") == [
        (2, 1),
        (3, -1),
        (4, 1),
    ]
    assert night.warehouse.value('select count(distinct "x_LoadId") from focus.cost_and_usage') == 1
    assert night.warehouse.value("select max(length(load_id)) from ops.load where is_current") == 16


def test_a_renamed_source_keeps_every_load(night: Night, bucket: Path) -> None:
    for costs in (("1", "2"), ("1", "3"), ("1", "2")):
        deliver(bucket, *costs)
        night.load(source(bucket))

    apply_renames(night.warehouse, [source(bucket, name="other", was="main")], night.landing)

    assert night.warehouse.rows(
        "select sequence, billed_cost from ops.load inner join ops.load_total using (load_id) order by 1"
    ) == [(1, 3), (2, 4), (3, 3)]
    assert night.run(source(bucket, name="other", was="main")).loaded == []


def test_a_month_loaded_by_force_again_is_one_load(night: Night, bucket: Path) -> None:
    deliver(bucket, "1", "2")
    night.load(source(bucket))
    options = IngestOptions(
        landing=night.landing, now=night.now.replace(tzinfo=None), months=frozenset({date(2026, 10, 1)})
    )

    ingest(night.warehouse, [source(bucket)], options)

    assert night.warehouse.value("select count(*) from ops.load") == 1
