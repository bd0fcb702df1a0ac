"""Avro exports: the same charges as in any other format, exact; a file that lies or breaks off is one clear refusal."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ingest.avro import write_parquet
from ingest.errors import SourceUnreadable
from tests.ingest.night import Night, source

START = datetime(2026, 10, 1, tzinfo=UTC)
NUMERIC = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 9}
INSTANT = {"type": "long", "logicalType": "timestamp-micros"}
SYNC = bytes(range(16))


def nullable(kind: object) -> list[object]:
    return ["null", kind]


def record(name: str, **fields: object) -> dict[str, object]:
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": key, "type": nullable(kind)} for key, kind in fields.items()],
    }


LABEL = record("label", key="string", value="string")
SCHEMA = record(
    "Root",
    billing_account_id="string",
    cost=NUMERIC,
    currency="string",
    usage_start_time=INSTANT,
    usage_end_time=INSTANT,
    invoice=record("invoice", month="string"),
    project=record("project", id="string", labels={"type": "array", "items": nullable(LABEL)}),
    credits={"type": "array", "items": record("credit", type="string", amount="double")},
)


def charge(cost: str, **others: object) -> dict[str, object]:
    """Return a row as BigQuery exports it; what is not given is null."""
    given = {
        "billing_account_id": "01ABCD-EF0123-456789",
        "cost": Decimal(cost),
        "currency": "USD",
        "usage_start_time": START,
        "usage_end_time": START.replace(hour=1),
        "invoice": {"month": "202610"},
        "project": None,
        "credits": [],
    }
    return given | others


def avro(rows: Sequence[dict[str, object]], schema: Any = SCHEMA, codec: str = "null") -> bytes:  # noqa: ANN401
    stream = io.BytesIO()
    fastavro.writer(stream, fastavro.parse_schema(schema), rows, codec=codec, sync_marker=SYNC)
    return stream.getvalue()


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_a_billing_export_in_avro_loads_exactly(night: Night, bucket: Path, codec: str) -> None:
    rows = [
        charge("12345678901234567890.123456789", credits=[{"type": "PROMOTION", "amount": -2.0}]),
        charge("-0.000000001", project={"id": "ml", "labels": None}),
        charge("3", project={"id": "ml", "labels": [{"key": "team", "value": "vision"}]}),
    ]
    (bucket / "p-000000000000.avro").write_bytes(avro(rows, codec=codec))

    night.load(source(bucket, "gcp-export"))

    assert night.values("BilledCost") == [
        Decimal("12345678901234567888.123456789"),
        Decimal("-0.000000001"),
        3,
    ]
    assert night.values("ChargePeriodStart") == [datetime(2026, 10, 1)] * 3  # noqa: DTZ001 - as the warehouse keeps it
    assert night.tags() == {("team", "vision")}


def test_an_avro_file_without_rows_goes_with_the_others(night: Night, bucket: Path) -> None:
    (bucket / "p-000000000000.avro").write_bytes(avro([charge("1")]))
    (bucket / "p-000000000001.avro").write_bytes(avro([]))

    night.load(source(bucket, "gcp-export"))

    assert night.billed() == 1


def test_a_second_night_converts_nothing_and_leaves_nothing(night: Night, bucket: Path, tmp_path: Path) -> None:
    (bucket / "p-000000000000.avro").write_bytes(avro([charge("1")]))
    night.load(source(bucket, "gcp-export"))

    report = night.load(source(bucket, "gcp-export"))

    assert not report.loaded
    assert not list(tmp_path.glob("**/*.avro.parquet"))


def test_the_sample_of_a_real_layout_has_the_rows_of_its_parquet(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "gcp" / "bq_export_formats"
    write_parquet(folder / "p-000000000000.avro", "p.avro", tmp_path / "p.parquet")

    table, expected = pq.read_table(tmp_path / "p.parquet"), pq.read_table(folder / "p-000000000000.parquet")

    assert table.num_rows == expected.num_rows
    for name in ("cost", "credits", "labels", "price", "project"):
        assert table.column(name).to_pylist() == expected.column(name).to_pylist()
    assert table.schema.field("usage_start_time").type == pa.timestamp("us")


def test_records_come_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.avro._BATCH_ROWS", 10)
    (tmp_path / "p.avro").write_bytes(avro([charge(str(number)) for number in range(25)]))

    write_parquet(tmp_path / "p.avro", "p.avro", tmp_path / "p.parquet")

    table = pq.read_table(tmp_path / "p.parquet")
    assert table.column("cost").to_pylist() == [Decimal(number) for number in range(25)]


def long_of(number: int) -> bytes:
    """Return a number as avro writes it."""
    zigzag, out = (number << 1) ^ (number >> 63), bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def container(block: bytes, count: int, schema: Any = SCHEMA, codec: str = "null") -> bytes:  # noqa: ANN401
    """Return a file of one block that is as it is."""
    return avro([], schema, codec) + long_of(count) + long_of(len(block)) + block + SYNC


def bomb() -> bytes:
    import zlib

    packing = zlib.compressobj(wbits=-15)
    return packing.compress(bytes(65 << 20)) + packing.flush()


GOOD = avro([charge("1"), charge("2")])
NULLS = {"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "array", "items": "null"}}]}
BIG = record("r", cost={"type": "bytes", "logicalType": "decimal", "precision": 76, "scale": 38})
TWO = {"type": "record", "name": "r", "fields": [{"name": "a", "type": ["string", "long"]}]}
TEXT = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "string"}]}
HOSTILE: dict[str, Callable[[], bytes]] = {
    "cut in the header": lambda: GOOD[:40],
    "cut in a block": lambda: GOOD[:-30],
    "cut in the last mark": lambda: GOOD[:-3],
    "another mark": lambda: GOOD[:-16] + bytes(16),
    "no avro": lambda: b"PAR1" * 100,
    "zero bytes": lambda: b"",
    "more records than content": lambda: container(b"\0" * 20, 1 << 60),
    "a block of an exabyte": lambda: avro([]) + long_of(1) + long_of(1 << 60),
    "a negative block": lambda: avro([]) + long_of(1) + long_of(-5),
    "a deflate bomb": lambda: container(bomb(), 1, codec="deflate"),
    "items of no bytes": lambda: container(long_of(1 << 40) + b"\0", 1, NULLS),
    "a text longer than the file": lambda: container(long_of(1 << 50) + b"abc", 1, TEXT),
    "text that is no UTF-8": lambda: container(long_of(2) + b"\xff\xfe", 1, TEXT),
    "content behind the records": lambda: container(long_of(1) + b"ab", 1, TEXT),
    "decimals of too many digits": lambda: avro([], BIG),
    "several types": lambda: avro([], TWO),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_broken_or_hostile_file_is_one_refusal(night: Night, bucket: Path, name: str) -> None:
    (bucket / "p-000000000000.avro").write_bytes(HOSTILE[name]())

    problem = night.refusal(source(bucket, "gcp-export"))

    assert isinstance(problem, SourceUnreadable)
    assert problem.file == "p-000000000000.avro"
    assert problem.hint is not None
    assert len(str(problem)) < 250


def test_snappy_is_read_and_its_checksum_seen(tmp_path: Path) -> None:
    import zlib

    body = long_of(5) + b"hello"
    packed = pa.Codec("snappy").compress(body, asbytes=True)
    head = avro([], TEXT).replace(b"null", b"snappy").replace(b"avro.codec\x08", b"avro.codec\x0c")
    checksum = zlib.crc32(body).to_bytes(4, "big")
    for block, is_good in ((packed + checksum, True), (packed + bytes(4), False)):
        (tmp_path / "p.avro").write_bytes(head + long_of(1) + long_of(len(block)) + block + SYNC)
        if is_good:
            write_parquet(tmp_path / "p.avro", "p.avro", tmp_path / "p.parquet")
            assert pq.read_table(tmp_path / "p.parquet").to_pylist() == [{"a": "hello"}]
        else:
            with pytest.raises(SourceUnreadable, match="damaged"):
                write_parquet(tmp_path / "p.avro", "p.avro", tmp_path / "p.parquet")
