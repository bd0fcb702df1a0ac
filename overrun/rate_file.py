"""The file of exchange rates that `[currency]` names: a dated rate, and who says so, on each line.

    date,from,to,rate,source
    2026-10-01,EUR,USD,1.0834,ECB

1 unit of `from` is worth `rate` units of `to`. Columns may stand in any order, others are passed over. What is wrong is
told with its line and column, of all lines at once, as problems of the configuration: nothing is loaded or built then.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from sys import intern

from overrun.config_problems import ConfigError, Problem, shown_value
from overrun.config_values import parse_currency

COLUMNS = ("date", "from", "to", "rate", "source")
"""Header of the file."""
_FIRST_LINE = f"its first line must be {','.join(COLUMNS)}"
_DAY = re.compile(r"[12]\d{3}-\d\d-\d\d", re.ASCII)
_RATE = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_MOST_DECIMALS = 12
_MOST_DIGITS = 6
_LONGEST_SOURCE = 200
_LARGEST_FILE = 20 * 1024 * 1024
_MOST_PROBLEMS = 20
_DIFFERENT_VALUES = 1024
"""A central bank's whole history is 300,000 lines of few days, currencies and sources, each judged and kept once."""
_FARTHEST_APART = Decimal("0.05")
"""How far a pair and its inverse on the same day may be from agreeing; two banks differ by much less, swapped columns
by more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenRate:
    """One line: on `day`, 1 unit of `from_currency` is worth `rate` units of `to_currency`, says `source`."""

    line: int
    day: date
    from_currency: str
    to_currency: str
    rate: Decimal
    """Exact as written."""
    source: str


def read_rate_file(path: Path) -> tuple[WrittenRate, ...]:
    """Return the rates of a file, a repeated line once; raises ConfigError that names each line and column."""
    rows = _numbered_rows(_text(path), path)
    header = _header(rows, path)
    found: list[WrittenRate] = []
    problems: list[Problem] = []
    for line, cells in rows:
        rate = _read_line(line, cells, header, path)
        if isinstance(rate, WrittenRate):
            found.append(rate)
        else:
            problems += rate
    unique, contradictions = _without_repetitions(found, path)
    _refuse([*problems, *contradictions, *_contrary_inverses(unique, path)])
    return tuple(unique.values())


def _refuse(problems: list[Problem]) -> None:
    """Raise ConfigError where there is any problem."""
    if len(problems) > _MOST_PROBLEMS:
        more = Problem(place="", key="", message=f"and {len(problems) - _MOST_PROBLEMS} more in the file of rates")
        problems = [*problems[:_MOST_PROBLEMS], more]
    if problems:
        raise ConfigError(problems)


def _unreadable(path: Path, message: str, hint: str, line: int | None = None) -> ConfigError:
    """Return the error of a file that cannot be read line by line."""
    place = str(path) if line is None else f"{path}:{line}"
    return ConfigError([Problem(place=place, key="currency.rates", message=message, hint=hint)])


def _text(path: Path) -> str:
    """Return the text of the file, without a byte order mark."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise _unreadable(path, f"is larger than {_LARGEST_FILE} bytes", "keep the days and pairs that are needed")
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise _unreadable(
            path, "there is no such file", "correct rates in [currency], or put the file there"
        ) from error
    except OSError as error:
        raise _unreadable(path, f"cannot be read ({error.strerror})", "name a readable file of rates") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _unreadable(path, "is not UTF-8 text", "save it as CSV in UTF-8", line) from error


def _numbered_rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not empty with the number of the line on which it begins."""
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    start = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield start, [cell.strip() for cell in row]
            start = reader.line_num + 1
    except csv.Error as error:
        raise _unreadable(path, f"is no CSV ({error})", "close each quote that is opened", start) from error


def _header(rows: Iterator[tuple[int, list[str]]], path: Path) -> list[str]:
    """Return the names of the columns, each of COLUMNS among them once."""
    line, cells = next(rows, (1, []))
    if not cells:
        raise _unreadable(path, "is empty", _FIRST_LINE)
    names = [cell.lower() for cell in cells]
    missing = [name for name in COLUMNS if name not in names]
    if missing and len(cells) == 1 and ";" in cells[0]:
        raise _unreadable(path, "parts its columns by semicolons", f"part them by commas; {_FIRST_LINE}", line)
    if missing:
        raise _unreadable(path, f"has no column {missing[0]}", _FIRST_LINE, line)
    repeated = [name for name in COLUMNS if names.count(name) > 1]
    if repeated:
        raise _unreadable(path, f"has two columns {repeated[0]}", _FIRST_LINE, line)
    return names


def _read_line(line: int, cells: list[str], header: list[str], path: Path) -> WrittenRate | list[Problem]:
    """Return the rate of a row, or what is wrong with it."""
    place = f"{path}:{line}"
    if len(cells) != len(header):
        message = f"{len(cells)} values under {len(header)} columns"
        return [Problem(place=place, key="", message=message, hint="quote what has a comma; a rate has a point")]
    named = dict(zip(header, cells, strict=True))
    problems = [
        Problem(place=place, key=name, message=fault)
        for name, check in _CHECKS.items()
        if (fault := check(named[name])) is not None
    ]
    if not problems and named["from"] == named["to"]:
        problems = [Problem(place=place, key="to", message=f"{named['to']} is the currency of from, too")]
    return problems or WrittenRate(
        line=line,
        day=_day_of(named["date"]),
        from_currency=intern(named["from"]),
        to_currency=intern(named["to"]),
        rate=Decimal(named["rate"]),
        source=intern(named["source"]),
    )


@lru_cache(_DIFFERENT_VALUES)
def _day_of(text: str) -> date:
    return date.fromisoformat(text)


@lru_cache(_DIFFERENT_VALUES)
def _fault_of_day(text: str) -> str | None:
    if _DAY.fullmatch(text):
        try:
            date.fromisoformat(text)
        except ValueError:
            return f"{shown_value(text)} is no day of the calendar"
        return None
    return f"{shown_value(text)} must be a day, YYYY-MM-DD"


@lru_cache(_DIFFERENT_VALUES)
def _fault_of_currency(text: str) -> str | None:
    try:
        parse_currency(text)
    except ValueError as error:
        return f"{shown_value(text)} {error}"
    return None


def _fault_of_rate(text: str) -> str | None:
    shown = shown_value(text)
    if "," in text:
        return f"{shown} has a comma: write a point before decimals, and nothing between thousands"
    if not _RATE.fullmatch(text):
        is_negative = text.startswith("-") and _RATE.fullmatch(text[1:])
        return f"{shown} must be {'more than zero' if is_negative else 'a plain decimal number, like 1.0834'}"
    whole, _, decimals = text.partition(".")
    if len(decimals) > _MOST_DECIMALS:
        return f"{shown} has more than {_MOST_DECIMALS} decimals"
    if len(whole.lstrip("0")) > _MOST_DIGITS:
        return f"{shown} is a million or more: write the pair the other way round"
    return None if Decimal(text) > 0 else f"{shown} must be more than zero"


@lru_cache(_DIFFERENT_VALUES)
def _fault_of_source(text: str) -> str | None:
    if not text:
        return "is empty: say whose rate it is, like ECB"
    if len(text) > _LONGEST_SOURCE or not text.isprintable():
        return f"must be a printable text of {_LONGEST_SOURCE} characters at most"
    return None


_CHECKS: Mapping[str, Callable[[str], str | None]] = {
    "date": _fault_of_day,
    "from": _fault_of_currency,
    "to": _fault_of_currency,
    "rate": _fault_of_rate,
    "source": _fault_of_source,
}
"""What may be wrong with the value of each column."""

_Key = tuple[date, str, str]


def _without_repetitions(rates: Iterable[WrittenRate], path: Path) -> tuple[dict[_Key, WrittenRate], list[Problem]]:
    """Return the first line of each day and pair, and the lines that say otherwise."""
    first: dict[_Key, WrittenRate] = {}
    problems = []
    for rate in rates:
        known = first.setdefault((rate.day, rate.from_currency, rate.to_currency), rate)
        if known.rate != rate.rate:
            message = f"{_pair(rate)} stands on line {known.line} with another rate, {known.rate:f}"
            problems.append(Problem(place=f"{path}:{rate.line}", key="rate", message=message))
    return first, problems


def _contrary_inverses(rates: Mapping[_Key, WrittenRate], path: Path) -> Iterator[Problem]:
    """Yield the lines that contradict the inverse of their pair on the same day."""
    for (day, from_currency, to_currency), rate in rates.items():
        inverse = rates.get((day, to_currency, from_currency))
        if inverse is None or inverse.line > rate.line or abs(rate.rate * inverse.rate - 1) <= _FARTHEST_APART:
            continue
        message = f"{_pair(rate)} contradicts {_pair(inverse)} of the day, {inverse.rate:f} on line {inverse.line}"
        hint = "1 of from is worth rate of to"
        yield Problem(place=f"{path}:{rate.line}", key="rate", message=message, hint=hint)


def _pair(rate: WrittenRate) -> str:
    return f"{rate.from_currency} to {rate.to_currency}"
