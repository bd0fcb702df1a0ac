"""CSV files: their header, how DuckDB is to read them, and the line of the file that a row stands on.

Nothing is left for DuckDB to guess: what it takes for a comment or another delimiter depends on the first rows.
Source: RFC 4180.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, TextIO

from ingest.delivery import DeliveredFile
from ingest.errors import IngestError, LoadRefused, SourceUnreadable
from ingest.explain import explained
from sql.warehouse import literal

if TYPE_CHECKING:
    import duckdb

_ERROR_LINE = re.compile(r"(?<=CSV Error on Line: )\d+")
_MIXED_ENDS = "CSV Parser state machine reached an invalid state"


def header_of(file: DeliveredFile) -> list[str]:
    """Return the names of the columns in lower case; one without a name is named by its place."""
    with _opened(file) as stream:
        try:
            header = next(csv.reader(stream, strict=True), [])
        except csv.Error as error:
            raise LoadRefused(f"line 1: the header cannot be read ({error})", file=file.name) from error
    if not any(name.strip() for name in header):
        raise LoadRefused("line 1: the header is empty", file=file.name, hint="the first line names the columns")
    return [name.strip().lower() or f"column {place}" for place, name in enumerate(header, start=1)]


def csv_reader(file: DeliveredFile, names: list[str]) -> str:
    """Return the table function call that reads a file with these columns, all text."""
    declared = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    compression = "gzip" if _is_gzip(file) else "none"
    return (
        f"read_csv({literal(str(file.path))}, auto_detect = false, header = true, skip = 0, columns = {{{declared}}},"
        " delim = ',', quote = '\"', escape = '\"', comment = '', nullstr = '', null_padding = false,"
        " strict_mode = true, ignore_errors = false, normalize_names = false, hive_partitioning = false,"
        f" encoding = 'utf-8', compression = '{compression}')"
    )


def line_of_record(file: DeliveredFile, number: int, *, is_blank_counted: bool) -> int:
    """Return the line on which a record begins, the header being record 1; blank lines are records or are none."""
    record, is_open = 0, False
    with _opened(file) as stream:
        for line_number, line in enumerate(stream, start=1):
            if not is_open and (is_blank_counted or line.strip("\r\n")):
                record += 1
                if record == number:
                    return line_number
            is_open ^= line.count('"') % 2 == 1
    return number


def csv_explained(error: duckdb.Error, file: DeliveredFile) -> IngestError:
    """Return the error for what DuckDB said; it counts a record with line breaks in quotes as one line."""
    text = str(error)
    odd = _odd_end(file) if _MIXED_ENDS in text else None
    if odd is not None:
        return LoadRefused(
            f"line {odd} ends with another line break than the first",
            file=file.name,
            hint="write every line break alike; the last good version stays loaded",
        )
    found = _ERROR_LINE.search(text)
    if found is None:
        return explained(error, file.name)
    line = line_of_record(file, int(found[0]), is_blank_counted=True)
    return explained(type(error)(_ERROR_LINE.sub(str(line), text)), file.name)


def _odd_end(file: DeliveredFile) -> int | None:
    """Return the first line whose line break is another than that of the first, or None."""
    with _opened(file) as stream:
        ends = (line[len(line.rstrip("\r\n")) :] for line in stream)
        first = next(ends, "")
        return next((number for number, end in zip(count(2), ends, strict=False) if end and end != first), None)


def _is_gzip(file: DeliveredFile) -> bool:
    return file.name.lower().endswith(".gz")


@contextmanager
def _opened(file: DeliveredFile) -> Iterator[TextIO]:
    """Open a file as text, its line breaks as they are; what is no UTF-8 is DuckDB's to refuse, with its line."""
    try:
        if _is_gzip(file):
            with gzip.open(file.path, "rt", encoding="utf-8-sig", errors="replace", newline="") as stream:
                yield stream
        else:
            with file.path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
                yield stream
    except (OSError, EOFError, zlib.error) as error:
        raise SourceUnreadable("the file cannot be read", file=file.name, hint="deliver it again") from error
