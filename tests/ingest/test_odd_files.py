"""Files that are odd but whole: loaded, and counted in the ledger where something was decided for the reader."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from ingest.source import SourceKind
from tests.fakes.exports import (
    csv_text,
    cur_line,
    cur_lines,
    deliver_legacy,
    focus_charge,
    legacy_name,
    legacy_rows,
    write_csv,
    write_text,
)
from tests.ingest.night import Night, source

HEADER = [legacy_name(name) for name in cur_line()]
CELLS = list(cur_line().values())


def test_a_delivery_of_headers_alone_is_a_month_of_no_rows(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [[]])

    [load] = night.load(source(bucket)).loaded

    assert (load.rows_read, load.rows_loaded, load.delivery.billing_month) == (0, 0, date(2026, 10, 1))
    assert night.warehouse.row("select is_current, rows_loaded from ops.load") == (True, 0)
    assert night.rows("1") == []


def test_a_chunk_of_headers_alone_stands_beside_full_ones(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), [], cur_lines("2")])

    night.load(source(bucket))

    assert night.values("BilledCost") == [1, 2]
    assert night.values("x_RowNumber") == [1, 2]


@pytest.mark.parametrize("kind", ["focus-export", "aws-export"])
def test_a_loose_file_of_headers_alone_goes_with_the_newest_month(night: Night, bucket: Path, kind: SourceKind) -> None:
    rows = [focus_charge(cost="1", month="2026-09"), focus_charge(cost="2")]
    if kind == "aws-export":
        rows = [cur_line(cost="1", month="2026-09"), cur_line(cost="2")]
    write_csv(bucket / "a.csv", rows)
    write_csv(bucket / "b.csv", [], header=list(rows[0]))

    night.load(source(bucket, kind, period="from-rows"))

    assert night.warehouse.rows("select billing_month, files, rows_loaded from ops.load order by 1") == [
        (date(2026, 9, 1), 1, 1),
        (date(2026, 10, 1), 2, 1),
    ]


@pytest.mark.parametrize("period", ["2026-10", "from-rows"])
def test_a_loose_file_of_headers_alone_by_itself_is_no_problem(night: Night, bucket: Path, period: str) -> None:
    write_csv(bucket / "a.csv", [], header=HEADER)

    night.load(source(bucket, period=period))

    assert night.rows("1") == []


def test_headers_that_differ_in_case_only_are_both_kept(night: Night, bucket: Path) -> None:
    header = [*HEADER, "product/Region", "product/region", "resourceTags/user:A", "resourceTags/user:a"]
    write_text(
        bucket / "r.csv", csv_text(header, [[*CELLS, "", "eu-west-1", "1", "2"], [*CELLS, "eu-west-2", "", "", "3"]])
    )

    night.load(source(bucket, period="2026-10"))

    assert night.values("RegionId") == ["eu-west-1", "eu-west-2"]
    assert night.tags() == {("A", "1"), ("a", "2"), ("a", "3")}


def test_identical_headers_give_the_first_value_that_is_there(night: Night, bucket: Path) -> None:
    twice = ["lineItem/Operation", "resourceTags/user:team"] * 2
    rows = [[*CELLS, "Run", "vision", "Stop", "speech"], [*CELLS, "", "", "Stop", "speech"]]
    write_text(bucket / "r.csv", csv_text([*HEADER, *twice], rows))

    night.load(source(bucket, period="2026-10"))

    assert night.values("x_Operation") == ["Run", "Stop"]
    assert night.tags() == {("team", "vision"), ("team", "speech")}


def test_a_blank_header_cell_is_counted(night: Night, bucket: Path) -> None:
    write_text(bucket / "r.csv", csv_text([*HEADER, "", "lineItem/Operation"], [[*CELLS, "?", "Run"]]))

    night.load(source(bucket, period="2026-10"))

    assert night.values("x_Operation") == ["Run"]
    assert night.counts()["blank header cell", ""] == 1


def test_a_column_of_nobody_is_counted_by_name(night: Night, bucket: Path) -> None:
    write_csv(bucket / "r.csv", legacy_rows([cur_line(**{"acme/CostCentre": "4711"})]))

    night.load(source(bucket, period="2026-10"))

    assert night.counts() == {("unknown column, not loaded", "acme/CostCentre"): 1}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False], ids=["ends", "cut"])
def test_line_ends_and_byte_order_marks_make_no_difference(
    night: Night, bucket: Path, line_end: str, mark: str, *, last: bool
) -> None:
    text = csv_text([*HEADER, "lineItem/Operation"], [[*CELLS, "Run"], [*CELLS, "Stop"]], line_end=line_end)
    write_text(bucket / "r.csv", mark + (text if last else text.removesuffix(line_end)))

    night.load(source(bucket, period="2026-10"))

    assert night.values("x_Operation") == ["Run", "Stop"]
    assert night.values("BillingAccountId") == ["111111111111"] * 2
    assert night.counts() == {}


def test_a_byte_order_mark_before_a_quoted_header_hides_nothing(night: Night, bucket: Path) -> None:
    header = ",".join(f'"{name}"' for name in ["resourceTags/user:a,b", *HEADER])
    write_text(bucket / "r.csv", "\ufeff" + header + "\n" + ",".join(["x", *CELLS]) + "\n")

    night.load(source(bucket, period="2026-10"))

    assert night.tags() == {("a,b", "x")}
    assert night.billed() == 1


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_quoted_cell_may_run_over_lines(night: Night, bucket: Path, line_end: str) -> None:
    words = f'first{line_end}second, with comma and "quotes"'
    header = [*HEADER, "lineItem/LineItemDescription", "lineItem/Operation"]
    write_text(
        bucket / "r.csv", csv_text(header, [[*CELLS, words, "Run"], [*CELLS, "plain", "Stop"]], line_end=line_end)
    )

    night.load(source(bucket, period="2026-10"))

    assert night.values("ChargeDescription") == [words, "plain"]
    assert night.values("x_Operation") == ["Run", "Stop"]


def test_a_header_may_run_over_lines(night: Night, bucket: Path) -> None:
    write_text(bucket / "r.csv", csv_text(["resourceTags/user:a\nb", *HEADER], [["x", *CELLS], ["y", *CELLS]]))

    night.load(source(bucket, period="2026-10"))

    assert night.tags() == {("a\nb", "x"), ("a\nb", "y")}
    assert night.values("BilledCost") == [1, 1]


def test_an_escaped_and_a_doubled_quote_are_told_apart(night: Night, bucket: Path) -> None:
    row = ",".join([*CELLS, '"say ""no"" \\"'])
    write_text(bucket / "r.csv", ",".join([*HEADER, "lineItem/LineItemDescription"]) + "\n" + row + "\n")

    night.load(source(bucket, period="2026-10"))

    assert night.values("ChargeDescription") == ['say "no" \\']


def test_a_compressed_file_may_be_of_several_members(night: Night, bucket: Path) -> None:
    first, second = (
        write_csv(bucket / "1.gz", legacy_rows([cur_line(cost="1")])),
        write_text(bucket / "2.gz", ",".join(CELLS) + "\n"),
    )
    (bucket / "r.csv.gz").write_bytes(first.read_bytes() + second.read_bytes())
    first.unlink()
    second.unlink()

    night.load(source(bucket, period="2026-10"))

    assert night.values("BilledCost") == [1, 1]


def test_two_chunks_of_one_name_in_two_folders_are_both_landed(night: Night, bucket: Path) -> None:
    write_csv(bucket / "a" / "r.csv", [focus_charge(cost="1")])
    write_csv(bucket / "b" / "r.csv", [focus_charge(cost="2")])

    night.load(source(bucket, "focus-export"))

    assert night.values("BilledCost") == [1, 2]


def test_hidden_files_and_other_formats_are_passed_over(night: Night, bucket: Path) -> None:
    write_csv(bucket / "a.csv", [focus_charge(cost="1")])
    write_csv(bucket / ".b.csv", [focus_charge(cost="2")])
    write_text(bucket / "README.md", "hello")

    report = night.load(source(bucket, "focus-export"))

    assert night.billed() == 1
    assert report.passed_over == {"main": ["README.md"]}
