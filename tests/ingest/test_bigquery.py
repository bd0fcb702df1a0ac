"""Billing exports in BigQuery: what is asked each night, what is fetched, and how; by an emulator of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from ingest.source import BigQueryLocation, BigQueryTable, Patience, SourceSettings
from tests.fakes.bigquery import DETAILED, Emulator, emulator
from tests.fakes.exports import gcp_row
from tests.ingest.night import Night

LIKE = gcp_row(credits=[("-1", "PROMOTION")]) | {
    "labels": [{"key": "k", "value": "v"}],
    "system_labels": [{"key": "k", "value": "v"}],
    "tags": [{"key": "k", "value": "v", "inherited": True, "namespace": "n"}],
    "project": {"id": "p", "number": "1", "name": "p", "labels": [{"key": "k", "value": "v"}]},
}
AUGUST, OCTOBER, NOVEMBER = date(2026, 8, 1), date(2026, 10, 1), date(2026, 11, 1)


@pytest.fixture(scope="session")
def running() -> Iterator[Emulator]:
    with emulator() as bigquery:
        yield bigquery


@pytest.fixture
def bigquery(running: Emulator) -> Iterator[Emulator]:
    yield running
    running.reset()


def source(bigquery: Emulator, *tables: str, **others: Any) -> SourceSettings:  # noqa: ANN401 - fields of any type
    settings = {
        "endpoint_url": bigquery.rest,
        "storage_endpoint_url": bigquery.grpc,
        "pause_seconds": 0.01,
        "patience": Patience(attempts=3),
        **others,
    }
    location = BigQueryLocation(tables=tuple(map(BigQueryTable.parse, tables or (DETAILED,))), **settings)
    return SourceSettings(name="gcp", kind="gcp-bigquery", location=location)


def november(**others: Any) -> dict[str, object]:  # noqa: ANN401 - fields of any type
    return gcp_row(start="2026-11-02 00:00:00 UTC", end="2026-11-02 01:00:00 UTC", month="202611", **others)


def queries(night: Night) -> list[tuple[object, ...]]:
    return night.warehouse.rows("select statement_kind, count(*) from ops.query_cost group by all order by all")


@pytest.mark.parametrize("way", ["storage", "queries"])
def test_months_are_fetched_whole_once_and_identical_rows_are_kept(night: Night, bigquery: Emulator, way: str) -> None:
    bigquery.make(like=LIKE)
    bigquery.add([gcp_row(cost="1.5", credits=[("-0.5", "PROMOTION"), ("-0.25", "X")])] * 2)
    bigquery.add(
        [november(cost="7"), november(cost="0.1", project=None, cost_type="tax"), gcp_row(cost="3", month=None)]
    )
    asked = source(bigquery, **({} if way == "storage" else {"storage_endpoint_url": None}))

    report = night.load(asked)

    assert night.rows('"x_BillingMonth", sum("BilledCost"), count(*)', "all", "true group by all") == [
        (OCTOBER, Decimal("4.5"), 3),
        (NOVEMBER, Decimal("7.1"), 2),
    ]
    assert report.notes["gcp"] == (
        []
        if way == "storage"
        else ["rows come by queries, slower: `storage_endpoint_url` is not set beside `endpoint_url`"]
    )
    assert queries(night) == ([("READ_SESSION", 2), ("SELECT", 1)] if way == "storage" else [("SELECT", 3)])
    before = night.fingerprint("gcp")

    again = night.load(asked)

    assert (len(again.loaded), len(again.unchanged)) == (0, 2)
    assert night.fingerprint("gcp") == before
    assert queries(night)[-1] == ("SELECT", 2 if way == "storage" else 4)


def test_an_afternoon_append_adds_exactly_its_rows_and_fetches_no_other_month(night: Night, bigquery: Emulator) -> None:
    bigquery.make(like=LIKE)
    bigquery.add([gcp_row(cost="2"), november(cost="7")])
    night.load(source(bigquery))

    bigquery.add([november(cost="7")])
    report = night.load(source(bigquery))

    assert [load.delivery.billing_month for load in report.loaded] == [NOVEMBER]
    assert night.values("BilledCost") == [2, 7, 7]
