"""A source of GCP night after night: what comes again changes nothing, an append adds its rows, and what follows."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sql.runner import build
from sql.settings import replace_settings
from tests.fakes.exports import Row, gcp_row, write_gcp
from tests.ingest.night import Night, source

FORMATS = ["parquet", "ndjson", "csv"]
OCTOBER = date(2026, 10, 1)
ACCOUNT = str(gcp_row()["billing_account_id"])


def row(cost: str, day: int = 1, exported: str = "2026-10-02 09:00:00 UTC", **others: Any) -> Row:  # noqa: ANN401 - a column of any type
    """Return a row of a day's usage in October."""
    start, end = f"2026-10-{day:02d} 00:00:00 UTC", f"2026-10-{day:02d} 01:00:00 UTC"
    return gcp_row(cost=cost, start=start, end=end, export_time=exported, **others)


MORNING = [row("1"), row("1"), row("2.5", credits=[("-0.5", "PROMOTION")]), row("0.3", cost_type="tax", project=None)]
AFTERNOON = [row("1"), row("0.25", day=2, exported="2026-10-04 01:00:00 UTC")]


def build_as_of(night: Night, as_of: str, invoices: list[tuple[object, ...]] | None = None) -> None:
    """Build every model as of a day, with entered invoices."""
    replace_settings(
        night.warehouse,
        {
            "settings.night": [(date.fromisoformat(as_of),)],
            "settings.source": [("main", "gcp-export", 2, False)],
            "settings.quiet_source": [("main", 7)],
            "settings.invoice": invoices or [],
        },
    )
    build(night.warehouse)


def at(night: Night, day: str) -> None:
    """Let the next nights be on a day."""
    night.now = datetime.fromisoformat(f"{day}T03:00:00").replace(tzinfo=UTC)


def status(night: Night) -> tuple[object, ...] | None:
    """Return how settled October is."""
    return night.warehouse.row(
        "select status, final_by, was_final_at::date from marts.month_status where billing_month = '2026-10-01'"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_rerun_and_a_download_again_change_nothing(night: Night, bucket: Path, form: str) -> None:
    write_gcp(bucket / f"r.{form}", MORNING)
    night.load(source(bucket, "gcp-export"))
    before = night.fingerprint()
    assert night.load(source(bucket, "gcp-export")).loaded == []
    (bucket / f"r.{form}").unlink()
    write_gcp(bucket / f"again.{form}", MORNING)
    assert night.load(source(bucket, "gcp-export")).loaded == []
    assert night.fingerprint() == before


@pytest.mark.parametrize("form", FORMATS)
def test_an_afternoon_appends_exactly_its_rows(night: Night, bucket: Path, form: str) -> None:
    write_gcp(bucket / f"0.{form}", MORNING)
    night.load(source(bucket, "gcp-export"))
    morning = night.rows('"BilledCost", "ChargePeriodStart", "x_CostType", "x_ExportTime"')
    write_gcp(bucket / f"1.{form}", AFTERNOON)
    night.load(source(bucket, "gcp-export"))
    after = night.rows('"BilledCost", "ChargePeriodStart", "x_CostType", "x_ExportTime"')
    assert after[: len(morning)] == morning
    assert [cost for cost, *_ in after[len(morning) :]] == [Decimal(1), Decimal("0.25")]
    assert night.billed() == Decimal("5.55")
    assert night.load(source(bucket, "gcp-export")).loaded == []


@pytest.mark.parametrize("form", FORMATS)
def test_raw_totals_come_to_what_is_loaded(night: Night, bucket: Path, form: str) -> None:
    write_gcp(bucket / f"0.{form}", [*MORNING, row("9", currency="EUR"), row("0.01", cost_type=None)])
    night.load(source(bucket, "gcp-export"))
    totals = night.warehouse.rows(
        "select billing_currency, sub_account_id, line_item_type, metric, amount from ops.load_raw_total order by all"
    )
    assert totals == [
        ("EUR", "ml-train", "regular", "BilledCost", 9),
        ("EUR", "ml-train", "regular", "Cost", 9),
        ("EUR", "ml-train", "regular", "Credits", 0),
        ("USD", "", "tax", "BilledCost", Decimal("0.3")),
        ("USD", "", "tax", "Cost", Decimal("0.3")),
        ("USD", "", "tax", "Credits", 0),
        ("USD", "ml-train", "regular", "BilledCost", Decimal("4.01")),
        ("USD", "ml-train", "regular", "Cost", Decimal("4.51")),
        ("USD", "ml-train", "regular", "Credits", Decimal("-0.5")),
    ]


def test_quiet_days_make_a_month_final_and_late_rows_restate_it(night: Night, bucket: Path) -> None:
    at(night, "2026-11-02")
    write_gcp(bucket / "0.ndjson", MORNING)
    night.load(source(bucket, "gcp-export"))
    build_as_of(night, "2026-11-11")
    assert status(night) == ("estimated", None, None)
    build_as_of(night, "2026-11-12")
    assert status(night) == ("final", "quiet days", date(2026, 11, 12))
    at(night, "2026-11-15")
    night.load(source(bucket, "gcp-export"))
    build_as_of(night, "2026-11-15")
    assert status(night) == ("final", "quiet days", date(2026, 11, 12))
    at(night, "2026-11-20")
    write_gcp(bucket / "1.ndjson", AFTERNOON)
    night.load(source(bucket, "gcp-export"))
    build_as_of(night, "2026-11-20")
    assert status(night) == ("restated", None, date(2026, 11, 12))
    assert night.warehouse.rows("select previous_status, is_after_final, change_cost from marts.restatements") == [
        ("final", True, Decimal("1.25"))
    ]
    assert night.warehouse.rows("select news, news_cost from marts.month_news") == [("restated", Decimal("1.25"))]


def test_an_entered_invoice_decides(night: Night, bucket: Path) -> None:
    at(night, "2026-11-02")
    write_gcp(bucket / "0.ndjson", MORNING)
    night.load(source(bucket, "gcp-export"))

    def invoice(amount: str) -> list[tuple[object, ...]]:
        entered_at = datetime(2026, 11, 6, 10, tzinfo=UTC).replace(tzinfo=None)
        return [("I", OCTOBER, ACCOUNT, "USD", Decimal(amount), entered_at)]

    build_as_of(night, "2026-11-06", invoice("4.30"))
    assert status(night) == ("final", "entered invoice", date(2026, 11, 6))
    build_as_of(night, "2026-11-20", invoice("4.31"))
    assert status(night) == ("estimated", None, None)
    build_as_of(night, "2026-11-20")
    assert status(night) == ("final", "quiet days", date(2026, 11, 12))


def test_the_last_two_days_are_provisional_and_the_lag_is_observed(night: Night, bucket: Path) -> None:
    at(night, "2026-10-04")
    write_gcp(bucket / "0.parquet", MORNING)
    write_gcp(bucket / "1.parquet", AFTERNOON)
    night.load(source(bucket, "gcp-export"))
    build_as_of(night, "2026-10-04")
    assert night.warehouse.rows(
        "select complete_through, provisional_from, observed_lag_days from marts.data_freshness"
    ) == [(date(2026, 10, 1), date(2026, 10, 2), 2)]
