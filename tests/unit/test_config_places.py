"""Lines of keys in TOML texts of every form."""

from __future__ import annotations

import pytest

from overrun.config_places import KeyPath, find_places, line_of

TEXT = '''# comment with [brackets] and = signs
title = "a # no comment"   # a comment

[warehouse]
path = """
[not.a.table]
key = 1 \\""" still
"""
raw = \'\'\'
[[nor.this]]\'\'\'

[[ source ]]
name = "a"
"quoted.key" = 1
\'lit\' = { inner = [1, 2,
  3], "x y".z = {} }
[source.deep]
when = 1979-05-27 07:32:00
[[source.list]]
a = 1
[[source.list]]
a = [
  # note
  "one",   # 1
  { b = 2 },
]
[[source]]
name = "b"
a.b.c = true
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("warehouse",), 4),
        (("warehouse", "path"), 5),
        (("warehouse", "raw"), 9),
        (("source",), 12),
        (("source", 0), 12),
        (("source", 0, "name"), 13),
        (("source", 0, "quoted.key"), 14),
        (("source", 0, "lit", "inner", 2), 16),
        (("source", 0, "lit", "x y", "z"), 16),
        (("source", 0, "deep"), 17),
        (("source", 0, "deep", "when"), 18),
        (("source", 0, "list", 1), 21),
        (("source", 0, "list", 1, "a", 0), 24),
        (("source", 0, "list", 1, "a", 1, "b"), 25),
        (("source", 1), 27),
        (("source", 1, "a", "b", "c"), 29),
        (("source", 1, "missing"), 27),
        (("nothing", "here"), 1),
    ],
)
def test_line_of(path: KeyPath, line: int) -> None:
    assert line_of(find_places(TEXT), path) == line


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", "a = 1", "a=1\n\n\n", 'a = """"""', "a = ''''''"])
def test_small_texts(text: str) -> None:
    assert line_of(find_places(text), ("a",)) == 1
