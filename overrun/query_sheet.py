"""The result of a query as an Excel workbook: one sheet, a header that stays in view, and a filter over it.

Numbers, days and instants are what they are, so that people can add them up; a spreadsheet keeps 15 digits of a number.
Text is text: what a spreadsheet would take for a formula when somebody edits the cell is marked as quoted, which leaves
the text itself as it is. Rows are written as they come, and not held in memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from overrun.exits import CommandFailed, Exit
from overrun.query_formats import Rows, guarded, json_value

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.workbook import Workbook
    from xlsxwriter.worksheet import Worksheet

ROWS_OF_SHEET = 1_048_575
"""Rows that a sheet holds below its header."""
COLUMNS_OF_SHEET = 16_384
TEXT_OF_CELL = 32_767
"""Length of the longest text of a cell [UTF-16 units]."""
_EXACT_INTEGER = 10**15
_FIRST_DAY = date(1900, 3, 1)
"""Before it, Excel counts a 29 February 1900."""
_ROWS_MEASURED = 200
_WIDEST, _NARROWEST = 50, 9


@dataclass(kw_only=True)
class _Sheet:
    """A sheet being written, and how many of its texts were cut."""

    page: Worksheet
    formats: dict[str, Format] = field(default_factory=dict)
    cut: int = 0


def write_sheet(columns: Sequence[str], rows: Rows, file: Path) -> int:
    """Write a workbook to `file` and return how many texts did not fit in their cell and were cut.

    Raises CommandFailed where the rows or columns are more than a sheet holds.
    """
    from xlsxwriter import Workbook

    if len(columns) > COLUMNS_OF_SHEET:
        raise _too_large(f"{COLUMNS_OF_SHEET:,} columns")
    first = list(islice(rows, _ROWS_MEASURED))
    with Workbook(str(file), {"constant_memory": True, "use_zip64": True}) as book:
        sheet = _Sheet(page=book.add_worksheet("result"), formats=_formats(book))
        for index, name in enumerate(columns):
            sheet.page.set_column(index, index, _width(name, [row[index] for row in first]))
            _write_text(sheet, 0, index, name, "header")
        sheet.page.freeze_panes(1, 0)
        count = _write_rows(sheet, chain(first, rows))
        sheet.page.autofilter(0, 0, count, max(len(columns) - 1, 0))
    return sheet.cut


def _formats(book: Workbook) -> dict[str, Format]:
    return {
        "header": book.add_format({"bold": True, "quote_prefix": True}),
        "quoted": book.add_format({"quote_prefix": True}),
        "decimal": book.add_format({"num_format": "#,##0.00"}),
        "date": book.add_format({"num_format": "yyyy-mm-dd"}),
        "datetime": book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
    }


def _write_rows(sheet: _Sheet, rows: Iterator[Sequence[object]]) -> int:
    """Write the rows below the header and return their number."""
    count = 0
    for count, row in enumerate(rows, start=1):
        if count > ROWS_OF_SHEET:
            raise _too_large(f"{ROWS_OF_SHEET:,} rows")
        for index, value in enumerate(row):
            if value is not None:
                _write_cell(sheet, count, index, value)
    return count


def _write_cell(sheet: _Sheet, row: int, column: int, value: object) -> None:
    """Write one value as what it is; what Excel has no number or day for as text."""
    page = sheet.page
    if isinstance(value, bool):
        page.write_boolean(row, column, value)
    elif isinstance(value, int | float | Decimal) and _is_number(value):
        shown = sheet.formats["decimal"] if isinstance(value, Decimal) else None
        page.write_number(row, column, float(value), shown)
    elif _is_day(value):
        page.write_datetime(row, column, value, sheet.formats["datetime" if isinstance(value, datetime) else "date"])
    else:
        plain = json_value(value)
        _write_text(sheet, row, column, plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False))


def _write_text(sheet: _Sheet, row: int, column: int, text: str, shown: str | None = None) -> None:
    """Write text that no spreadsheet takes for anything else."""
    units = text.encode("utf-16-le")
    if len(units) > 2 * TEXT_OF_CELL:
        text = units[: 2 * (TEXT_OF_CELL - 1)].decode("utf-16-le", errors="ignore") + "…"
        sheet.cut += 1
    named = shown or ("quoted" if guarded(text) != text else None)
    sheet.page.write_string(row, column, text, sheet.formats[named] if named else None)


def _is_number(value: float | Decimal) -> bool:
    """Return whether Excel has a number for `value`."""
    return abs(value) <= _EXACT_INTEGER if isinstance(value, int) else math.isfinite(value)


def _is_day(value: object) -> bool:
    """Return whether Excel has a day or instant for `value`."""
    if isinstance(value, datetime):
        return value.tzinfo is None and value.date() >= _FIRST_DAY
    return isinstance(value, date) and value >= _FIRST_DAY


def _width(name: str, values: Sequence[object]) -> int:
    """Return a column's width for its name and first values [characters]."""
    longest = max([len(name) + 3, *(len(_shown(value)) for value in values)])
    return min(max(longest + 1, _NARROWEST), _WIDEST)


def _shown(value: object) -> str:
    """Return about what a cell shows."""
    if value is None:
        return ""
    return f"{value:,.2f}" if isinstance(value, Decimal) and value.is_finite() else str(value)


def _too_large(limit: str) -> CommandFailed:
    return CommandFailed(
        f"the result has more than the {limit} of an Excel sheet",
        code=Exit.USAGE,
        hint="give --limit N, sum it up in the query, or write csv or parquet",
    )
