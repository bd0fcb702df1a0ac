from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from sql.text import shortened, visible


def test_plain_words_of_every_script_stay() -> None:
    for text in ("vision", "Bild­erkennung".replace("­", ""), "画像認識", "मशीन", "🚀 rocket", "a & b <c>"):
        assert visible(text) == text


def test_what_hides_or_moves_text_is_shown() -> None:
    assert visible("\x1b[2J") == "\\u001B[2J"
    assert visible("x\r\nBcc: y\0") == "x\\u000D\\u000ABcc: y\\u0000"
    assert visible("pay\u202etxt\u2066") == "pay\\u202Etxt\\u2066"
    assert visible("a\u200bb\ufeffc\u00add\u3164") == "a\\u200Bb\\uFEFFc\\u00ADd\\u3164"
    assert visible("\x85\u2028\U000e0041\ud800") == "\\u0085\\u2028\\U000E0041\\uD800"


def test_a_long_text_ends_in_an_ellipsis() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"
    assert shortened("x" * 61_440, 80) == "x" * 79 + "…"


def test_a_cut_never_parts_a_grapheme() -> None:
    assert shortened("abcde\u0301fgh", 6) == "abcd…"
    assert shortened("ab👩\u200d💻cd", 5) == "ab…"
    assert shortened("ab👍🏽cd", 4) == "ab…"
    assert shortened("a🇩🇪🇫🇷b", 5) == "a🇩🇪…"
    assert shortened("\u1112\u1161\u11ab\u1112\u1161", 4) == "\u1112\u1161\u11ab…"
    assert shortened("e" + "\u0301" * 60_000, 80) == "e" + "\u0301" * 78 + "…"


@given(st.text(), st.integers(min_value=1, max_value=40))
@example("\u0301" * 50, 1)
def test_whatever_comes_is_short_and_shows_everything(text: str, limit: int) -> None:
    clean = visible(text)
    assert visible(clean) == clean
    assert "\n" not in clean
    assert len(shortened(clean, limit)) <= limit
