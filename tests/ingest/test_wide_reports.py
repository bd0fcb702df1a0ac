"""Reports with a column for each of a thousand tag keys, as large organisations have them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fakes.exports import (
    Row,
    csv_text,
    cur_line,
    deliver_legacy,
    header_of,
    legacy_rows,
    write_cur,
    write_parquet,
    write_text,
)
from tests.ingest.night import Night, source

KEYS = [f"key-{number:04d}" for number in range(1400)]


def line(number: int) -> Row:
    """Return a line that fills ten of the keys, one of them with a value that needs escaping."""
    filled = {f"resourceTags/user:{key}": f'value "{number}"\\' for key in KEYS[number::140]}
    return cur_line(cost=str(number + 1), **filled)


def wide_text(lines: list[Row], header: list[str]) -> str:
    """Return lines as CSV under a header of every key; an empty cell now quoted, now not."""
    rows = [[str(row.get(name, "")) for name in header] for row in legacy_rows(lines)]
    return csv_text(header, rows).replace(",,", ',"",', 50)


def test_ten_of_fourteen_hundred_tag_columns_are_the_tags_of_a_row(night: Night, bucket: Path) -> None:
    lines = [line(number) for number in range(20)]
    header = [*header_of(legacy_rows([cur_line()])), *(f"resourceTags/user:{key}" for key in KEYS)]
    [path] = deliver_legacy(bucket, "2026-10", [lines])
    write_text(path, wide_text(lines, header))

    night.load(source(bucket))

    assert night.values("BilledCost") == list(range(1, 21))
    expected = [dict.fromkeys(KEYS[number::140], f'value "{number}"\\') for number in range(20)]
    assert [json.loads(str(text)) for text in night.values("Tags")] == expected
    assert len(night.tags()) == 200


def test_an_empty_text_in_a_tag_column_of_parquet_is_no_tag(night: Night, bucket: Path) -> None:
    tags = {"resource_tags_user_team": "", "resource_tags_user_env": "prod"}
    write_parquet(bucket / "wide.parquet", [cur_line(**tags), cur_line(**dict.fromkeys(tags, ""))])

    night.load(source(bucket, period="2026-10"))

    assert night.values("Tags") == ['{"env":"prod"}', None]


def test_a_loose_wide_report_is_split_by_month_like_a_narrow_one(night: Night, bucket: Path) -> None:
    lines = [line(0), line(1) | {"bill_billing_period_start_date": "2026-09-01T00:00:00Z"}]
    write_cur(bucket / "wide.csv.gz", lines)

    night.load(source(bucket, period="from-rows"))

    assert night.rows('"x_BillingMonth"::varchar, "BilledCost"', order="1") == [("2026-09-01", 2), ("2026-10-01", 1)]
    assert all(night.values("Tags"))
