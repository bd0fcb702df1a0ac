"""Rows that must not become charges: one clear error with file, line and column, the last good month untouched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import LoadRefused
from tests.fakes.exports import (
    csv_text,
    cur_line,
    cur_lines,
    deliver_legacy,
    focus_charge,
    gcp_row,
    legacy_name,
    legacy_rows,
    without,
    write_csv,
    write_gcp,
    write_parquet,
    write_text,
)
from tests.ingest.night import Night, source

OCTOBER = date(2026, 10, 1)
HEADER = [legacy_name(name) for name in cur_line()]
CELLS = [str(value) for value in cur_line().values()]


def _good_night(night: Night, bucket: Path) -> Path:
    """Load a good October, and return where another payer's good October lies."""
    deliver_legacy(bucket, "2026-10", [cur_lines("1", "2")], assembly="20261001T000000Z")
    night.load(source(bucket))
    other = bucket.parent / "other"
    deliver_legacy(other, "2026-10", [cur_lines("100", payer="999999999999")])
    return other


def _refused(night: Night, bucket: Path, other: Path) -> LoadRefused:
    """Run a second night and see that nothing of October changed while the other source was loaded."""
    before = night.fingerprint()
    problem = night.refusal(source(bucket), source(other, name="other"))
    assert isinstance(problem, LoadRefused)
    assert (problem.source, problem.billing_month) == ("main", OCTOBER)
    assert night.fingerprint() == before
    assert night.billed("\"x_Source\" = 'other'") == 100
    return problem


def test_a_bad_value_in_a_required_column_leaves_the_last_good_month(night: Night, bucket: Path) -> None:
    other = _good_night(night, bucket)
    deliver_legacy(bucket, "2026-10", [cur_lines("1", "2", "ten")], assembly="20261002T000000Z")

    problem = _refused(night, bucket, other)

    assert problem.file == "ml-cur-00001.csv.gz"
    assert "row 3, column lineItem/UnblendedCost: 'ten'" in str(problem)


REFUSED = {
    "line_item_unblended_cost": ["ten", "1,50", "$1.50", "NaN", "inf", "-Infinity", "1e30", "9" * 27, "-", "1.5.1"],
    "line_item_usage_start_date": [
        "yesterday", "2026-02-30T00:00:00Z", "10/01/2026", "1790812800", "infinity", "-infinity", "epoch",
        "2026-10-01T25:00Z",
    ],
}  # fmt: skip


@pytest.mark.parametrize("column", REFUSED)
def test_a_value_that_does_not_convert_in_a_required_column_is_refused(night: Night, bucket: Path, column: str) -> None:
    for value in REFUSED[column]:
        place = bucket / value.replace("/", "_")
        deliver_legacy(place, "2026-10", [[cur_line(), cur_line(), cur_line() | {column: value}]])

    problems = night.refusals(*(source(bucket / value.replace("/", "_"), name=value) for value in REFUSED[column]))

    assert [value for value in REFUSED[column] if not isinstance(problems.get(value), LoadRefused)] == []
    for value, problem in problems.items():
        assert f"row 3, column {legacy_name(column)}: '{value}'" in str(problem)


def test_the_chunk_with_the_bad_value_is_named(night: Night, bucket: Path) -> None:
    other = _good_night(night, bucket)
    chunks = [cur_lines("1") for _ in range(5)]
    chunks[4] = cur_lines("ten")
    deliver_legacy(bucket, "2026-10", chunks, assembly="20261002T000000Z")

    problem = _refused(night, bucket, other)

    assert "ml-cur-00005.csv.gz" in str(problem)


FEW, MANY = CELLS[:-1], [*CELLS, "more"]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([CELLS, FEW], 3),
        ([CELLS, CELLS, MANY], 4),
        ([CELLS, ["alone"], CELLS], 3),
        ([CELLS, [*CELLS, ""]], 3),
        ([FEW], 2),
        ([MANY], 2),
    ],
    ids=["too few", "too many", "one field", "one empty field more", "only row too few", "only row too many"],
)
def test_a_row_with_too_few_or_too_many_fields_is_refused(
    night: Night, bucket: Path, rows: Sequence[Sequence[str]], line: int
) -> None:
    other = _good_night(night, bucket)
    [file] = deliver_legacy(bucket, "2026-10", [cur_lines("9", "9")], assembly="20261002T000000Z", suffix=".csv")
    write_text(file, csv_text(HEADER, rows))

    problem = _refused(night, bucket, other)

    assert f"line {line}" in str(problem)
    assert "ml-cur-00001.csv" in str(problem)


def test_every_row_longer_than_the_header_is_refused(night: Night, bucket: Path) -> None:
    write_text(bucket / "r.csv", csv_text(HEADER, [[*CELLS, ""]] * 50))

    problem = night.refusal(source(bucket, period="2026-10"))

    assert isinstance(problem, LoadRefused)
    assert night.rows("1") == []


def test_a_cell_too_many_is_not_hidden_by_an_empty_last_one(night: Night, bucket: Path) -> None:
    # An unquoted comma shifts every cell behind it; an empty last cell then stands where no column is.
    header = [*HEADER, "lineItem/Operation", "resourceTags/user:team"]
    write_text(
        bucket / "r.csv", csv_text(header, [[*CELLS, "Run", ""]]) + ",".join([*CELLS, "Run,Instances", ""]) + "\n"
    )

    problem = night.refusal(source(bucket, period="2026-10"))

    assert isinstance(problem, LoadRefused)
    assert "line 3" in str(problem)


def test_a_double_that_is_no_money_is_refused(night: Night, bucket: Path) -> None:
    import pyarrow as pa

    values = {"nan": float("nan"), "inf": float("inf"), "minus": float("-inf"), "large": 1e30, "negative": -1e26}
    for name, value in values.items():
        rows = [focus_charge() | {"BilledCost": 1.0}, focus_charge() | {"BilledCost": value}]
        write_parquet(bucket / name / "f.parquet", rows, {"BilledCost": pa.float64()})

    problems = night.refusals(*(source(bucket / name, "focus-export", name=name) for name in values))

    assert {name: type(problem) for name, problem in problems.items()} == dict.fromkeys(values, LoadRefused)
    for problem in problems.values():
        assert (problem.file, problem.billing_month) == ("f.parquet", OCTOBER)
        assert "row 2, column BilledCost" in str(problem)
    assert night.rows("1") == []


@pytest.mark.parametrize("kind", ["decimal128(38, 0)", "decimal256(60, 2)"])
def test_a_decimal_that_overflows_is_refused(night: Night, bucket: Path, kind: str) -> None:
    import pyarrow as pa

    types: dict[str, Any] = {"decimal128(38, 0)": pa.decimal128(38, 0), "decimal256(60, 2)": pa.decimal256(60, 2)}
    rows = [focus_charge() | {"BilledCost": Decimal(1)}, focus_charge() | {"BilledCost": Decimal(10) ** 30}]
    write_parquet(bucket / "f.parquet", rows, {"BilledCost": types[kind]})

    problem = night.refusal(source(bucket, "focus-export"))

    assert isinstance(problem, LoadRefused)
    assert night.rows("1") == []


def test_the_required_columns_of_a_focus_export_must_convert(night: Night, bucket: Path) -> None:
    bad = [
        ("BilledCost", "abc"),
        ("BilledCost", "NaN"),
        ("ChargePeriodStart", "soon"),
        ("ChargePeriodStart", "2026-13-01"),
    ]
    for number, (column, value) in enumerate(bad):
        write_csv(bucket / str(number) / "f.csv", [focus_charge(), focus_charge() | {column: value}])

    problems = night.refusals(*(source(bucket / str(number), "focus-export", name=str(number)) for number in range(4)))

    for number, (column, value) in enumerate(bad):
        problem = problems[str(number)]
        assert isinstance(problem, LoadRefused)
        assert (problem.file, problem.billing_month) == ("f.csv", OCTOBER)
        assert f"row 2, column {column}: '{value}'" in str(problem)


@pytest.mark.parametrize("file", ["r.ndjson", "r.csv"])
def test_the_required_columns_of_a_billing_export_must_convert(night: Night, bucket: Path, file: str) -> None:
    bad = [("cost", "abc"), ("cost", "NaN"), ("usage_start_time", "soon")]
    for number, (column, value) in enumerate(bad):
        write_gcp(bucket / str(number) / file, [gcp_row(), gcp_row() | {column: value}])

    problems = night.refusals(*(source(bucket / str(number), "gcp-export", name=str(number)) for number in range(3)))

    for number, (column, value) in enumerate(bad):
        problem = problems[str(number)]
        assert isinstance(problem, LoadRefused)
        assert (problem.file, problem.billing_month) == (file, OCTOBER)
        assert f"row 2, column {column}: '{value}'" in str(problem)


def test_a_bad_value_in_a_row_that_tells_no_other_month_is_not_lost(night: Night, bucket: Path) -> None:
    rows = [cur_line(), cur_line(start="soon")]
    write_csv(bucket / "r.csv", legacy_rows(without(rows, "bill_billing_period_start_date")))

    problem = night.refusal(source(bucket, period="from-rows"))

    assert isinstance(problem, LoadRefused)
    assert "soon" in str(problem)


def test_a_credit_that_is_no_number_is_refused(night: Night, bucket: Path) -> None:
    row = gcp_row(cost="10", credits=[("-1", "PROMOTION")])
    row["credits"][0]["amount"] = "abc"
    write_gcp(bucket / "r.ndjson", [row])

    problem = night.refusal(source(bucket, "gcp-export"))

    assert isinstance(problem, LoadRefused)
    assert "credits" in str(problem)


def test_credits_that_are_no_json_are_refused(night: Night, bucket: Path) -> None:
    texts = ["[{'amount': -1}]", '[{"amount": -1}', "none"]
    for number, text in enumerate(texts):
        write_gcp(
            bucket / str(number) / "r.csv", [gcp_row(cost="10") | {"credits": text, "billing_account_id": str(number)}]
        )

    problems = night.refusals(*(source(bucket / str(number), "gcp-export", name=str(number)) for number in range(3)))

    assert {name: type(problem) for name, problem in problems.items()} == dict.fromkeys("012", LoadRefused)
    assert all("credits" in str(problem) for problem in problems.values())


def test_rows_without_a_currency_are_refused_where_none_is_configured(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [without(cur_lines("1"), "line_item_currency_code")])

    problem = night.refusal(source(bucket))

    assert isinstance(problem, LoadRefused)
    assert "currency" in str(problem)
    assert 'currency = "USD"' in str(problem.hint)
    assert night.rows("1") == []


def test_one_row_without_a_currency_is_refused_where_none_is_configured(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [[cur_line(), cur_line(line_item_currency_code="")]])

    assert isinstance(night.refusal(source(bucket)), LoadRefused)


def test_the_configured_currency_stands_for_a_missing_one(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [[cur_line(line_item_currency_code="CNY"), cur_line(line_item_currency_code="")]])

    night.load(source(bucket, currency="EUR"))

    assert night.values("BillingCurrency") == ["CNY", "EUR"]


def test_rows_without_any_account_are_refused(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1", payer="", account="")])

    problem = night.refusal(source(bucket))

    assert isinstance(problem, LoadRefused)
    assert "billing account" in str(problem)


def test_rows_of_another_month_under_a_stated_period_are_refused(night: Night, bucket: Path) -> None:
    write_csv(bucket / "r.csv", legacy_rows([*cur_lines("1"), *cur_lines("2", month="2026-09")]))

    problem = night.refusal(source(bucket, period="2026-10"))

    assert isinstance(problem, LoadRefused)
    assert "1 rows are of another month than 2026-10" in str(problem)
    assert "r.csv" in str(problem)
    assert "from-rows" in str(problem.hint)


def test_rows_of_another_month_that_have_a_usage_date_alone_are_refused_too(night: Night, bucket: Path) -> None:
    rows = without(cur_lines("1", start="2026-09-02T00:00:00Z"), "bill_billing_period_start_date")
    write_csv(bucket / "r.csv", legacy_rows(rows))

    problem = night.refusal(source(bucket, period="2026-10"))

    assert isinstance(problem, LoadRefused)
    assert "another month" in str(problem)


def test_a_month_that_lost_more_than_half_its_rows_is_refused(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines(*["1"] * 10)], assembly="20261001T000000Z")
    night.load(source(bucket))
    before = night.fingerprint()
    deliver_legacy(bucket, "2026-10", [cur_lines(*["1"] * 4)], assembly="20261002T000000Z")

    problem = night.refusal(source(bucket))

    assert isinstance(problem, LoadRefused)
    assert "4 rows where 10 are loaded" in str(problem)
    assert "--accept-shrink" in str(problem.hint)
    assert night.fingerprint() == before

    report = night.run(source(bucket), accept_shrink=True)
    assert report.problems == []
    assert night.billed() == 4


def test_a_month_that_lost_half_its_rows_is_loaded(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines(*["1"] * 10)], assembly="20261001T000000Z")
    night.load(source(bucket))
    deliver_legacy(bucket, "2026-10", [cur_lines(*["1"] * 5)], assembly="20261002T000000Z")

    night.load(source(bucket))

    assert night.billed() == 5


def test_a_month_that_shrank_to_its_header_is_refused(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1")], assembly="20261001T000000Z")
    night.load(source(bucket))
    deliver_legacy(bucket, "2026-10", [[]], assembly="20261002T000000Z")

    assert isinstance(night.refusal(source(bucket)), LoadRefused)
    assert night.billed() == 1


def test_a_bad_month_does_not_stop_the_other_months(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-09", [cur_lines("ten", month="2026-09")])
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])

    problem = night.refusal(source(bucket))

    assert problem.billing_month == date(2026, 9, 1)
    assert night.billed() == 1


def test_a_refused_delivery_loads_once_it_is_put_right(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("ten")], assembly="20261001T000000Z")
    night.refusal(source(bucket))
    deliver_legacy(bucket, "2026-10", [cur_lines("10")], assembly="20261002T000000Z")

    night.load(source(bucket))

    assert night.billed() == 10
