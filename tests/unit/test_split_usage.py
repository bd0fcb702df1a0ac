"""Files of quantities that splits go by."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from overrun.exits import CommandFailed, Exit
from overrun.split_usage import Quantity, read_split_usage

HEADER = "date,project,quantity\n"


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "hours.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_days_and_months_are_read_and_the_same_added_up(tmp_path: Path) -> None:
    lines = [
        "\ufeffQuantity,Project,Date,note",
        "420.5,vision,2026-10-01,",
        "",
        "1,vision,2026-10-01,late",
        "96,nlp,2026-10,",
    ]
    text = "\r\n".join(lines)

    found = read_split_usage(written(tmp_path, text), "project")

    month = date(2026, 10, 1)
    assert found == [
        Quantity(month=month, day=month, recipient="vision", quantity=Decimal("421.5")),
        Quantity(month=month, day=None, recipient="nlp", quantity=Decimal(96)),
    ]


def test_a_header_alone_is_no_quantity(tmp_path: Path) -> None:
    assert read_split_usage(written(tmp_path, HEADER), "project") == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("date,quantity\n", ":1: no column project"),
        ("date,project,quantity,date\n", ":1: a column is named twice"),
        (HEADER + "2026-10-01,vision,-1\n", ":2: quantity must be a number from 0 on"),
        (HEADER + "2026-10-01,vision,nan\n", ":2: quantity must be a number from 0 on"),
        (HEADER + "2026-10-01,vision,1e3\n", ":2: quantity must be"),
        (HEADER + '2026-10-01,vision,"1,5"\n', ":2: quantity must be"),
        (HEADER + "2026-10-01,vision,1,5\n", ":2: has another number of values than the header"),
        (HEADER + "2026-02-30,vision,1\n", ":2: 2026-02-30 is no day of the calendar"),
        (HEADER + "01.10.2026,vision,1\n", ":2: date must be a month, like 2026-10, or a day"),
        (HEADER + "2026-10,unattributed,1\n", ":2: project must be the name of one"),
        (HEADER + "2026-10-01,,1\n", ":2: project must be a printable name"),
        (HEADER + '2026-10-01,"vision,1\n', "cannot be read"),
        (b"date,project,quantity\n2026-10,\xff,1\n", "cannot be read"),
    ],
)
def test_what_cannot_be_taken_is_told_with_its_line(tmp_path: Path, text: str | bytes, problem: str) -> None:
    with pytest.raises(CommandFailed, match=problem) as raised:
        read_split_usage(written(tmp_path, text), "project")

    assert raised.value.code == Exit.USAGE
    assert raised.value.hint == "the file is CSV in UTF-8 with the columns date, project and quantity"


def test_every_bad_line_is_told_at_once_but_no_more_than_twenty(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed) as raised:
        read_split_usage(written(tmp_path, HEADER + "x,vision,1\n" * 25), "project")

    lines = str(raised.value).splitlines()
    assert (len(lines), lines[-1]) == (21, "and 5 more")


def test_a_split_by_days_needs_days(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="date must be a day"):
        read_split_usage(written(tmp_path, HEADER + "2026-10,vision,1\n"), "project", needs_days=True)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="No such file"):
        read_split_usage(tmp_path / "none.csv", "team")
