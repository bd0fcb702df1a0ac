"""Whether every row of a CSV file has as many fields as its header.

DuckDB refuses a row with too few fields or with a filled extra one, but drops an extra field that is empty: an unquoted
comma in a description then shifts the rest of the row unseen. The scan therefore reads rows padded by one column and
counts those that do not fit. Where it finds some, or cannot pad since there are line breaks within quotes, delimiters
outside quotes are counted here: per file they must be (columns - 1) x rows. Only where they are not is the file read
field by field, to name the row.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from typing import BinaryIO, cast

from ingest.delivery import DeliveredFile
from ingest.errors import LoadRefused
from ingest.formats import MAX_LINE_BYTES, FileShape

_CHUNK_BYTES = 1 << 20
_OTHERS = bytes(set(range(256)) - set(b'",\n'))
"""Bytes that do not matter to the count; without them the rest is short."""


def refuse_uneven_rows(file: DeliveredFile, shape: FileShape) -> None:
    """Raise LoadRefused, naming the row, where a row of a CSV file has more or fewer fields than its header."""
    width = len(shape.columns)
    with _opened(file, shape) as stream:
        commas, lines = _count(stream)
    if commas != (width - 1) * lines:
        _refuse_first(file, shape, width)


def _refuse_first(file: DeliveredFile, shape: FileShape, width: int) -> None:
    """Read field by field and refuse the first row that does not fit; blank lines do not count."""
    limit = csv.field_size_limit(MAX_LINE_BYTES)
    try:
        with _opened(file, shape) as stream:
            reader = csv.reader(_decoded(stream))
            for fields in reader:
                if fields and len(fields) != width:
                    raise LoadRefused(
                        f"line {reader.line_num}: expected {width} fields, found {len(fields)}",
                        file=file.name,
                        hint="a comma in a text must stand in quotes; deliver the file again",
                    )
    except csv.Error as error:
        raise LoadRefused(f"the file is not CSV ({error})", file=file.name, hint="deliver it again") from error
    finally:
        csv.field_size_limit(limit)


def _count(stream: BinaryIO) -> tuple[int, int]:
    """Return the commas and the lines outside quotes; a doubled quote inside quotes closes and opens them again."""
    commas = lines = 0
    is_quoted = False
    last = b"\n"
    while chunk := stream.read(_CHUNK_BYTES):
        pieces = chunk.translate(None, _OTHERS).split(b'"')
        outside = b"".join(pieces[is_quoted::2])
        commas += outside.count(b",")
        lines += outside.count(b"\n")
        is_quoted ^= len(pieces) % 2 == 0
        last = chunk[-1:]
    return commas, lines + (last != b"\n")


def _opened(file: DeliveredFile, shape: FileShape) -> BinaryIO:
    """Open a file for its bytes, unpacked."""
    return cast("BinaryIO", gzip.open(file.path, "rb")) if shape.is_compressed else file.path.open("rb")


def _decoded(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a file as text; it was seen to be UTF-8 by now, or the load fails by itself."""
    for line in stream:
        yield line.decode("utf-8", "replace")
