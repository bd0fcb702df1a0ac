"""Nothing counts twice and nothing goes missing, whatever else lies in the folder or was configured before."""

from __future__ import annotations

import shutil
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from ingest.errors import LoadRefused, SourceConflict, SourceUnreadable
from ingest.landing import version_directory
from ingest.rebuild import rebuild
from sql.warehouse import Warehouse, WarehouseSettings
from tests.fakes.exports import cur_line, cur_lines, deliver_legacy, focus_charge, gcp_row, write_csv, write_gcp
from tests.ingest.night import Night, source

if TYPE_CHECKING:
    from pathlib import Path

OCTOBER = date(2026, 10, 1)


def focus_rows(*costs: str) -> list[dict[str, object]]:
    """Return FOCUS charges with these costs."""
    return [focus_charge() | {"BilledCost": cost} for cost in costs]


@pytest.mark.parametrize("folder", [".ipynb_checkpoints", ".snapshot/nightly"])
def test_files_in_hidden_folders_do_not_count(night: Night, bucket: Path, folder: str) -> None:
    write_csv(bucket / "export.csv", focus_rows("5"))
    (bucket / folder).mkdir(parents=True)
    write_csv(bucket / folder / "export-checkpoint.csv", focus_rows("7"))

    night.load(source(bucket, "focus-export"))

    assert night.billed() == 5


def test_a_copy_of_a_loose_file_counts_once_and_is_named(night: Night, bucket: Path) -> None:
    file = write_csv(bucket / "export.csv", focus_rows("5"))
    shutil.copy(file, bucket / "export (1).csv")

    report = night.load(source(bucket, "focus-export"))

    assert night.billed() == 5
    assert report.passed_over == {"main": ["export.csv (same content as another)"]}


def test_data_without_its_manifest_is_a_delivery_under_way(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])
    for manifest in bucket.rglob("*Manifest.json"):
        manifest.unlink()

    report = night.load(source(bucket))

    assert report.without_data == ["main"]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e40"])
def test_money_that_is_no_finite_number_is_refused_in_optional_columns_too(
    night: Night, bucket: Path, text: str
) -> None:
    write_csv(bucket / "f.csv", [focus_charge() | {"BilledCost": "1", "EffectiveCost": text}])

    problem = night.refusal(source(bucket, "focus-export"))

    assert isinstance(problem, LoadRefused)
    assert "row 1, column EffectiveCost" in str(problem)
    assert night.billed() == 0


def test_a_net_cost_that_does_not_convert_is_refused_and_not_billed_gross(night: Night, bucket: Path) -> None:
    lines = [cur_line(cost="10", line_item_net_unblended_cost=net) for net in ("8", "8,00")]
    deliver_legacy(bucket, "2026-10", [lines])

    problem = night.refusal(source(bucket))

    assert isinstance(problem, LoadRefused)
    assert "row 2, column lineItem/NetUnblendedCost: '8,00'" in str(problem)


def test_a_month_that_from_and_until_give_to_another_source_goes_over(night: Night, tmp_path: Path) -> None:
    for name in ("old", "new"):
        deliver_legacy(tmp_path / name, "2026-10", [cur_lines("1")], assembly=f"2026100{len(name)}T000000Z")
    deliver_legacy(tmp_path / "new", "2026-10", [cur_lines("2")], assembly="20261009T000000Z")
    night.load(source(tmp_path / "old", name="old"))

    assert isinstance(
        night.refusal(source(tmp_path / "old", name="old"), source(tmp_path / "new", name="new")), SourceConflict
    )
    night.load(
        source(tmp_path / "old", name="old", until_month=OCTOBER),
        source(tmp_path / "new", name="new", from_month=OCTOBER),
    )

    assert night.values("x_Source") == ["new"]
    assert night.billed() == 2


def test_what_is_wrong_outside_of_from_and_until_is_no_problem(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])
    for file in deliver_legacy(bucket, "2026-09", [cur_lines("1", month="2026-09")]):
        file.unlink()

    night.load(source(bucket, from_month=OCTOBER))

    assert night.billed() == 1


def test_a_source_is_not_replaced_by_a_stub(night: Night, tmp_path: Path) -> None:
    deliver_legacy(tmp_path / "old", "2026-10", [cur_lines(*["1"] * 10)])
    deliver_legacy(tmp_path / "new", "2026-10", [cur_lines("9")])
    sources = (source(tmp_path / "old", name="old"), source(tmp_path / "new", name="new", replaces="old"))
    night.load(sources[0])

    problem = night.refusal(*sources)

    assert "has 1 rows where 10 are loaded" in str(problem)
    assert night.billed() == 10
    assert night.run(*sources, accept_shrink=True).problems == []
    assert night.billed() == 9


def test_a_month_that_no_calendar_has_is_refused_and_the_others_are_loaded(night: Night, tmp_path: Path) -> None:
    write_csv(tmp_path / "odd" / "f.csv", [focus_charge() | {"BillingPeriodStart": "20226-10-01T00:00:00Z"}])
    deliver_legacy(tmp_path / "good", "2026-10", [cur_lines("1")])

    problem = night.refusal(
        source(tmp_path / "odd", "focus-export", name="odd"), source(tmp_path / "good", name="good")
    )

    assert problem.source == "odd"
    assert night.billed() == 1


def test_a_field_longer_than_python_reads_by_default_is_read(night: Night, bucket: Path) -> None:
    file = write_csv(bucket / "f.csv", [focus_charge() | {"BilledCost": "1", "ChargeDescription": "x" * 200_000}])
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")

    night.load(source(bucket, "focus-export"))

    assert night.billed() == 1


def test_a_version_whose_removal_was_interrupted_is_landed_again(night: Night, bucket: Path) -> None:
    for day, cost in ((1, "1"), (2, "2")):
        deliver_legacy(bucket, "2026-10", [cur_lines(cost)], assembly=f"2026100{day}T000000Z")
        report = night.load(source(bucket))
        if day == 1:
            first = version_directory(night.landing, report.loaded[0].delivery)
    (first / "delivery.json").unlink()

    deliver_legacy(bucket, "2026-10", [cur_lines("1")], assembly="20261003T000000Z")
    night.load(source(bucket))

    assert night.billed() == 1


def test_a_folder_that_cannot_be_listed_is_said_so(night: Night, bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_csv(bucket / "f.csv", focus_rows("1"))

    def refuse(path: str, *, onerror: object, followlinks: bool) -> list[object]:
        assert followlinks
        assert callable(onerror)
        onerror(PermissionError(13, "Permission denied", path))
        return []

    monkeypatch.setattr("ingest.listing.os.walk", refuse)

    problem = night.refusal(source(bucket, "focus-export"))

    assert isinstance(problem, SourceUnreadable)
    assert "cannot be listed (Permission denied)" in str(problem)


@pytest.mark.parametrize("quantity", ["1e-30", "0", "-1e-300"])
def test_a_tiny_quantity_leaves_the_view_readable(night: Night, bucket: Path, quantity: str) -> None:
    deliver_legacy(bucket, "2026-10", [[cur_line(cost="10", line_item_usage_amount=quantity)]])

    night.load(source(bucket))

    assert len(night.rows("*")) == 1


def test_a_promotional_row_of_google_is_a_promotional_credit(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "g.ndjson", [gcp_row(cost="100"), gcp_row(cost="-40") | {"cost_type": "credit"}])

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"BilledCost", "x_PromotionalCredit", "x_CreditKind"') == [
        (Decimal(100), Decimal(0), None),
        (Decimal(-40), Decimal(-40), "promotional"),
    ]


def test_a_rebuild_without_a_warehouse_takes_the_version_in_force(tmp_path: Path, bucket: Path) -> None:
    settings = WarehouseSettings(path=tmp_path / "warehouse.duckdb")
    with Warehouse.open(settings) as warehouse:
        night = Night(warehouse=warehouse, landing=tmp_path / "landing")
        deliver_legacy(bucket, "2026-10", [cur_lines(*["1"] * 10)], assembly="20261001T000000Z")
        night.load(source(bucket))
        deliver_legacy(bucket, "2026-10", [cur_lines("1")], assembly="20261002T000000Z")
        assert "has 1 rows" in str(night.refusal(source(bucket)))
    settings.path.unlink()

    rebuild(settings, [source(bucket)], tmp_path / "landing", datetime(2026, 11, 20, tzinfo=UTC))

    with Warehouse.open(settings) as warehouse:
        assert Night(warehouse=warehouse, landing=tmp_path / "landing").billed() == 10


def test_charges_that_moved_to_another_month_do_not_count_in_both(night: Night, bucket: Path) -> None:
    def write(month: str) -> None:
        period = {"BillingPeriodStart": f"{month}-01T00:00:00Z", "BillingPeriodEnd": "2026-12-01T00:00:00Z"}
        write_csv(bucket / "f.csv", [focus_charge() | period | {"BilledCost": "5"}])

    focus = source(bucket, "focus-export")
    night.now = datetime(2036, 1, 1, tzinfo=UTC)  # long after the files were written, so that they are remembered
    write("2026-10")
    night.load(focus)
    write("2026-11")

    for _ in range(2):
        problem = night.refusal(focus)
        assert isinstance(problem, LoadRefused)
        assert problem.billing_month == OCTOBER
        assert "no file has rows of this month any more" in str(problem)

    assert night.run(focus, accept_shrink=True).problems == []
    assert night.billed() == 5
