"""Credits, labels and tags of a Cloud Billing export that are no lists: no money is passed over."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from ingest.errors import LoadRefused, SourceUnreadable
from tests.fakes.exports import Row, flattened, gcp_row, write_csv, write_gcp, write_ndjson, write_parquet
from tests.ingest.night import Night, source

CREDIT = '{"amount":-0.25,"type":"DISCOUNT"}'
NO_LISTS = [CREDIT, "-0.25", f"[[{CREDIT}]]", "[-0.25]", '"-0.25"', "true"]
NOT_READ = "value does not convert, read as null"


def write_json(path: Path, credits: str) -> None:
    """Write a row of NDJSON whose credits are as given."""
    write_ndjson(path, [gcp_row() | {"credits": json.loads(credits)}])


def write_cell(path: Path, credits: str) -> None:
    """Write a row of CSV whose credits are as given."""
    write_csv(path, [flattened(gcp_row()) | {"credits": credits}])


@pytest.mark.parametrize("text", NO_LISTS)
@pytest.mark.parametrize(("name", "write"), [("r.ndjson", write_json), ("r.csv", write_cell)])
def test_credits_that_are_no_list_of_records_are_refused(
    night: Night, bucket: Path, name: str, write: Callable[[Path, str], None], text: str
) -> None:
    write(bucket / name, text)

    refusal = night.refusal(source(bucket, "gcp-export"))

    assert isinstance(refusal, LoadRefused)
    assert f"{name}: row 1, column credits: " in str(refusal)
    assert str(refusal).endswith(" is not a list of records")


def test_a_list_as_text_within_ndjson_is_refused(night: Night, bucket: Path) -> None:
    write_ndjson(bucket / "r.ndjson", [gcp_row() | {"credits": f"[{CREDIT}]"}])

    assert "is not a list of records" in str(night.refusal(source(bucket, "gcp-export")))


@pytest.mark.parametrize(
    ("kind", "value"),
    [(pa.float64(), -0.25), (pa.decimal128(38, 9), Decimal("-0.25")), (pa.list_(pa.float64()), [-0.25])],
    ids=str,
)
def test_a_column_of_another_type_is_refused(night: Night, bucket: Path, kind: pa.DataType, value: object) -> None:
    rows = [_plain() | {"credits": credits} for credits in (None, value)]
    write_parquet(bucket / "r.parquet", rows, {"credits": kind})

    assert "row 2, column credits: " in str(night.refusal(source(bucket, "gcp-export")))


def _plain() -> Row:
    """Return a row for parquet that has no lists."""
    kept = {name: value for name, value in flattened(gcp_row()).items() if not isinstance(value, list)}
    return {name: float(value) if isinstance(value, Decimal) else value for name, value in kept.items()}


@pytest.mark.parametrize("name", ["r.csv", "r.ndjson"])
def test_credits_in_columns_of_their_own_are_refused(night: Night, bucket: Path, name: str) -> None:
    # GoogleCloudPlatform/bigquery-utils#289: UNNEST repeats the cost for each credit.
    row = {key: value for key, value in gcp_row(cost="10").items() if key != "credits"}
    rows = [row | {"credits.amount": amount, "credits.type": "DISCOUNT"} for amount in ("-1", "-2")]
    write_gcp(bucket / name, rows)

    refusal = night.refusal(source(bucket, "gcp-export"))

    assert isinstance(refusal, SourceUnreadable)
    assert f"{name}: credits.amount is a column" in str(refusal)


@pytest.mark.parametrize("text", ["", "null", "[]", "[ ]", "[null]", '[{"amount":null}]', f" [ {CREDIT} , null ] "])
def test_every_list_is_read(night: Night, bucket: Path, text: str) -> None:
    write_cell(bucket / "r.csv", text)

    night.load(source(bucket, "gcp-export"))

    assert night.billed() == (Decimal("0.75") if CREDIT in text else 1)
    assert night.counts() == {}


def test_an_amount_that_is_no_number_is_said_in_plain_words(night: Night, bucket: Path) -> None:
    write_cell(bucket / "r.csv", '[{"amount":"NaN"}]')

    expected = "source main, 2026-10, r.csv: column credits: amount NaN is not a finite number"
    assert str(night.refusal(source(bucket, "gcp-export"))) == expected


@pytest.mark.parametrize("text", ['[{"Amount":-1,"Type":"DISCOUNT"}]', '[{"type":"DISCOUNT","value":-1}]', "[{}]"])
def test_a_credit_without_an_amount_is_refused(night: Night, bucket: Path, text: str) -> None:
    write_cell(bucket / "r.csv", text)

    assert "r.csv: column credits: a credit has no amount" in str(night.refusal(source(bucket, "gcp-export")))


def test_an_export_without_credits_is_noted(night: Night, bucket: Path) -> None:
    write_csv(bucket / "r.csv", [{key: value for key, value in flattened(gcp_row()).items() if key != "credits"}])

    night.load(source(bucket, "gcp-export"))

    assert night.counts() == {("column is not delivered, taken as empty", "credits"): 1}


@pytest.mark.parametrize("column", ["labels", "system_labels", "tags", "project.labels"])
@pytest.mark.parametrize("text", ['{"team":"vision"}', '["team"]', "team"])
def test_labels_that_are_no_list_of_records_are_counted(night: Night, bucket: Path, column: str, text: str) -> None:
    plain = flattened(gcp_row(labels=[{"key": "k", "value": "v"}]))
    write_csv(bucket / "r.csv", [plain, flattened(gcp_row()) | {column: text}])

    night.load(source(bucket, "gcp-export"))

    assert night.counts() == {(NOT_READ, column): 1}
    assert night.tags() == {("k", "v")}


def test_a_map_of_labels_is_counted(night: Night, bucket: Path) -> None:
    kind = pa.map_(pa.string(), pa.string())
    rows = [_plain() | {"labels": [("team", "vision")]}, _plain()]
    write_parquet(bucket / "r.parquet", rows, {"labels": kind, "credits": pa.string()})

    night.load(source(bucket, "gcp-export"))

    assert night.counts() == {(NOT_READ, "labels"): 1}
