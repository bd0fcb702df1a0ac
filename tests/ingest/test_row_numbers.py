"""x_RowNumber is the position of a row in its delivery; with x_LoadId it is the key of a charge."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from tests.fakes.exports import (
    Row,
    cur_line,
    cur_lines,
    deliver_export,
    deliver_legacy,
    focus_charge,
    gcp_row,
    legacy_rows,
    write_csv,
    write_gcp,
    write_parquet,
)
from tests.ingest.night import Night, source


def chunks_of(sizes: Sequence[int]) -> list[list[Row]]:
    """Return chunks of lines whose cost is their position in the delivery."""
    position = 0
    chunks = []
    for size in sizes:
        chunks.append([cur_line(cost=str(position + number)) for number in range(1, size + 1)])
        position += size
    return chunks


def assert_in_place(night: Night, rows: int) -> None:
    """See that each row stands where its cost says, and that the key is one."""
    assert night.rows('"x_RowNumber", "BilledCost"', order="1") == [
        (number, Decimal(number)) for number in range(1, rows + 1)
    ]
    assert_unique(night)


def assert_unique(night: Night) -> None:
    """See that no two charges have the same load and row number."""
    assert (
        night.warehouse.rows(
            'select "x_LoadId", "x_RowNumber", count(*) from focus.cost_and_usage group by all having count(*) > 1'
        )
        == []
    )


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".snappy.parquet"])
def test_rows_are_numbered_through_all_chunks(night: Night, bucket: Path, suffix: str) -> None:
    deliver_export(bucket, "2026-10", chunks_of([3, 1, 4, 1, 5, 9, 2, 6]), suffix=suffix)

    night.load(source(bucket))

    assert_in_place(night, 31)


def test_rows_are_numbered_through_many_chunks_of_many_rows(night: Night, bucket: Path) -> None:
    deliver_export(bucket, "2026-10", chunks_of([7000, 1, 5000, 6000]), suffix=".csv")

    night.load(source(bucket))

    assert_in_place(night, 18_001)


def test_rows_are_numbered_through_row_groups_of_parquet(night: Night, bucket: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, start, size in (("a", 1, 5000), ("b", 5001, 3000)):
        rows = [focus_charge() | {"BilledCost": float(start + number)} for number in range(size)]
        pq.write_table(pa.Table.from_pylist(rows), bucket / f"{name}.parquet", row_group_size=1000)

    night.load(source(bucket, "focus-export"))

    assert_in_place(night, 8000)


def test_rows_are_numbered_through_lines_of_json(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "a.ndjson", [gcp_row(cost=str(number)) for number in range(1, 4)])
    write_gcp(bucket / "b.ndjson", [gcp_row(cost=str(number)) for number in range(4, 9)])

    night.load(source(bucket, "gcp-export"))

    assert_in_place(night, 8)


def test_chunks_of_several_shapes_are_numbered_without_a_clash(night: Night, bucket: Path) -> None:
    first, second, third, fourth = chunks_of([2, 3, 2, 4])
    with_region = [line | {"product_region": "eu-west-1"} for line in second]
    deliver_legacy(
        bucket, "2026-10", [first, with_region, third, [line | {"product_region": "us-east-1"} for line in fourth]]
    )

    night.load(source(bucket))

    numbers = night.values("x_RowNumber")
    assert sorted(map(str, numbers), key=int) == [str(number) for number in range(1, 12)]
    assert_unique(night)


def test_files_of_several_formats_are_numbered_without_a_clash(night: Night, bucket: Path) -> None:
    write_csv(bucket / "a.csv", [focus_charge(cost=str(number)) for number in (1, 2, 3)])
    write_parquet(bucket / "b.parquet", [focus_charge(cost=str(number)) for number in (4, 5)])
    write_csv(bucket / "c.csv.gz", [focus_charge(cost=str(number)) for number in (6, 7, 8, 9)])

    night.load(source(bucket, "focus-export"))

    assert_in_place(night, 9)


def test_the_rows_of_one_month_among_others_keep_their_place_in_the_file(night: Night, bucket: Path) -> None:
    months = ["2026-09", "2026-10", "2026-09", "2026-10", "2026-11"]
    write_csv(
        bucket / "a.csv", [focus_charge(cost=str(number), month=month) for number, month in enumerate(months, start=1)]
    )

    night.load(source(bucket, "focus-export"))

    assert night.rows('"x_BillingMonth", "x_RowNumber", "BilledCost"') == [
        (date(2026, 9, 1), 1, 1),
        (date(2026, 9, 1), 3, 3),
        (date(2026, 10, 1), 2, 2),
        (date(2026, 10, 1), 4, 4),
        (date(2026, 11, 1), 5, 5),
    ]


def test_the_rows_of_one_month_in_files_of_several_shapes_do_not_clash(night: Night, bucket: Path) -> None:
    write_csv(bucket / "a.csv", [focus_charge(month="2026-09"), focus_charge(month="2026-09"), focus_charge()])
    write_csv(bucket / "b.csv", [focus_charge(x_Operation="Run") for _ in range(4)])
    write_parquet(bucket / "c.parquet", [focus_charge(month="2026-09"), focus_charge(), focus_charge()])

    night.load(source(bucket, "focus-export"))

    assert night.warehouse.value("select count(*) from focus.cost_and_usage") == 10
    assert_unique(night)


def test_a_residual_of_negations_does_not_clash_with_rows_of_its_month(night: Night, bucket: Path) -> None:
    rows = [
        *cur_lines("1", "1", month="2026-09"),
        *cur_lines("1", "1"),
        cur_line(cost="-3", item="SavingsPlanNegation"),
    ]
    write_csv(bucket / "r.csv", legacy_rows(rows))

    night.load(source(bucket, period="from-rows"))

    assert night.billed("\"x_BillingMonth\" = date '2026-10-01'") == -1
    assert_unique(night)


def test_identical_rows_are_all_kept(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", [gcp_row(cost="1")] * 3)

    night.load(source(bucket, "gcp-export"))

    assert night.billed() == 3
    assert_unique(night)
