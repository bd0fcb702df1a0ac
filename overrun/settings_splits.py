"""Splits of shared costs as rows of `settings.split*`; the files that splits by usage go by are read here."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

from overrun.config import Condition, Split
from overrun.config_values import is_glob, like_pattern
from overrun.split_usage import read_split_usage

Row = tuple[object, ...]

_NAMES = frozenset({"project", "team", "cost_centre"})
"""Dimensions that sharing changes."""


def split_rows(splits: tuple[Split, ...]) -> dict[str, list[Row]]:
    """Return the rows by table; raises CommandFailed for a file of quantities that cannot be taken."""
    numbered = list(enumerate(splits, start=1))
    return {
        "settings.split": [_split(number, split) for number, split in numbered],
        "settings.split_condition": [
            row
            for number, split in numbered
            for part, conditions in (("share", split.share), ("of", split.of))
            for row in _conditions(number, part, conditions)
        ],
        "settings.split_recipient": [
            (number, like_pattern(glob), None if is_glob(glob) else glob, weight)
            for number, split in numbered
            for glob, weight in split.recipients
        ],
        "settings.split_usage": [row for number, split in numbered for row in _quantities(number, split)],
    }


def splits_version(tables: Mapping[str, Sequence[Row]], month: date) -> str:
    """Return a hash of all that says how costs of a month are shared; empty where no split is in force.

    `tables` are those of `split_rows`, from the configuration or as they were read from `settings`.
    """
    in_force = sorted(row for row in tables["settings.split"] if _is_in_force(row, month))
    if not in_force:
        return ""
    places = {row[0]: place for place, row in enumerate(in_force, start=1)}
    lines = [f"{places[row[0]]} {row[1:-2]}" for row in in_force]
    for name in ("settings.split_condition", "settings.split_recipient", "settings.split_usage"):
        lines += sorted(
            f"{name} {places[row[0]]} {[_plain(value) for value in row[1:]]}"
            for row in tables[name]
            if row[0] in places and (name != "settings.split_usage" or row[1] == month)
        )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _is_in_force(split: Row, month: date) -> bool:
    first, end = split[-2:]
    return (not isinstance(first, date) or first <= month) and (not isinstance(end, date) or month < end)


def _plain(value: object) -> str:
    """Return a value as text that is the same whether it was written or read."""
    return f"{value.normalize():f}" if isinstance(value, Decimal) else repr(value)


def _split(number: int, split: Split) -> Row:
    names = sum(condition.subject in _NAMES for condition in split.share)
    return (
        number,
        split.name,
        split.method,
        split.each,
        bool(split.recipients),
        split.is_daily,
        names,
        len(split.share) - names,
        len(split.of),
        split.from_month,
        split.until_month,
    )


def _conditions(number: int, part: str, conditions: tuple[Condition, ...]) -> list[Row]:
    return [
        (number, part, condition.subject, like_pattern(glob))
        for condition in conditions
        for glob in dict.fromkeys(condition.globs)
    ]


def _quantities(number: int, split: Split) -> list[Row]:
    if split.usage_file is None:
        return []
    return [
        (number, one.month, one.day, one.recipient, one.quantity)
        for one in read_split_usage(split.usage_file, split.each, needs_days=split.is_daily)
    ]
