"""Every independent sample export loads, and its BilledCost is what Python's own csv and pyarrow add up to."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import SourceUnreadable
from ingest.source import SourceKind
from tests.ingest.night import Night, rounded, source

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
NISE = "aws/nise/bucket"
NEGATION, COVERED = "SavingsPlanNegation", "SavingsPlanCoveredUsage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One sample export, and what is known of it."""

    kind: SourceKind
    place: str
    export_kind: str
    rows: int
    billed: str
    settings: tuple[tuple[str, str], ...] = ()


SAMPLES = (
    Sample(
        kind="aws-export", place="aws/legacy_cur_aws_sample.csv", export_kind="legacy-cur", rows=1281,
        billed="1.6823086974", settings=(("period", "from-rows"),),
    ),
    Sample(
        kind="aws-export", place="aws/aws-cur-anonymize_sample-cur20.csv", export_kind="legacy-cur", rows=4,
        billed="0.0652", settings=(("period", "from-rows"), ("currency", "USD")),
    ),
    Sample(
        kind="aws-export", place="aws/aws-cur-anonymize_sample-legacy-csv.csv", export_kind="legacy-cur", rows=4,
        billed="0.0652", settings=(("period", "from-rows"), ("currency", "USD")),
    ),
    Sample(
        kind="focus-export", place="focus/official_1.0_1000.csv", export_kind="focus", rows=1000,
        billed="20.52022672899",
    ),
    Sample(
        kind="focus-export", place="focus/toolkit_1.2_aws_1000.csv", export_kind="focus", rows=1000,
        billed="18857.124623679044",
    ),
    Sample(
        kind="focus-export", place="focus/toolkit_1.2_gcp_1000.csv", export_kind="focus", rows=1000,
        billed="31758.210633880786",
    ),
    Sample(
        kind="focus-export", place="focus/toolkit_1.2_aws_20000.parquet", export_kind="focus", rows=20000,
        billed="444881.808800657671",
    ),
    Sample(
        kind="focus-export", place="focus/toolkit_1.2_gcp_20000.parquet", export_kind="focus", rows=20000,
        billed="568734.624221664232",
    ),
    Sample(
        kind="gcp-export", place="gcp/detailed_50rows.ndjson", export_kind="gcp-detailed", rows=50, billed="118.5",
    ),
    Sample(
        kind="gcp-export", place="gcp/bq_export_formats/p-000000000000.parquet", export_kind="gcp-detailed", rows=1200,
        billed="6144",
    ),
    Sample(
        kind="gcp-export", place="gcp/nise_standard_202610.csv.gz", export_kind="gcp-standard", rows=8928,
        billed="38.225096183952",
    ),
    Sample(
        kind="gcp-export", place="gcp/nise_resource_202610.csv.gz", export_kind="gcp-detailed", rows=5472,
        billed="22.912315585056",
    ),
)  # fmt: skip


def delivered_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a sample with Python's own readers, numbers of JSON as Decimal."""
    if path.name.endswith(".parquet"):
        import pyarrow.parquet as pq

        yield from pq.read_table(path).to_pylist()
    elif path.name.endswith(".ndjson"):
        with path.open(encoding="utf-8") as lines:
            yield from (json.loads(line, parse_float=Decimal) for line in lines)
    else:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        yield from csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))


def delivered_cost(row: dict[str, Any]) -> Decimal:
    """Return what a row bills: its cost, and the credits of a Cloud Billing row."""
    for name in ("lineItem/UnblendedCost", "line_item_unblended_cost", "BilledCost"):
        if name in row:
            return rounded(None if row[name] == "NULL" else row[name])
    credits = row["credits"]
    if isinstance(credits, str):
        credits = json.loads(credits or "[]", parse_float=Decimal)
    return rounded(row["cost"]) + sum((rounded(credit["amount"]) for credit in credits or []), Decimal(0))


def known(name: str) -> Path:
    """Return the sample file or folder, or skip."""
    if not SHARED.is_dir():
        pytest.skip(f"the independent sample exports ({SHARED}) are not on this machine")
    return SHARED / name


def test_every_sample_export_is_tested() -> None:
    known("")
    listed = {sample.place for sample in SAMPLES}
    listed |= {str(path.relative_to(SHARED)) for path in (SHARED / NISE).rglob("*.csv.gz")}
    listed.add("gcp/bq_export_formats/p-000000000000.csv")
    data = {
        str(path.relative_to(SHARED))
        for cloud in ("aws", "gcp", "focus")
        for path in (SHARED / cloud).rglob("*")
        if path.name.endswith((".csv", ".gz", ".parquet", ".json", ".ndjson")) and "synthetic" not in path.parts
    }
    assert {name for name in data if not name.endswith("Manifest.json")} == listed


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.place for sample in SAMPLES])
def test_a_sample_export_loads_to_the_last_decimal(night: Night, sample: Sample) -> None:
    path = known(sample.place)
    costs = [delivered_cost(row) for row in delivered_rows(path)]

    report = night.load(source(path, sample.kind, **dict(sample.settings)))

    assert len(costs) == sample.rows
    assert sum(costs) == Decimal(sample.billed)
    assert night.billed() == sum(costs)
    assert {load.export_kind for load in report.loaded} == {sample.export_kind}
    assert sum(load.rows_read for load in report.loaded) == len(costs)
    assert sum(load.rows_loaded for load in report.loaded) == len(costs)
    assert night.warehouse.rows("select * from ops.load_total where delivered_cost <> billed_cost") == []
    # Row by row, not only in sum: a month takes some of the rows, each keeps its place in the file.
    rows = night.rows('"x_RowNumber", "BilledCost"', order='"x_RowNumber"')
    assert rows == list(enumerate(costs, start=1))


NISE_MONTHS = {
    date(2026, 8, 1): ("August-2026-ml-cur.csv.gz", 4464, 528, 528, "24501.8864000184"),
    date(2026, 9, 1): ("September-2026-ml-cur.csv.gz", 1968, 456, 456, "23619.6053333184"),
    date(2026, 10, 1): ("October-2026-ml-cur.csv.gz", 720, 0, 0, "23596.272"),
}
"""File, rows, negations, covered lines and cost of each month."""


def test_three_months_of_a_report_with_savings_plans_load(night: Night) -> None:
    report = night.load(source(known(NISE)))

    assert [load.delivery.billing_month for load in report.loaded] == list(NISE_MONTHS)
    for load in report.loaded:
        name, rows, negations, covered, billed = NISE_MONTHS[load.delivery.billing_month]
        [path] = (SHARED / NISE).rglob(name)
        lines = list(delivered_rows(path))
        kept = [line for line in lines if line["lineItem/LineItemType"] != NEGATION]
        of_month = f"\"x_BillingMonth\" = date '{load.delivery.billing_month}'"

        assert len(lines) == rows
        assert len(lines) - len(kept) == negations
        assert [line["lineItem/LineItemType"] for line in kept].count(COVERED) == covered
        # The negations cancel what the covered lines show, so that the sum is that of all lines.
        assert sum(map(delivered_cost, lines)) == Decimal(billed) == night.billed(of_month)
        expected = [Decimal(0) if line["lineItem/LineItemType"] == COVERED else delivered_cost(line) for line in kept]
        assert night.values("BilledCost", of_month) == expected
        assert (load.rows_read, load.rows_loaded) == (rows, len(kept))
        assert {count.rows for count in load.counts if count.effect == "dropped"} == (
            {negations} if negations else set()
        )


def test_words_in_numeric_columns_of_a_sample_are_counted(night: Night) -> None:
    night.load(source(known(NISE)))

    rule = "value does not convert, read as null"
    assert {subject for name, subject in night.counts() if name == rule} == {
        "pricing_public_on_demand_cost",
        "pricing_public_on_demand_rate",
    }


def test_the_totals_that_are_published_with_the_samples(night: Night) -> None:
    night.load(source(known("aws/legacy_cur_aws_sample.csv"), name="aws", period="from-rows"))
    night.load(source(known("focus/official_1.0_1000.csv"), "focus-export", name="focus"))

    aws = night.rows('"x_LineItemType", count(*)', order="1", where="\"x_Source\" = 'aws' group by all")
    assert aws == [("Tax", 12), ("Usage", 1269)]
    assert round(night.billed("\"x_Source\" = 'aws'"), 2) == Decimal("1.68")
    providers = night.rows('"ProviderName", count(*)', order="1", where="\"x_Source\" = 'focus' group by all")
    assert providers == [("AWS", 942), ("Microsoft", 51), ("Oracle", 7)]


def test_a_table_of_five_columns_is_no_billing_export(night: Night) -> None:
    problem = night.refusal(source(known("gcp/bq_export_formats/p-000000000000.csv"), "gcp-export"))

    assert isinstance(problem, SourceUnreadable)
    assert (problem.source, problem.file) == ("main", "p-000000000000.csv")
    assert "usage_start_time" in str(problem)
    assert problem.hint


def test_the_three_formats_of_one_table_give_the_same_costs(night: Night) -> None:
    known("")
    loaded = []
    for place in ("gcp/detailed_50rows.ndjson", "gcp/bq_export_formats/p-000000000000.parquet"):
        night.run(source(SHARED / place, "gcp-export"), accept_shrink=True)
        loaded.append(night.rows('"BilledCost", "ListCost", "ChargePeriodStart", "SubAccountId", "Tags"')[:50])

    assert len(loaded[0]) == 50
    assert loaded[0] == loaded[1]
