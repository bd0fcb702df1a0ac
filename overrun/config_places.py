"""Where each key of a TOML text stands, so that an error can name the line.

`tomllib` gives values without positions. This scanner walks a text that `tomllib` has already accepted, so it may
trust the grammar and only has to keep track of where it is.

Source: TOML 1.0, https://toml.io/en/v1.0.0.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the root: ("budget", 0, "limit", "currency")."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' r"'''.*?'{3,5}|" r'"(?:\\.|[^"\\\n])*"|' r"'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]*|[^\s,\]}#]+")


def find_places(text: str) -> dict[KeyPath, int]:
    """Return the line, from 1, of every table, key and list element of a valid TOML text."""
    return _Scanner(text).scan()


def line_of(places: Mapping[KeyPath, int], path: KeyPath) -> int:
    """Return the line of `path`, or of the nearest table around it; 1 where nothing is known."""
    while path and path not in places:
        path = path[:-1]
    return places.get(path, 1)


class _Scanner:
    """One walk over one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line_starts = [match.end() for match in re.finditer("\n", text)]
        self._places: dict[KeyPath, int] = {}
        self._last_index: dict[KeyPath, int] = {}

    def scan(self) -> dict[KeyPath, int]:
        """Walk headers and keys to the end of the text."""
        table: KeyPath = ()
        self._skip(_BLANK)
        while self._at < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._read_header()
            else:
                self._read_pair(table)
            self._skip(_BLANK)
        return self._places

    def _line(self) -> int:
        return bisect_right(self._line_starts, self._at) + 1

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            return ""
        self._at = match.end()
        return match.group()

    def _read_header(self) -> KeyPath:
        """Read `[a.b]` or `[[a.b]]` and return the path that the keys below it belong to."""
        line = self._line()
        brackets = 2 if self._text.startswith("[[", self._at) else 1
        self._at += brackets
        *outer, last = self._read_key()
        path: KeyPath = ()
        for key in outer:
            path = (*path, key)
            if path in self._last_index:
                path = (*path, self._last_index[path])
        path = (*path, last)
        self._places.setdefault(path, line)
        if brackets == 2:
            self._last_index[path] = self._last_index.get(path, -1) + 1
            path = (*path, self._last_index[path])
            self._places[path] = line
        self._at += brackets
        return path

    def _read_key(self) -> list[str]:
        """Read a bare, quoted or dotted key."""
        parts: list[str] = []
        while True:
            self._skip(_SPACE)
            bare = self._skip(_BARE_KEY)
            parts.append(bare or _unquoted(self._skip(_STRING)))
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                return parts
            self._at += 1

    def _read_pair(self, table: KeyPath) -> None:
        """Read `key = value`; a dotted key also places the tables that it implies."""
        line = self._line()
        path = table
        for key in self._read_key():
            path = (*path, key)
            self._places.setdefault(path, line)
        self._at += 1
        self._skip(_SPACE)
        self._read_value(path)

    def _read_value(self, path: KeyPath) -> None:
        opening = self._text[self._at]
        if opening == "[":
            self._read_list(path)
        elif opening == "{":
            self._read_inline_table(path)
        elif opening in "\"'":
            self._skip(_STRING)
        else:
            self._skip(_SCALAR)

    def _read_list(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while not self._is_closed_by("]"):
            self._places[(*path, index)] = self._line()
            self._read_value((*path, index))
            index += 1
            self._skip_comma()

    def _read_inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while not self._is_closed_by("}"):
            self._read_pair(path)
            self._skip_comma()

    def _is_closed_by(self, bracket: str) -> bool:
        self._skip(_BLANK)
        if not self._text.startswith(bracket, self._at):
            return False
        self._at += 1
        return True

    def _skip_comma(self) -> None:
        self._skip(_BLANK)
        if self._text.startswith(",", self._at):
            self._at += 1


def _unquoted(token: str) -> str:
    """Return the key that a quoted token stands for."""
    return next(iter(tomllib.loads(f"{token} = 0")))
