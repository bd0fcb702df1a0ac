"""Configured discounts of spend commitments: they go before the published ones, and a change loads months again."""

from __future__ import annotations

import json
import shutil
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.rename import apply_renames
from ingest.run import IngestReport
from ingest.source import CommitmentDiscount
from overrun.cli import main
from overrun.exits import Exit
from sql.warehouse import Warehouse, WarehouseSettings
from tests.fakes.exports import Row, gcp_row, write_gcp
from tests.ingest.night import Night, source

OCTOBER, NOVEMBER = date(2026, 10, 1), date(2026, 11, 1)
DOLLARS = "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE"


def discount(share: str, service: str = "Cloud SQL", sku: str = "%", **months: date) -> CommitmentDiscount:
    """Return a discount; service and sku are LIKE patterns."""
    return CommitmentDiscount(service_pattern=service, sku_pattern=sku, discount=Decimal(share), **months)


def deliver(bucket: Path, service: str = "Cloud SQL", months: tuple[str, ...] = ("202610",)) -> None:
    """Deliver, for each month, a fee of 30 and usage that was credited 20."""
    usage: Row = {"amount": Decimal(1), "unit": "count", "amount_in_pricing_units": None, "pricing_unit": "count"}
    sku: Row = {"id": "FEE", "description": f"Commitment - dollar based v1: {service} for 1 year"}
    of_service: Row = {"service": {"id": "S", "description": service}}
    for month in months:
        start: Row = {"start": f"{month[:4]}-{month[4:]}-05 08:00:00 UTC", "month": month}
        rows = [
            gcp_row(cost="30", sku=sku, usage=usage, resource=None, **of_service, **start),
            gcp_row(cost="40", credits=[("-20", DOLLARS)], **of_service, **start),
        ]
        write_gcp(bucket / f"{month}.ndjson", rows)


def load(night: Night, bucket: Path, *discounts: CommitmentDiscount) -> IngestReport:
    """Load what is new under these discounts."""
    return night.load(source(bucket, "gcp-export", commitment_discounts=discounts))


def unused(night: Night) -> list[object]:
    """Return what is unused of the fees, month by month."""
    return night.values("EffectiveCost", '"x_RowNumber" < 0')


def loaded(report: IngestReport) -> list[date]:
    """Return the months that were loaded."""
    return [load.delivery.billing_month for load in report.loaded]


@pytest.mark.parametrize(
    ("discounts", "expected"),
    [
        ((), 15),
        ((discount("0.5"),), 20),
        ((discount("0.5", sku="%3 year%"),), 15),
        ((discount("0.5", sku="%1 year"), discount("0.4")), 20),
        ((discount("0.4", service="%"), discount("0.5")), 18),
        ((discount("0.5", until_month=OCTOBER),), 15),
        ((discount("0.5", from_month=OCTOBER, until_month=NOVEMBER),), 20),
    ],
    ids=["published", "configured", "another term", "first of two", "any service", "ended", "in force"],
)
def test_a_configured_discount_goes_before_the_published_one(
    night: Night, bucket: Path, discounts: tuple[CommitmentDiscount, ...], expected: int
) -> None:
    deliver(bucket)

    load(night, bucket, *discounts)

    assert unused(night) == [expected]
    assert night.warehouse.value('select sum("EffectiveCost") - sum("BilledCost") from focus.cost_and_usage') == 0


def test_a_product_without_a_published_discount_gets_one(night: Night, bucket: Path) -> None:
    deliver(bucket, service="Brand 100% New_Thing")

    load(night, bucket)
    assert unused(night) == []
    assert set(night.values("x_UnusedKnown")) == {False}

    load(night, bucket, discount("0.25", service=r"Brand 100\% New\_Thing"))
    assert unused(night) == [15]
    assert set(night.values("x_UnusedKnown")) == {True}


def test_a_change_loads_the_months_that_it_concerns_again_and_once(night: Night, bucket: Path) -> None:
    deliver(bucket, months=("202610", "202611"))
    plain = bucket / "plain.ndjson"
    write_gcp(plain, [gcp_row(month="202609", start="2026-09-02 00:00:00 UTC")])
    load(night, bucket)

    negotiated = discount("0.5", from_month=NOVEMBER)
    assert loaded(load(night, bucket, negotiated)) == [NOVEMBER]
    assert unused(night) == [15, 20]
    assert loaded(load(night, bucket, negotiated)) == []

    assert loaded(load(night, bucket)) == [NOVEMBER]
    assert unused(night) == [15, 15]
    assert loaded(load(night, bucket)) == []


def test_a_change_whose_load_is_refused_is_still_to_be_made(night: Night, bucket: Path) -> None:
    deliver(bucket)
    write_gcp(bucket / "plain.ndjson", [gcp_row() for _ in range(4)])
    load(night, bucket)
    whole = (bucket / "plain.ndjson").read_bytes()
    (bucket / "plain.ndjson").unlink()
    refused = night.refusal(source(bucket, "gcp-export", commitment_discounts=(discount("0.5"),)))
    assert "3 rows where 7 are loaded" in str(refused)
    assert unused(night) == [15]

    (bucket / "plain.ndjson").write_bytes(whole)

    assert loaded(load(night, bucket, discount("0.5"))) == [OCTOBER]
    assert unused(night) == [20]


def test_a_renamed_source_keeps_what_its_months_were_made_with(night: Night, bucket: Path) -> None:
    deliver(bucket)
    load(night, bucket, discount("0.5"))
    renamed = source(bucket, "gcp-export", name="other", was="main", commitment_discounts=(discount("0.5"),))

    apply_renames(night.warehouse, [renamed], night.landing)

    assert loaded(night.load(renamed)) == []
    assert loaded(night.load(source(bucket, "gcp-export", name="other"))) == [OCTOBER]
    assert unused(night) == [15]


def test_a_month_that_is_offered_no_more_is_loaded_from_what_has_landed(night: Night, bucket: Path) -> None:
    deliver(bucket, months=("202610", "202611"))
    load(night, bucket)
    (bucket / "202610.ndjson").unlink()

    assert loaded(load(night, bucket, discount("0.5"))) == [NOVEMBER, OCTOBER]
    assert unused(night) == [20, 20]
    assert loaded(load(night, bucket, discount("0.5"))) == []


def test_a_change_of_the_configuration_reaches_the_marts_and_survives_a_rebuild(
    bucket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deliver(bucket)
    monkeypatch.chdir(tmp_path)
    main_source = '[[source]]\nname = "gcp"\nkind = "gcp-export"\nlocation = "bucket"\n'

    def run(command: str) -> dict[str, Any]:
        capsys.readouterr()
        assert main([command, "--as-of", "2026-11-20", "--json"]) == Exit.DONE
        told = json.loads(capsys.readouterr().out)
        assert isinstance(told, dict)
        return told

    def cost_of_machine() -> object:
        with Warehouse.open(WarehouseSettings(path=tmp_path / "warehouse.duckdb")) as warehouse:
            return warehouse.value("select sum(effective_cost) from marts.resource_daily_cost where resource_id <> ''")

    configured = '[[commitment_discount]]\nservice = "Cloud*"\ndiscount = "50%"\n'
    Path("overrun.toml").write_text(main_source, encoding="utf-8")
    run("nightly")
    assert cost_of_machine() == 20 + 30 - 15
    Path("overrun.toml").write_text(main_source + configured, encoding="utf-8")
    assert [load["billing_month"] for load in run("nightly")["loaded"]] == ["2026-10"]
    assert cost_of_machine() == 20 + 30 - 20
    run("rebuild")
    assert run("nightly")["loaded"] == []
    assert cost_of_machine() == 20 + 30 - 20
    shutil.rmtree("landing")
    run("rebuild")
    assert run("nightly")["loaded"] == []
    Path("overrun.toml").write_text(main_source, encoding="utf-8")
    assert [load["billing_month"] for load in run("nightly")["loaded"]] == ["2026-10"]
    assert cost_of_machine() == 20 + 30 - 15
