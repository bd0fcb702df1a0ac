"""What people read on a terminal: plain aligned tables, in which no text from a cloud can move the cursor.

Tables are narrowed to the terminal's width, never when the output is a file or a pipe. The only decoration is a bold
header on a terminal, left out under NO_COLOR (https://no-color.org) and TERM=dumb.
"""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TextIO

from sql.text import ELLIPSIS, visible

GAP = "  "
UNKNOWN = "-"
"""How a missing value is shown."""
_NARROWEST_COLUMN = 8
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def size_text(count: int) -> str:
    """Return `1.5 GB` for a number of bytes."""
    amount, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def display_width(text: str) -> int:
    """Return how many terminal cells `text` takes: two for wide East Asian letters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(_cell_width(character) for character in text)


def _cell_width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clipped(text: str, width: int) -> str:
    """Return `text` in at most `width` cells, with an ellipsis where something was cut off."""
    if display_width(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += _cell_width(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + ELLIPSIS


def shown(value: object) -> str:
    """Return a value as one safe line: control characters escaped, decimals without exponent, nothing as a dash."""
    if value is None:
        return UNKNOWN
    if isinstance(value, Decimal):
        return f"{value:f}"
    return visible(str(value))


def is_decorated(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether escape sequences may be written to `stream`."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], stream: TextIO, *, width: int | None = None
) -> None:
    """Print `rows` under `columns` to `stream`; columns that hold only numbers stand to the right.

    `width` [cells] is the terminal's where `stream` is one, else unlimited; the widest text columns give way first.
    """
    cells = [[shown(value) for value in row] for row in rows]
    header = [visible(column) for column in columns]
    rightward = [_is_numeric([row[index] for row in rows]) for index in range(len(columns))]
    widths = [max(map(display_width, column)) for column in zip(header, *cells, strict=True)]
    if width is None and stream.isatty():
        width = shutil.get_terminal_size().columns
    if width is not None:
        widths = _narrowed(widths, rightward, width)
    first = _line(header, widths, rightward)
    stream.write(f"{_BOLD}{first}{_PLAIN}\n" if is_decorated(stream, os.environ) else f"{first}\n")
    stream.writelines(f"{_line(row, widths, rightward)}\n" for row in cells)


def _is_numeric(values: Sequence[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float | Decimal) for value in known)


def _narrowed(widths: list[int], rightward: list[bool], width: int) -> list[int]:
    """Take cells from the widest text column, one by one, until the line fits or nothing can give way."""
    narrowed = list(widths)
    excess = sum(narrowed) + len(GAP) * (len(narrowed) - 1) - width
    for _ in range(max(excess, 0)):
        texts = [index for index, is_number in enumerate(rightward) if not is_number]
        widest = max(texts, key=narrowed.__getitem__, default=None)
        if widest is None or narrowed[widest] <= _NARROWEST_COLUMN:
            break
        narrowed[widest] -= 1
    return narrowed


def _line(cells: Sequence[str], widths: Sequence[int], rightward: Sequence[bool]) -> str:
    padded = []
    for cell, width, is_number in zip(cells, widths, rightward, strict=True):
        text = cell if is_number else clipped(cell, width)
        padding = " " * (width - display_width(text))
        padded.append(padding + text if is_number else text + padding)
    return GAP.join(padded).rstrip()
