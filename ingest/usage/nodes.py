"""Lists of nodes as schedulers write them, taken apart: pure functions.

Source: Slurm documentation, scontrol, "show hostnames".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_NODES = 100_000
"""Nodes of one list at most: what names more is no list of nodes."""
_ITEM = re.compile(r"(?:[^,\[\]\s;]|\[[^\]]*\])+")
_BRACKET = re.compile(r"\[([^\]]*)\]")


def nodes_of(text: str) -> list[str]:
    """Return the nodes of `gpu[01-03,07],login1`, each once and in order."""
    found: dict[str, None] = {}
    for item in _ITEM.findall(text):
        for node in _expanded(item):
            found.setdefault(node)
            if len(found) >= MOST_NODES:
                return list(found)
    return list(found)


def _expanded(item: str) -> Iterator[str]:
    """Yield the nodes of one item, which may have several brackets."""
    bracket = _BRACKET.search(item)
    if bracket is None:
        yield item
        return
    for middle in _numbers(bracket[1]):
        for rest in _expanded(item[bracket.end() :]):
            yield f"{item[: bracket.start()]}{middle}{rest}"


def _numbers(text: str) -> Iterator[str]:
    """Yield the numbers of `01-03,07`, as wide as they are written; what is no range stands for itself."""
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if dash and first.isdecimal() and last.isdecimal() and int(last) - int(first) < MOST_NODES:
            for number in range(int(first), int(last) + 1):
                yield str(number).zfill(len(first))
        else:
            yield part
