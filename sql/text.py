"""Text from a cloud, a tag or a file name, made fit to be shown to people.

Names are hostile: they carry terminal escapes, bidirectional overrides that reorder a line, characters that nobody
sees, and sixty kilobytes where a word was meant. Whatever prints, renders or logs such text passes it through here;
escaping for a medium (HTML, Slack) comes after.
"""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"

_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_INVISIBLE_LETTERS = frozenset("\u034f\u115f\u1160\u3164\uffa0")
_ZERO_WIDTH_JOINER = "\u200d"
_LONGEST_GRAPHEME = 32
_LAST_OF_BASIC_PLANE = 0xFFFF


def visible(text: str) -> str:
    r"""Return `text` with each control, bidirectional, zero-width or otherwise unseen character as `\uXXXX`.

    Line ends and tabs count as control characters, so the result is one line. Letters of every script, combining
    marks and emoji stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) if _is_unseen(character) else character for character in text)


def shortened(text: str, limit: int) -> str:
    """Return `text` in at most `limit` (>= 1) characters, cut between two graphemes with an ellipsis at the end."""
    if len(text) <= limit:
        return text
    end = limit - len(ELLIPSIS)
    # A name may be one letter under thousands of combining marks; that one is cut wherever it must be.
    floor = max(end - _LONGEST_GRAPHEME, 0)
    for cut in range(end, floor, -1):
        if not _joins(text, cut):
            return text[:cut] + ELLIPSIS
    return text[:end] + ELLIPSIS


def _is_unseen(character: str) -> bool:
    """Return whether `character` leaves no mark of its own, or moves others about."""
    return unicodedata.category(character) in _INVISIBLE_CATEGORIES or character in _INVISIBLE_LETTERS


def _escaped(character: str) -> str:
    """Return the character as a Python escape."""
    code = ord(character)
    return f"\\u{code:04X}" if code <= _LAST_OF_BASIC_PLANE else f"\\U{code:08X}"


def _joins(text: str, cut: int) -> bool:
    """Return whether `text[cut]` continues the grapheme before it.

    Source: Unicode UAX #29, rules GB6-GB13, as far as the standard library tells the properties.
    """
    character, before = text[cut], text[cut - 1]
    if unicodedata.category(character).startswith("M") or character == _ZERO_WIDTH_JOINER:
        return True
    if before == _ZERO_WIDTH_JOINER or "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    if "\u1160" <= character <= "\u11ff":
        return "\u1100" <= before <= "\u11ff"
    return _is_regional(character) and _regionals_before(text, cut) % 2 == 1


def _is_regional(character: str) -> bool:
    """Return whether the character is half of a flag."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regionals_before(text: str, cut: int) -> int:
    """Return how many halves of flags stand directly before `cut`."""
    start = cut
    while start > 0 and cut - start < _LONGEST_GRAPHEME and _is_regional(text[start - 1]):
        start -= 1
    return cut - start
