"""DuckDB's words about a file that cannot be read, as one clear error that names file and line."""

from __future__ import annotations

import re

import duckdb

from ingest.errors import IngestError, LoadRefused, SourceUnreadable

_CSV_LINE = re.compile(r"CSV Error on Line: (?P<line>\d+)")
_CSV_FILE = re.compile(r"file\s*=\s*(?P<file>\S+)")
_REASONS = ("Expected", "Value with", "Invalid")


def explained(error: duckdb.Error, files: str) -> IngestError:
    """Return the error for what DuckDB said while it read `files`; one that is no file's fault is raised again."""
    text = str(error)
    file = _CSV_FILE.search(text)
    name = file["file"].rsplit("/", 1)[-1] if file else files
    if isinstance(error, duckdb.OutOfMemoryException):
        return LoadRefused(
            "there is not enough memory to read it",
            file=name,
            hint="raise memory_limit in [warehouse], or make room for temp_directory",
        )
    return _explained(error, text, name)


def unreadable(error: duckdb.Error, file: str | None) -> SourceUnreadable:
    """Return DuckDB's refusal to read a file as one clear error."""
    first_line = str(error).split("\n", 1)[0]
    return SourceUnreadable(
        f"the file is truncated or corrupt ({first_line})",
        file=file,
        hint="deliver it again; the last good version stays loaded",
    )


def _explained(error: duckdb.Error, text: str, name: str) -> IngestError:
    line = _CSV_LINE.search(text)
    if line:
        reason = next((part for part in text.split("\n")[1:] if part.startswith(_REASONS)), "")
        return LoadRefused(
            f"line {line['line']}: {reason.strip() or 'the row does not fit the header'}",
            file=name,
            hint="the last good version stays loaded; deliver the file again",
        )
    if isinstance(error, duckdb.ConversionException | duckdb.InvalidInputException):
        said = text.split("\n", 1)[0].removeprefix("Invalid Input Error: ")
        return LoadRefused(said, file=name, hint="the last good version stays loaded")
    if isinstance(error, duckdb.IOException):
        return unreadable(error, name)
    raise error
