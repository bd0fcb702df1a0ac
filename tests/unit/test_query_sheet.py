"""`overrun query --output FILE.xlsx`: types, guarded text, and what a sheet cannot hold."""

from __future__ import annotations

import re
import zipfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from overrun import query_sheet
from overrun.cli import main
from overrun.exits import CommandFailed, Exit
from overrun.query_sheet import write_sheet
from tests.fakes.focus_house import write_house

Captured = pytest.CaptureFixture[str]
_CELL = re.compile(
    r'<c r="(\w+)"(?: s="(\d+)")?(?: t="(\w+)")?>(?:<v>(.*?)</v>|<is><t[^>]*>(.*?)</t></is>)</c>', re.DOTALL
)


def cells(file: Path) -> dict[str, tuple[str, str]]:
    """Return (type, content) of each cell; the type of numbers and days is empty."""
    with zipfile.ZipFile(file) as book:
        text = book.read("xl/worksheets/sheet1.xml").decode()
    return {name: (kind, value or inline) for name, _, kind, value, inline in _CELL.findall(text)}


def quoted_cells(file: Path) -> set[str]:
    """Return the cells whose style says that they are text, whatever they look like."""
    with zipfile.ZipFile(file) as book:
        styles = book.read("xl/styles.xml").decode()
        text = book.read("xl/worksheets/sheet1.xml").decode()
    applied = re.findall(r"<xf [^>]*>", styles.partition("<cellXfs")[2].partition("</cellXfs>")[0])
    quoted = {str(index) for index, style in enumerate(applied) if 'quotePrefix="1"' in style}
    return {name for name, style, *_ in _CELL.findall(text) if style in quoted}


def test_values_are_what_they_are(tmp_path: Path) -> None:
    file = tmp_path / "a.xlsx"
    row = ["vision", Decimal("12.5"), 3, 0.5, True, date(2026, 11, 1), datetime(2026, 11, 1, 6), None]  # noqa: DTZ001
    assert write_sheet([*"abcdefgh"], iter([row]), file) == 0
    found = cells(file)
    assert [found[f"{column}1"][1] for column in "ABCDEFGH"] == [*"abcdefgh"]
    assert found["A2"] == ("inlineStr", "vision")
    assert [found[f"{column}2"] for column in "BCD"] == [("", "12.5"), ("", "3"), ("", "0.5")]
    assert found["E2"] == ("b", "1")
    assert [found[f"{column}2"] for column in "FG"] == [("", "46327"), ("", "46327.25")]
    assert "H2" not in found


def test_what_excel_has_no_number_or_day_for_is_text(tmp_path: Path) -> None:
    file = tmp_path / "a.xlsx"
    row = [10**18, float("nan"), date(1899, 12, 31), datetime(2026, 1, 1, tzinfo=UTC), ["x", 1], b"\x01"]
    write_sheet([*"abcdef"], iter([row]), file)
    found = cells(file)
    assert {found[f"{column}2"][0] for column in "ABCDEF"} == {"inlineStr"}
    assert [found[f"{column}2"][1] for column in "ABC"] == ["1000000000000000000", "nan", "1899-12-31"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", '=HYPERLINK("http://x","y")', "\t=1", "＝1", "{=1}"])  # noqa: RUF001 - full width
def test_no_text_becomes_a_formula_or_a_link(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.xlsx"
    write_sheet([text], iter([[text], ["http://example.com"], ["plain"]]), file)
    with zipfile.ZipFile(file) as book:
        assert "<f>" not in book.read("xl/worksheets/sheet1.xml").decode()
        assert not [name for name in book.namelist() if "rels" in name and "sheet" in name]
    assert {kind for kind, _ in cells(file).values()} == {"inlineStr"}
    assert ({"A2"} & quoted_cells(file) == {"A2"}) is (text[0] != "{")
    assert "A1" in quoted_cells(file)
    assert not {"A3", "A4"} & quoted_cells(file)


def test_a_text_that_no_cell_holds_is_cut_and_told(tmp_path: Path) -> None:
    file = tmp_path / "a.xlsx"
    assert write_sheet(["a"], iter([["😀" * 20_000], ["x" * 32_767]]), file) == 1
    found = cells(file)
    assert found["A2"][1] == "😀" * 16_383 + "…"
    assert found["A3"][1] == "x" * 32_767


@pytest.mark.parametrize(("name", "limit"), [("ROWS_OF_SHEET", "3 rows"), ("COLUMNS_OF_SHEET", "3 columns")])
def test_more_than_a_sheet_holds(name: str, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_sheet, name, 3)
    with pytest.raises(CommandFailed, match=f"more than the {limit}"):
        write_sheet([*"abcd"], iter([[1, 2, 3, 4]] * 4), tmp_path / "a.xlsx")


def test_a_query_writes_a_workbook(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path)
    assert main(["nightly", "--config", str(config), "--as-of", "2026-11-20", "-q"]) == Exit.DONE
    ask = ["query", "--config", str(config)]
    target = tmp_path / "out" / "costs.xlsx"
    target.parent.mkdir()
    assert main([*ask, "select project, billed_cost from marts.monthly_cost", "--output", str(target)]) == Exit.DONE
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    assert ("", "37.5") in cells(target).values()
    assert main([*ask, "select repeat('x', 40000) as a", "--output", str(target)]) == Exit.DONE
    assert "1 texts were cut" in capsys.readouterr().err
    assert main([*ask, "from range(0)", "--output", str(target), "--limit", "1"]) == Exit.DONE
    assert cells(target) == {"A1": ("inlineStr", "range")}
    assert main([*ask, "select 1", "--format", "xlsx"]) == Exit.USAGE
    assert "xlsx is not for a terminal" in capsys.readouterr().err
