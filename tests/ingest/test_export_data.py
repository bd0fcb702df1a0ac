"""What BigQuery's EXPORT DATA does: naive instants, numbers as text, lists of either form, columns that come later."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.fakes.exports import gcp_row, write_gcp
from tests.ingest.night import Night, source

AT = datetime(2026, 10, 1)  # noqa: DTZ001 - parquet of BigQuery has no zone


def export(path: Path, *, nullable_lists: bool, **others: object) -> None:
    """Write a row as BigQuery exports parquet."""
    label = pa.struct([("key", pa.string()), ("value", pa.string())])
    columns = {
        "billing_account_id": pa.array(["01ABCD-EF0123-456789"]),
        "usage_start_time": pa.array([AT], pa.timestamp("us")),
        "cost": pa.array([Decimal("1.123456789")], pa.decimal128(38, 9)),
        "currency": pa.array(["USD"]),
        "invoice": pa.array([{"month": "202610"}]),
        "project": pa.array([None], pa.struct([("id", pa.string()), ("labels", pa.list_(label))])),
        "labels": pa.array([[{"key": "team", "value": "vision"}]], pa.list_(label)),
        **{name: pa.array([value]) for name, value in others.items()},
    }
    pq.write_table(pa.table(columns), path, use_compliant_nested_type=nullable_lists)


def test_naive_instants_are_utc_and_lists_are_read_under_either_name(night: Night, bucket: Path) -> None:
    export(bucket / "p-000000000000.parquet", nullable_lists=True)
    export(bucket / "p-000000000001.parquet", nullable_lists=False, seller_name="x", brand_new="y")

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"ChargePeriodStart", "BilledCost"') == [(AT, Decimal("1.123456789"))] * 2
    assert night.tags() == {("team", "vision")}
    assert night.counts()["unknown column, not loaded", "brand_new"] == 1


def test_numbers_as_text_stay_exact(night: Night, bucket: Path) -> None:
    row = json.loads(json.dumps(gcp_row(), default=str)) | {"cost": "0.123456789012"}
    (bucket / "p-000000000000.json").write_text(json.dumps(row) + "\n", encoding="utf-8")

    night.load(source(bucket, "gcp-export"))

    assert night.values("BilledCost") == [Decimal("0.123456789012")]


@pytest.mark.parametrize("name", ["p-000000000001.json", "p-000000000001.ndjson"])
def test_a_shard_without_rows_goes_with_the_others(night: Night, bucket: Path, name: str) -> None:
    write_gcp(bucket / "p-000000000000.ndjson", [gcp_row(cost="3")])
    (bucket / name).write_bytes(b"")

    night.load(source(bucket, "gcp-export"))

    assert night.billed() == 3
