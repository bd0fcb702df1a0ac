"""Avro files: written anew as parquet for as long as they are read, since DuckDB reads none.

The file as delivered is what lands and what makes the version. fastavro decodes the records, pyarrow writes them in
batches, so that memory does not grow with the file. A column keeps its exact type: a decimal of up to 38 digits stays
one, an instant in milliseconds or microseconds becomes a timestamp without zone, which is UTC, and a record or a list
that is null stays null.

A file comes from outside and may lie about itself. The container is therefore read here, block by block: a block of
more bytes than any writer makes, packed or unpacked, is refused before it is held, and so is a schema whose lists could
have items of no bytes, a billion of which fit into ten.

Source: Apache Avro 1.11 specification, "Object Container Files", "Required Codecs", "Logical Types"; BigQuery
documentation, "Export table data: Avro export details".
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ingest.errors import SourceUnreadable
from sql.files import file_errors

if TYPE_CHECKING:
    import pyarrow as pa

MAX_BLOCK_BYTES = 64 << 20
"""Of one block, packed or unpacked; writers make blocks of 16 KiB to some MiB."""
_MAX_HEADER_BYTES = 4 << 20
_MAX_DEPTH = 15
"""Of records within records; BigQuery allows as many."""
_BATCH_BYTES = 8 << 20
"""Of records that become one batch [bytes as avro]."""
_BATCH_ROWS = 20_000
_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16
_CHECKSUM_BYTES = 4
_MOST_DIGITS = 38
_HEADER = {
    "type": "record",
    "name": "header",
    "fields": [
        {"name": "magic", "type": {"type": "fixed", "name": "magic", "size": len(_MAGIC)}},
        {"name": "meta", "type": {"type": "map", "values": "bytes"}},
        {"name": "sync", "type": {"type": "fixed", "name": "sync", "size": _SYNC_BYTES}},
    ],
}
_PRIMITIVES = {
    "boolean": "bool",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "bytes": "binary",
    "string": "string",
}
_INSTANTS = {
    "timestamp-millis": ("long", "timestamp[ms]"),
    "timestamp-micros": ("long", "timestamp[us]"),
    "local-timestamp-millis": ("long", "timestamp[ms]"),
    "local-timestamp-micros": ("long", "timestamp[us]"),
    "date": ("int", "date32"),
    "time-millis": ("int", "time32[ms]"),
    "time-micros": ("long", "time64[us]"),
}
"""Logical types that count since 1970 or midnight, the type that carries them, and Arrow's."""


class _Unlike(Exception):
    """The content is not what such a file has; the text says in what."""


def is_avro(name: str) -> bool:
    """Return whether the name of a file stands for avro."""
    return name.lower().endswith(".avro")


def write_parquet(source: Path, name: str, target: Path) -> None:
    """Write the records of an avro file as parquet.

    Raises SourceUnreadable, naming the file as `name`, where it is truncated, damaged, hostile or of types that no
    billing export has.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with source.open("rb") as stream:
            header = _header(stream)
            with file_errors(target), pq.ParquetWriter(target, header.columns, compression="zstd") as writer:
                for records in _batches(stream, header):
                    writer.write_batch(pa.RecordBatch.from_pylist(records, schema=header.columns))
    except _Unlike as error:
        raise _refused(name, str(error)) from error
    except OSError as error:
        raise SourceUnreadable(f"the file cannot be read ({error.strerror})", file=name) from error
    except (pa.ArrowException, *_BROKEN) as error:
        raise _refused(name, "it is truncated or damaged") from error


_BROKEN = (
    EOFError, ValueError, IndexError, KeyError, TypeError, ArithmeticError, AttributeError, zlib.error, MemoryError,
    RecursionError, StopIteration,
)  # fmt: skip
"""What fastavro raises over records that are truncated or wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    """What the head of a file says."""

    schema: Any
    """As fastavro has it, without the logical types that are read here."""
    columns: pa.Schema
    codec: str
    sync: bytes


@dataclass(slots=True)
class _Types:
    """Translates the types of a schema: to those that fastavro is to decode, and to Arrow's."""

    names: set[str] = field(default_factory=set)

    def of(self, schema: Any, depth: int) -> tuple[Any, pa.DataType, bool]:  # noqa: ANN401 - JSON of any form
        """Return the type to decode, Arrow's, and whether a value may take no bytes."""
        if depth > 2 * _MAX_DEPTH:
            raise _Unlike("its records are nested too deep")
        if isinstance(schema, list):
            return self._union(schema, depth)
        if isinstance(schema, str):
            return self._simple({"type": schema})
        if not isinstance(schema, dict):
            raise _Unlike("its schema is none of avro")
        kind = schema.get("type")
        if isinstance(kind, dict | list):
            return self.of(kind, depth + 1)
        nested = {"record": self._record, "array": self._array, "map": self._map}.get(str(kind))
        return self._simple(schema) if nested is None else nested(schema, depth)

    def _union(self, members: list[Any], depth: int) -> tuple[Any, pa.DataType, bool]:
        others = [member for member in members if member not in ("null", {"type": "null"})]
        if len(others) != 1:
            raise _Unlike("a column has several types")
        decoded, arrow, _ = self.of(others[0], depth + 1)
        return [decoded if member is others[0] else "null" for member in members], arrow, False

    def _record(self, schema: dict[str, Any], depth: int) -> tuple[Any, pa.DataType, bool]:
        import pyarrow as pa

        fields, arrow, is_empty = [], [], True
        for item in schema.get("fields") or []:
            decoded, kind, may_be_empty = self.of(item["type"], depth + 1)
            fields.append({"name": item["name"], "type": decoded})
            arrow.append(pa.field(str(item["name"]), kind))
            is_empty = is_empty and may_be_empty
        if not fields:
            raise _Unlike("a record has no fields")
        return self._named({"type": "record", "fields": fields}), pa.struct(arrow), is_empty

    def _array(self, schema: dict[str, Any], depth: int) -> tuple[Any, pa.DataType, bool]:
        import pyarrow as pa

        decoded, arrow, is_empty = self.of(schema["items"], depth + 1)
        if is_empty:
            raise _Unlike("a list has items without content")
        return {"type": "array", "items": decoded}, pa.list_(arrow), False

    def _map(self, schema: dict[str, Any], depth: int) -> tuple[Any, pa.DataType, bool]:
        import pyarrow as pa

        decoded, arrow, _ = self.of(schema["values"], depth + 1)
        return {"type": "map", "values": decoded}, pa.map_(pa.string(), arrow), False

    def _simple(self, schema: dict[str, Any]) -> tuple[Any, pa.DataType, bool]:
        import pyarrow as pa

        kind, logical = str(schema.get("type")), schema.get("logicalType")
        if logical == "decimal" and kind in {"bytes", "fixed"}:
            return self._decimal(schema)
        if logical in _INSTANTS and _INSTANTS[logical][0] == kind:
            return kind, pa.type_for_alias(_INSTANTS[logical][1]), False
        if kind == "enum":
            return self._named({"type": "enum", "symbols": schema.get("symbols")}), pa.string(), False
        if kind == "fixed":
            size = int(schema["size"])
            return self._named({"type": "fixed", "size": size}), pa.binary(), size == 0
        if kind == "null":
            return "null", pa.string(), True
        if kind not in _PRIMITIVES:
            raise _Unlike("a column has a type that is not read")
        return kind, pa.type_for_alias(_PRIMITIVES[kind]), False

    def _decimal(self, schema: dict[str, Any]) -> tuple[Any, pa.DataType, bool]:
        import pyarrow as pa

        precision, scale = int(schema["precision"]), int(schema.get("scale", 0))
        if not 0 < precision <= _MOST_DIGITS or not 0 <= scale <= precision:
            raise _Unlike(f"a column has decimals of {precision} digits (BIGNUMERIC); cast it to NUMERIC in the export")
        decoded = {"type": schema["type"], "logicalType": "decimal", "precision": precision, "scale": scale}
        if schema["type"] == "fixed":
            decoded = self._named({**decoded, "size": int(schema["size"])})
        return decoded, pa.decimal128(precision, scale), False

    def _named(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a type with a name of its own: writers give two types one name, and names mean nothing here."""
        name = f"type{len(self.names)}"
        self.names.add(name)
        return {**schema, "name": name}


def _header(stream: IO[bytes]) -> _Header:
    """Read the head of a file, and leave the stream behind it."""
    import fastavro
    import pyarrow as pa

    start = io.BytesIO(stream.read(_MAX_HEADER_BYTES))
    if start.getvalue()[: len(_MAGIC)] != _MAGIC:
        raise _Unlike("it is no avro file")
    header: Any = fastavro.schemaless_reader(start, fastavro.parse_schema(_HEADER), None)
    stream.seek(start.tell())
    meta = header["meta"]
    decoded, arrow, is_empty = _Types().of(json.loads(meta["avro.schema"]), 0)
    if is_empty or not pa.types.is_struct(arrow):
        raise _Unlike("its rows are no records")
    columns = pa.schema([arrow.field(position) for position in range(arrow.num_fields)])
    codec = meta.get("avro.codec", b"null").decode()
    if codec not in {"null", "deflate", "snappy"}:
        raise _Unlike("it is packed by a codec that is not read; export it with DEFLATE or SNAPPY")
    return _Header(schema=fastavro.parse_schema(decoded), columns=columns, codec=codec, sync=header["sync"])


def _batches(stream: IO[bytes], header: _Header) -> Iterator[list[dict[str, Any]]]:
    """Yield the records of a file, some at a time."""
    import fastavro

    records: list[Any] = []
    size = 0
    for count, block in _blocks(stream, header):
        content = io.BytesIO(block)
        before = 0
        for _ in range(count):
            records.append(fastavro.schemaless_reader(content, header.schema, None))
            at = content.tell()
            size, before = size + at - before, at
            if size >= _BATCH_BYTES or len(records) >= _BATCH_ROWS:
                yield records
                records, size = [], 0
        if before != len(block):
            raise _Unlike("a block has more content than records")
    if records:
        yield records


def _blocks(stream: IO[bytes], header: _Header) -> Iterator[tuple[int, bytes]]:
    """Yield the number of records and the content of each block."""
    while (count := _long(stream, may_end=True)) is not None:
        size = _long(stream) or 0
        if not 0 <= size <= MAX_BLOCK_BYTES:
            raise _Unlike("a block is larger than any that is written, or damaged")
        packed = _exactly(stream, size)
        if _exactly(stream, _SYNC_BYTES) != header.sync:
            raise _Unlike("it is truncated or damaged")
        block = _unpacked(packed, header.codec)
        if not 0 <= count <= len(block):
            raise _Unlike("a block has more records than content")
        yield count, block


def _unpacked(packed: bytes, codec: str) -> bytes:
    """Return the content of a block."""
    if codec == "null":
        return packed
    if codec == "snappy":
        return _unsnapped(packed)
    inflating = zlib.decompressobj(-zlib.MAX_WBITS)
    block = inflating.decompress(packed, MAX_BLOCK_BYTES)
    if inflating.unconsumed_tail:
        raise _Unlike("a block unpacks to more than any that is written")
    if not inflating.eof:
        raise _Unlike("it is truncated or damaged")
    return block


def _unsnapped(packed: bytes) -> bytes:
    """Return the content of a block packed with Snappy, behind which stands a CRC-32; its length stands before it."""
    import pyarrow as pa

    size, shift = 0, 0
    for byte in packed[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            break
    if size > MAX_BLOCK_BYTES:
        raise _Unlike("a block unpacks to more than any that is written")
    body, checksum = packed[:-_CHECKSUM_BYTES], packed[-_CHECKSUM_BYTES:]
    block: bytes = pa.Codec("snappy").decompress(body, size, asbytes=True)
    if zlib.crc32(block).to_bytes(_CHECKSUM_BYTES, "big") != checksum:
        raise _Unlike("it is truncated or damaged")
    return block


def _long(stream: IO[bytes], *, may_end: bool = False) -> int | None:
    """Read a number of variable length in zigzag order; None at the end of the file, where it may be."""
    number, shift = 0, 0
    while shift < 64:
        byte = stream.read(1)
        if not byte and may_end and shift == 0:
            return None
        if not byte:
            raise _Unlike("it is truncated or damaged")
        number |= (byte[0] & 0x7F) << shift
        shift += 7
        if not byte[0] & 0x80:
            return (number >> 1) ^ -(number & 1)
    raise _Unlike("it is truncated or damaged")


def _exactly(stream: IO[bytes], size: int) -> bytes:
    """Read so many bytes."""
    content = stream.read(size)
    if len(content) != size:
        raise _Unlike("it is truncated or damaged")
    return content


def _refused(name: str, problem: str) -> SourceUnreadable:
    return SourceUnreadable(f"the avro file cannot be read: {problem}", file=name, hint="deliver it again")
