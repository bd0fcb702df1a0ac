"""Prices from Google's catalogue: exact, of what compute is planned with, asked for once a day, kept where refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from ingest.gcp.catalogue import amount
from ingest.prices import PriceSettings, refresh_prices
from ingest.source import BillingAccess
from sql.warehouse import Row, Warehouse
from tests.fakes.google_billing import COMPUTE, SECRET, VERTEX, GoogleBilling, google_billing, sku
from tests.fakes.parts import make_warehouse

TODAY, TOMORROW = date(2026, 11, 20), date(2026, 11, 21)


def settings(google: GoogleBilling, *services: str, currency: str = "USD") -> PriceSettings:
    access = BillingAccess(endpoint=google.endpoint, retry_seconds=0.3, first_wait_seconds=0.01)
    return PriceSettings(services=services or (COMPUTE,), currency=currency, access=access)


def prices(warehouse: Warehouse, columns: str = "sku_id, region, tier_start, price") -> list[Row]:
    return warehouse.rows(f"select {columns} from settings.price order by all")


@pytest.fixture
def google() -> Iterator[GoogleBilling]:
    with google_billing() as google:
        google.skus = {
            COMPUTE: [
                sku("T4", "Nvidia Tesla T4 GPU running in EMEA", (0, 350_000_000)),
                sku("CORE", "E2 Instance Core running in EMEA", (0, 21_811_590), group="CPU"),
                sku("DISK", "SSD backed PD Capacity in EMEA", (0, 170_000_000), group="SSD", unit="GiBy.mo"),
            ],
            VERTEX: [
                sku("TPU", "Vertex AI: Training TPU v5e in EMEA", (1, 560_000_000), group="Training"),
                sku("TOKENS", "Gemini Text Input - Predictions", (0, 300), group="Inference", unit="count"),
            ],
        }
        yield google


@pytest.fixture
def warehouse() -> Iterator[Warehouse]:
    with make_warehouse() as warehouse:
        yield warehouse


@pytest.mark.parametrize(
    ("units", "nanos", "expected"),
    [
        (0, 1, "0.000000001"),
        (0, 21_811_590, "0.02181159"),
        (2, 5, "2.000000005"),
        (-1, -750_000_000, "-1.75"),
        (0, 0, "0"),
        (9_007_199_254_740_993, 999_999_999, "9007199254740993.999999999"),
    ],
)
def test_a_price_is_units_and_nanos_exactly(units: int, nanos: int, expected: str) -> None:
    from google.type.money_pb2 import Money

    assert amount(Money(units=units, nanos=nanos)) == Decimal(expected)


def test_prices_of_what_compute_is_planned_with_are_kept(google: GoogleBilling, warehouse: Warehouse) -> None:
    assert refresh_prices(warehouse, settings(google, COMPUTE, VERTEX), TODAY) == []
    assert warehouse.rows("from settings.price order by sku_id") == [
        (
            "Google Cloud", COMPUTE, "CORE", "E2 Instance Core running in EMEA", "europe-west4", "OnDemand", "h", 0.0,
            "USD", Decimal("0.021811590000"), datetime(2026, 11, 1, 7), TODAY,  # noqa: DTZ001 - UTC without zone
        ),
        (
            "Google Cloud", COMPUTE, "T4", "Nvidia Tesla T4 GPU running in EMEA", "europe-west4", "OnDemand", "h", 0.0,
            "USD", Decimal("0.350000000000"), datetime(2026, 11, 1, 7), TODAY,  # noqa: DTZ001
        ),
        (
            "Google Cloud", VERTEX, "TPU", "Vertex AI: Training TPU v5e in EMEA", "europe-west4", "OnDemand", "h", 0.0,
            "USD", Decimal("1.560000000000"), datetime(2026, 11, 1, 7), TODAY,  # noqa: DTZ001
        ),
    ]  # fmt: skip


def test_tiers_and_regions_have_a_row_each(google: GoogleBilling, warehouse: Warehouse) -> None:
    google.skus = {
        COMPUTE: [
            sku("A", "A GPU", (1, 0), (0, 500_000_000), regions=("us-east1", "us-west1")),
            sku("B", "B GPU", (2, 0), regions=()),
            sku("C", "C GPU without a price"),
        ]
    }
    assert refresh_prices(warehouse, settings(google), TODAY) == []
    assert prices(warehouse) == [
        ("A", "us-east1", 0.0, Decimal(1)),
        ("A", "us-east1", 100.0, Decimal("0.5")),
        ("A", "us-west1", 0.0, Decimal(1)),
        ("A", "us-west1", 100.0, Decimal("0.5")),
        ("B", None, 0.0, Decimal(2)),
    ]


def test_every_page_is_read_in_the_currency_that_is_configured(google: GoogleBilling, warehouse: Warehouse) -> None:
    google.page_size = 3
    google.skus = {COMPUTE: [sku(f"S{number}", "a GPU", (number, 0), currency="EUR") for number in range(7)]}
    google.refuse("list_skus", ("UNAVAILABLE", ""), ("RESOURCE_EXHAUSTED", ""))
    assert refresh_prices(warehouse, settings(google, currency="EUR"), TODAY) == []
    assert len(prices(warehouse)) == 7
    asked = google.requests("list_skus")
    assert [request.page_token for request in asked] == ["", "", "", "3", "6"]
    assert {(request.parent, request.currency_code) for request in asked} == {(f"services/{COMPUTE}", "EUR")}


def test_the_catalogue_is_asked_once_a_day(google: GoogleBilling, warehouse: Warehouse) -> None:
    def asked() -> int:
        return len(google.requests("list_skus"))

    refresh_prices(warehouse, settings(google, COMPUTE, VERTEX), TODAY)
    assert asked() == 2
    refresh_prices(warehouse, settings(google, COMPUTE, VERTEX), TODAY)
    assert asked() == 2
    google.skus[COMPUTE] = [sku("T4", "Nvidia Tesla T4 GPU running in EMEA", (0, 400_000_000))]
    refresh_prices(warehouse, settings(google, COMPUTE, VERTEX), TOMORROW)
    assert asked() == 4
    assert prices(warehouse, "sku_id, price, fetched_on") == [
        ("T4", Decimal("0.4"), TOMORROW),
        ("TPU", Decimal("1.56"), TOMORROW),
    ]


def test_prices_that_are_known_are_not_written_again(
    google: GoogleBilling, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh_prices(warehouse, settings(google), TODAY)
    statements: list[str] = []
    execute = Warehouse.execute

    def noting(self: Warehouse, statement: str, parameters: Any = ()) -> Any:  # noqa: ANN401 - as the original
        statements.append(statement.split(maxsplit=1)[0])
        return execute(self, statement, parameters)

    monkeypatch.setattr(Warehouse, "execute", noting)
    refresh_prices(warehouse, settings(google), TODAY)
    assert set(statements) <= {"select"}


def test_a_refused_service_keeps_its_prices_and_is_asked_again(google: GoogleBilling, warehouse: Warehouse) -> None:
    refresh_prices(warehouse, settings(google, COMPUTE, VERTEX), TODAY)
    google.always_refuse(f"list_skus {COMPUTE}", "PERMISSION_DENIED", "SERVICE_DISABLED")
    (refused,) = refresh_prices(warehouse, settings(google, COMPUTE, VERTEX), TOMORROW)
    assert "cloudbilling.googleapis.com" in str(refused)
    assert "gcloud services enable cloudbilling.googleapis.com" in str(refused.hint)
    assert prices(warehouse, "sku_id, fetched_on") == [("CORE", TODAY), ("T4", TODAY), ("TPU", TOMORROW)]
    google.refusals.clear()
    assert refresh_prices(warehouse, settings(google, COMPUTE, VERTEX), TOMORROW) == []
    assert {row[0] for row in prices(warehouse, "fetched_on")} == {TOMORROW}


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ("PERMISSION_DENIED", f"access is denied: the catalogue of service {COMPUTE}"),
        ("RESOURCE_EXHAUSTED", "fewer requests"),
        ("NOT_FOUND", f"there is no service {COMPUTE} in the catalogue"),
        ("INVALID_ARGUMENT", "INVALID_ARGUMENT"),
    ],
)
def test_each_refusal_says_what_is_missing(
    google: GoogleBilling, warehouse: Warehouse, status: str, message: str
) -> None:
    google.always_refuse("list_skus", status)
    (refused,) = refresh_prices(warehouse, settings(google), TODAY)
    assert message in str(refused)
    assert SECRET not in f"{refused} {refused.hint}"
    assert prices(warehouse) == []


def test_a_service_without_such_prices_is_noted(google: GoogleBilling, warehouse: Warehouse) -> None:
    google.skus = {COMPUTE: [sku("DISK", "SSD backed PD Capacity", (0, 1), group="SSD")]}
    (refused,) = refresh_prices(warehouse, settings(google), TODAY)
    assert "gcp_services" in str(refused.hint)


def test_prices_that_are_wanted_no_more_leave(google: GoogleBilling, warehouse: Warehouse) -> None:
    refresh_prices(warehouse, settings(google, COMPUTE, VERTEX), TODAY)
    refresh_prices(warehouse, settings(google, VERTEX), TODAY)
    assert prices(warehouse, "sku_id") == [("TPU",)]
    google.skus[VERTEX] = [sku("TPU", "Training TPU", (1, 0), currency="EUR")]
    refresh_prices(warehouse, settings(google, VERTEX, currency="EUR"), TODAY)
    assert prices(warehouse, "currency") == [("EUR",)]
    refresh_prices(warehouse, PriceSettings(), TODAY)
    assert prices(warehouse) == []


def test_text_of_the_catalogue_is_kept_as_it_is(google: GoogleBilling, warehouse: Warehouse) -> None:
    hostile: Any = "GPU'); drop table settings.price; --\x1b[31m"
    google.skus = {COMPUTE: [sku("X", hostile, (1, 0))]}
    assert refresh_prices(warehouse, settings(google), TODAY) == []
    assert prices(warehouse, "description") == [(hostile,)]
