"""A file of quantities that a split of shared costs goes by, such as GPU-hours of a cluster per project.

    date,project,quantity
    2026-10-01,vision,420.5
    2026-10,nlp,96

A date is a day or a month. Quantities of the same name and date add up. What is wrong with a line is told with its
number, of all lines at once.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from overrun.config_values import parse_label, parse_month
from overrun.exits import CommandFailed, Exit

if TYPE_CHECKING:
    from pathlib import Path

_QUANTITY = re.compile(r"\d{1,20}(?:\.\d{1,12})?", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_LARGEST_FILE = 50 * 1024 * 1024
_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """What `recipient` used in a month or on one day of it, in whatever unit the file has; 0 or more."""

    month: date
    day: date | None
    """None where the file gives the month."""
    recipient: str
    quantity: Decimal


def read_split_usage(path: Path, each: str, *, needs_days: bool = False) -> list[Quantity]:
    """Return the quantities of a file with a column `each`, which is project or team.

    With `needs_days`, a month instead of a day is refused. Raises CommandFailed that names each line that cannot be
    taken.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise _refused(f"{path} is larger than {_LARGEST_FILE} bytes", each)
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(_numbered_rows(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _refused(f"{path} cannot be read ({reason})", each) from error
    found: list[Quantity] = []
    problems: list[str] = []
    for line, cells in _under_header(rows, path, each):
        try:
            found.append(_quantity(cells, each, needs_days=needs_days))
        except ValueError as error:
            problems.append(f"{path}:{line}: {error}")
    if problems:
        more = [f"and {len(problems) - _MOST_PROBLEMS} more"] if len(problems) > _MOST_PROBLEMS else []
        raise _refused("\n".join([*problems[:_MOST_PROBLEMS], *more]), each)
    return _summed(found)


def _refused(message: str, each: str) -> CommandFailed:
    hint = f"the file is CSV in UTF-8 with the columns date, {each} and quantity"
    return CommandFailed(message, code=Exit.USAGE, hint=hint)


def _numbered_rows(file: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not empty with the number of the line on which it begins."""
    reader = csv.reader(file, strict=True)
    start = 1
    for row in reader:
        if any(cell.strip() for cell in row):
            yield start, [cell.strip() for cell in row]
        start = reader.line_num + 1


def _under_header(
    rows: list[tuple[int, list[str]]], path: Path, each: str
) -> Iterator[tuple[int, Mapping[str, str | None]]]:
    """Yield each row by column; a row of another length has None for what it lacks."""
    if not rows:
        raise _refused(f"{path} is empty", each)
    (number, header), *others = rows
    names = [cell.lower() for cell in header]
    missing = [name for name in ("date", each, "quantity") if name not in names]
    if missing or len(set(names)) < len(names):
        problem = f"no column {missing[0]}" if missing else "a column is named twice"
        raise _refused(f"{path}:{number}: {problem}", each)
    for line, row in others:
        is_whole = len(row) == len(names)
        yield line, dict(zip(names, row, strict=True)) if is_whole else dict.fromkeys(names)


def _quantity(cells: Mapping[str, str | None], each: str, *, needs_days: bool) -> Quantity:
    """Return the quantity of a row; raises ValueError."""
    day_text, recipient, amount = cells["date"], cells[each], cells["quantity"]
    if day_text is None or recipient is None or amount is None:
        raise ValueError("has another number of values than the header; quote what has a comma")
    day = _day(day_text, needs_days=needs_days)
    if not _QUANTITY.fullmatch(amount):
        raise ValueError("quantity must be a number from 0 on, like 420.5")
    try:
        parse_label(recipient)
        if recipient == "unattributed":
            raise ValueError("must be the name of one; unattributed costs bear nothing for others")
    except ValueError as error:
        raise ValueError(f"{each} {error}") from error
    month = day.replace(day=1) if day is not None else parse_month(day_text)
    return Quantity(month=month, day=day, recipient=recipient, quantity=Decimal(amount))


def _day(text: str, *, needs_days: bool) -> date | None:
    """Return the day of a date, None for a month; raises ValueError."""
    if not _DAY.fullmatch(text):
        if needs_days:
            raise ValueError('date must be a day, like 2026-10-01, for a split with over = "day"')
        try:
            parse_month(text)
        except ValueError as error:
            raise ValueError(
                f"date must be a month, like 2026-10, or a day, like 2026-10-01; {text} is neither"
            ) from error
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{text} is no day of the calendar") from error


def _summed(found: Iterable[Quantity]) -> list[Quantity]:
    sums: dict[tuple[date, date | None, str], Decimal] = {}
    for one in found:
        key = (one.month, one.day, one.recipient)
        sums[key] = sums.get(key, Decimal(0)) + one.quantity
    return [
        Quantity(month=month, day=day, recipient=recipient, quantity=quantity)
        for (month, day, recipient), quantity in sums.items()
    ]
