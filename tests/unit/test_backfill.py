"""Which months `--backfill` means."""

from __future__ import annotations

from datetime import date

import click
import pytest

from overrun.options import Months


def months(text: str) -> list[date]:
    return sorted(Months().convert(text, None, None))


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [
        ("2026-10", date(2026, 10, 1), 1),
        ("2026-10..2026-10", date(2026, 10, 1), 1),
        ("2025-11..2026-02", date(2025, 11, 1), 4),
        ("2024-01..2025-12", date(2024, 1, 1), 24),
    ],
)
def test_one_month_or_all_between_two(text: str, first: date, count: int) -> None:
    found = months(text)
    assert (found[0], len(found)) == (first, count)
    assert all(month.day == 1 for month in found)


@pytest.mark.parametrize(
    "text", ["", "2026", "2026-13", "2026-1", "2026-10-01", "2026-10..", "..2026-10", "2026-10..2026-09", "a..b"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no month, YYYY-MM"):
        months(text)
