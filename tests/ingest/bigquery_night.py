"""A source in BigQuery for nights of tests."""

from __future__ import annotations

from typing import Any

from ingest.source import BigQueryLocation, BigQueryTable, Patience, SourceSettings
from sql.warehouse import Row
from tests.fakes.bigquery import DETAILED, Emulator
from tests.fakes.exports import gcp_row
from tests.ingest.night import Night


def source(bigquery: Emulator, *tables: str, **others: Any) -> SourceSettings:  # noqa: ANN401 - fields of any type
    """Return a source that asks the emulator; the others are fields of its location."""
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
    """Return a row of 2 November."""
    return gcp_row(start="2026-11-02 00:00:00 UTC", end="2026-11-02 01:00:00 UTC", month="202611", **others)


def queries(night: Night) -> list[Row]:
    """Return how many statements of each kind were counted."""
    return night.warehouse.rows("select statement_kind, count(*) from ops.query_cost group by all order by all")
