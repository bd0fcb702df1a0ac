"""Tables on a terminal: aligned, as wide as there is room, and safe whatever a cloud put into a name."""

from __future__ import annotations

import io
from decimal import Decimal

import pytest

from overrun.terminal import display_width, print_table


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def table(*rows: tuple[object, ...], columns: tuple[str, ...] = ("project", "cost"), width: int | None = None) -> str:
    stream = io.StringIO()
    print_table(columns, rows, stream, width=width)
    return stream.getvalue()


def test_texts_stand_left_and_numbers_right() -> None:
    rows = (("vision", Decimal("12.50")), ("a", Decimal("-1E+3")), (None, None))
    assert table(*rows) == "project   cost\nvision   12.50\na        -1000\n-            -\n"


def test_no_rows_print_the_header() -> None:
    assert table() == "project  cost\n"


def test_control_characters_are_shown() -> None:
    text = table(("\x1b[2J\x00\u202e\n", 1))
    assert text.count("\n") == 2
    assert "\\u001B[2J\\u0000\\u202E\\u000A" in text


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("", 0)])
def test_display_width(text: str, width: int) -> None:
    assert display_width(text) == width


def test_wide_letters_are_aligned() -> None:
    assert [display_width(line) for line in table(("日本", 1), ("ab", 2)).splitlines()] == [13, 13, 13]


def test_the_widest_text_gives_way_and_numbers_never() -> None:
    lines = table(("x" * 100, Decimal("123456789.12")), width=40).splitlines()
    assert all(display_width(line) <= 40 for line in lines)
    assert "…" in lines[1]
    assert lines[1].endswith("123456789.12")


def test_nothing_gives_way_beyond_what_can_be_read() -> None:
    assert table(("x" * 100, 1), width=5).splitlines()[1] == "x" * 7 + "…     1"


def test_a_terminal_sets_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    print_table(["a", "b"], [["x" * 50, "y" * 50]], stream)
    assert [len(line) for line in stream.getvalue().splitlines()][1] == 30


def test_a_pipe_gets_whole_texts() -> None:
    assert "x" * 500 in table(("x" * 500, 1))


def test_only_a_terminal_that_wants_it_gets_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    print_table(["a"], [["b"]], stream)
    assert stream.getvalue() == "\x1b[1ma\x1b[0m\nb\n"
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    print_table(["a"], [["b"]], plain)
    assert plain.getvalue() == "a\nb\n"
