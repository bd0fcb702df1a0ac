"""The result of a query as a table, CSV or JSON.

Names from a cloud are hostile. In CSV, text that a spreadsheet would take for a formula gets an apostrophe before it;
numbers are never touched. On a terminal, unseen characters are escaped in every format. A table that people look at has
its long texts cut. JSON keeps money exact: a decimal is a string.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import TextIO

from overrun.terminal import print_table
from sql.text import shortened, visible

Rows = Iterator[Sequence[object]]
Writer = Callable[[Sequence[str], Rows, TextIO], None]

_FORMULA_STARTS = frozenset("=+-@＝＋－＠")  # noqa: RUF001 - spreadsheets take the full-width ones too
_CONTROL_STARTS = ("\t", "\r", "\n")
_QUOTED = frozenset('",\r\n')
_FEWEST_PLACES = 2
CELL_LIMIT = 80
"""Characters of a cell that a cut table shows."""


def write_table(columns: Sequence[str], rows: Rows, stream: TextIO) -> None:
    """Write an aligned table; decimals of a column lose the zeros at their end that all of them have."""
    held = [list(row) for row in rows]
    for index in range(len(columns)):
        _trim_places(held, index)
    cells = [[value if _is_number(value) else _plain(value) for value in row] for row in held]
    print_table(columns, cells, stream)


def write_cut_table(columns: Sequence[str], rows: Rows, stream: TextIO) -> None:
    """Write a table whose texts and column names are cut at CELL_LIMIT characters, with an ellipsis."""
    cut = ([value if value is None or _is_number(value) else _cut(value) for value in row] for row in rows)
    write_table([shortened(column, CELL_LIMIT) for column in columns], cut, stream)


def write_csv(columns: Sequence[str], rows: Rows, stream: TextIO) -> None:
    """Write CSV with a header; null is an empty cell, an empty text is `""`."""
    shown = visible if stream.isatty() else str
    stream.write(",".join(shown(_csv_cell(column)) for column in columns) + "\n")
    for row in rows:
        stream.write(",".join(shown(_csv_cell(value)) for value in row) + "\n")


def write_json(columns: Sequence[str], rows: Rows, stream: TextIO) -> None:
    """Write an array of objects, one per line."""
    names = _unique(columns)
    separator = "\n"
    stream.write("[")
    for row in rows:
        content = {name: json_value(value) for name, value in zip(names, row, strict=True)}
        stream.write(separator + json.dumps(content, ensure_ascii=stream.isatty()))
        separator = ",\n"
    stream.write("\n]\n" if separator != "\n" else "]\n")


def json_value(value: object) -> object:
    """Return a value of DuckDB as JSON can hold it without losing a digit."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(json_value(key)): json_value(item) for key, item in value.items()}
    return _text(value)


def guarded(text: str) -> str:
    """Return `text` with an apostrophe before it where a spreadsheet would take it for a formula."""
    is_formula = text.lstrip()[:1] in _FORMULA_STARTS or text.startswith(_CONTROL_STARTS)
    return f"'{text}" if text and is_formula else text


def _text(value: object) -> str:
    """Return the text of a value that has no form of its own in JSON: decimals, dates, bytes."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def _plain(value: object) -> object:
    """Return a value as a cell shows it: nested ones as JSON."""
    if value is None or isinstance(value, str | datetime):
        return value
    plain = json_value(value)
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, list | dict) else plain


def _cut(value: object) -> str:
    """Return a cell, escaped and cut; what is escaped already is not escaped again."""
    return shortened(visible(str(_plain(value))), CELL_LIMIT)


def _csv_cell(value: object) -> str:
    """Return one cell, quoted where it must be."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if _is_number(value):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    plain = json_value(value)
    text = guarded(plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False))
    is_quoted = not text or text != text.strip() or not _QUOTED.isdisjoint(text)
    return '"' + text.replace('"', '""') + '"' if is_quoted else text


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _trim_places(rows: list[list[object]], index: int) -> None:
    """Give the decimals of a column as many places as the longest of them needs, two at least."""
    decimals = [value for row in rows if isinstance(value := row[index], Decimal) and value.is_finite()]
    if not decimals:
        return
    places = max(len(f"{value:f}".partition(".")[2].rstrip("0")) for value in decimals)
    delivered = max(len(f"{value:f}".partition(".")[2]) for value in decimals)
    kept = min(max(places, _FEWEST_PLACES), delivered)
    for row in rows:
        value = row[index]
        if isinstance(value, Decimal):
            whole, point, fraction = f"{value:f}".partition(".")
            row[index] = Decimal(f"{whole}{point}{fraction[:kept]}" if kept else whole)


def _unique(columns: Sequence[str]) -> list[str]:
    """Return the names with a number behind those that came before, since an object has each key once."""
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names:
            name, number = f"{column}_{number}", number + 1
        names.append(name)
    return names


WRITERS: dict[str, Writer] = {"table": write_table, "csv": write_csv, "json": write_json}
