"""How a delivered file is read: its columns as delivered, and the table function that reads it.

CSV headers are read here and not by DuckDB, whose names are case-insensitive: `user:Team` and `user:team` would become
one column and a renamed one. Columns are therefore positional (`c0000`, ...), everything is text, the dialect is
fixed and no error is ignored. NDJSON scalars are read as text too, so that a decimal delivered as text stays exact.
Parquet keeps its types. Nothing is sniffed.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Literal

import duckdb

from ingest.delivery import DeliveredFile
from ingest.errors import SourceUnreadable
from ingest.explain import unreadable
from sql.warehouse import Warehouse, literal, quoted

Format = Literal["csv", "parquet", "ndjson"]

SUFFIXES: Mapping[str, Format] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".csv.zip": "csv",
    ".zip": "csv",
    ".parquet": "parquet",
    ".avro": "parquet",
    ".json": "ndjson",
    ".json.gz": "ndjson",
    ".ndjson": "ndjson",
    ".ndjson.gz": "ndjson",
    ".jsonl": "ndjson",
    ".jsonl.gz": "ndjson",
}
MAX_LINE_BYTES = 16 * 1024 * 1024
EXTRA_FIELD = "extra_field"
_NO_FIELD = "\x1e no field \x1e"
_SHARD = re.compile(r"\d{12}\.\w+$", re.ASCII)
"""End of the name of one of the files that BigQuery exports a table to."""
_FIRST_RECORD_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class DeliveredColumn:
    """A column as delivered: its exact name, how SQL refers to it, and its DuckDB type."""

    name: str
    reference: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileShape:
    """Files of one delivery that are read alike: same format, compression and columns."""

    format: Format
    is_compressed: bool
    columns: tuple[DeliveredColumn, ...]


def format_of(path: PurePath) -> Format | None:
    """Return the format that the name of `path` stands for, or None where it is none that is read."""
    name = path.name.lower()
    matches = [suffix for suffix in SUFFIXES if name.endswith(suffix)]
    return SUFFIXES[max(matches, key=len)] if matches else None


def is_without_rows(file: DeliveredFile) -> bool:
    """Return whether a file is a shard of NDJSON that has no line: an export of no rows, and no broken file."""
    return file.size == 0 and format_of(Path(file.name)) == "ndjson" and bool(_SHARD.search(file.name))


def shape_of(file: DeliveredFile, warehouse: Warehouse, nested: Mapping[str, str]) -> FileShape:
    """Read the columns of `file`; `nested` gives the types that NDJSON columns are declared with.

    Raises SourceUnreadable for a file of zero bytes, a broken one, or one of an unknown format.
    """
    if file.size == 0:
        raise SourceUnreadable(
            "the file is empty (0 bytes)", file=file.name, hint="deliver it again; a header is the least it has"
        )
    kind = format_of(Path(file.name))
    is_compressed = file.name.lower().endswith(".gz")
    if kind == "csv":
        columns = _csv_columns(file, is_compressed)
    elif kind == "parquet":
        columns = _parquet_columns(file, warehouse)
    elif kind == "ndjson":
        columns = _ndjson_columns(file, is_compressed, nested)
    else:
        raise SourceUnreadable(
            "the format is not one that is read", file=file.name, hint=f"read are {', '.join(sorted(SUFFIXES))}"
        )
    return FileShape(format=kind, is_compressed=is_compressed, columns=columns)


def parquet_shape(file: DeliveredFile, warehouse: Warehouse) -> FileShape:
    """Return the shape of a parquet file, whatever its name."""
    return FileShape(format="parquet", is_compressed=False, columns=_parquet_columns(file, warehouse))


def table_function(shape: FileShape, paths: Sequence[Path], *, is_padded: bool = False) -> str:
    """Return the table function call that reads `paths`, all of `shape`.

    A padded CSV row has its missing fields null and one more column, `EXTRA_FIELD`, null where the row ends with the
    header; an empty field is then the empty text.
    """
    listed = "[" + ", ".join(literal(str(path)) for path in paths) + "]"
    if shape.format == "parquet":
        return f"read_parquet({listed}, file_row_number = true)"
    compression = _compression(shape)
    if shape.format == "ndjson":
        declared = ", ".join(f"{literal(column.name)}: {literal(column.type)}" for column in shape.columns)
        return (
            f"read_json({listed}, format = 'newline_delimited', compression = {compression},"
            f" maximum_object_size = {MAX_LINE_BYTES}, columns = {{{declared}}})"
        )
    names = [column.reference for column in shape.columns] + ([EXTRA_FIELD] if is_padded else [])
    declared = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    padding = f"nullstr = '{_NO_FIELD}', null_padding = true" if is_padded else "nullstr = '', null_padding = false"
    return (
        f"read_csv({listed}, header = true, auto_detect = false, columns = {{{declared}}}, delim = ',', quote = '\"',"
        f" escape = '\"', {padding}, strict_mode = true, compression = {compression},"
        f" max_line_size = {MAX_LINE_BYTES}, buffer_size = {2 * MAX_LINE_BYTES})"
    )


def json_lines(shape: FileShape, paths: Sequence[Path]) -> str:
    """Return the table function call that gives the lines of NDJSON files as they are, in the column `json`."""
    listed = ", ".join(literal(str(path)) for path in paths)
    return (
        f"read_ndjson_objects([{listed}], compression = {_compression(shape)}, maximum_object_size = {MAX_LINE_BYTES})"
    )


def ndjson_column(name: str, nested: Mapping[str, str]) -> DeliveredColumn:
    """Return the column that a key of NDJSON is read as; nested ones have their declared type, the rest is text."""
    return DeliveredColumn(name, quoted(name), nested.get(name, "VARCHAR"))


def row_position(shape: FileShape, group: int) -> str:
    """Return the expression for the position of a row within the delivery, from 1.

    The variable `row_offsets` holds, per group of files of one shape, the rows before each of its files (parquet)
    or before the group.
    """
    offsets = f"getvariable('row_offsets')[{group}]"
    if shape.format == "parquet":
        return f"{offsets}[file_index::integer + 1] + file_row_number + 1"
    return f"{offsets}[1] + row_number() over ()"


def _compression(shape: FileShape) -> str:
    """Return the compression of text files, quoted."""
    return "'gzip'" if shape.is_compressed else "'none'"


def _csv_columns(file: DeliveredFile, is_compressed: bool) -> tuple[DeliveredColumn, ...]:
    """Return the header of a CSV file, positional references, all text."""
    with _text(file, is_compressed) as stream:
        try:
            header = next(csv.reader(stream), None)
        except csv.Error as error:
            raise SourceUnreadable(f"the first line is no header ({error})", file=file.name) from error
    if not header or not any(header):
        raise SourceUnreadable(
            "the first line is no header", file=file.name, hint="an export begins with its column names"
        )
    return tuple(DeliveredColumn(name, f"c{position:04d}", "VARCHAR") for position, name in enumerate(header))


def _ndjson_columns(file: DeliveredFile, is_compressed: bool, nested: Mapping[str, str]) -> tuple[DeliveredColumn, ...]:
    """Return the keys of the first objects: a file may have others further on."""
    with _text(file, is_compressed) as stream:
        return tuple(ndjson_column(key, nested) for key in _keys(stream, file.name))


def _keys(lines: Iterable[str], name: str) -> dict[str, None]:
    """Return the keys of the objects at the start of the file: a field that is null is left out of an object."""
    keys: dict[str, None] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise SourceUnreadable(f"line {number} is no JSON object ({error.msg})", file=name) from error
        if not isinstance(record, dict):
            raise SourceUnreadable(f"line {number} is no JSON object", file=name)
        keys |= dict.fromkeys(record)
    return keys


def _parquet_columns(file: DeliveredFile, warehouse: Warehouse) -> tuple[DeliveredColumn, ...]:
    """Return the columns of a parquet file with DuckDB's types.

    Names come from the file's own schema: DuckDB refers to the second of two that differ in case by another name.
    """
    path = literal(str(file.path))
    try:
        described = warehouse.rows(f"describe select * from read_parquet({path})")
        schema = warehouse.rows(f"select name, coalesce(num_children, 0) from parquet_schema({path})")
    except duckdb.Error as error:
        raise unreadable(error, file.name) from error
    names = _top_level_names([(str(row[0]), int(str(row[1]))) for row in schema])
    return tuple(
        DeliveredColumn(name, quoted(str(row[0])), str(row[1])) for name, row in zip(names, described, strict=True)
    )


def _top_level_names(schema: Sequence[tuple[str, int]]) -> list[str]:
    """Return the names of the columns out of a schema in depth-first order, (name, children), root first."""
    names: list[str] = []
    pending = 0
    for name, children in schema[1:]:
        if pending == 0:
            names.append(name)
        else:
            pending -= 1
        pending += children
    return names


def _text(file: DeliveredFile, is_compressed: bool) -> IO[str]:
    """Open the start of a text file; a broken compression or encoding is SourceUnreadable."""
    try:
        if is_compressed:
            with gzip.open(file.path, "rb") as packed:
                start = packed.read(_FIRST_RECORD_BYTES)
        else:
            with file.path.open("rb") as plain:
                start = plain.read(_FIRST_RECORD_BYTES)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise SourceUnreadable("the file is truncated or not gzip", file=file.name, hint="deliver it again") from error
    except OSError as error:
        raise SourceUnreadable(f"the file cannot be read ({error.strerror})", file=file.name) from error
    cut = start if len(start) < _FIRST_RECORD_BYTES else start[: start.rfind(b"\n") + 1]
    try:
        return io.StringIO(cut.decode("utf-8-sig"), newline="")
    except UnicodeDecodeError as error:
        raise SourceUnreadable(f"the file is not UTF-8 (byte {error.start})", file=file.name) from error
