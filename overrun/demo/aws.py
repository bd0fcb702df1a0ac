"""Demo delivery of an AWS CUR 2.0 data export: parquet chunks and a manifest for each billing period.

Layout "overwrite existing": `<export>/data/BILLING_PERIOD=YYYY-MM/` and `<export>/metadata/BILLING_PERIOD=YYYY-MM/`.
Source: AWS Data Exports documentation, export delivery.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from overrun.demo.statements import run_statements, set_period, write_query
from sql.files import make_directory, write_text

if TYPE_CHECKING:
    from pathlib import Path

    from overrun.demo.months import DeliveredMonth
    from sql.warehouse import Warehouse

EXPORT = "ml-cur2"
BUCKET = "acme-billing"
PREFIX = "exports/aws/acme"
"""Where the export lies in the bucket; a local copy may begin at any folder of it."""
CHUNK_ROWS = 8000
_EXPORT_ARN = f"arn:aws:bcm-data-exports:us-east-1:111111111111:export/{EXPORT}-5c1d0f3e-7a5b-4f0c-8b51-c1f0c0a7d9e2"
_MANIFEST_TYPES = {"VARCHAR": "string", "DOUBLE": "double", "TIMESTAMP": "timestamp"}


def write_aws_export(warehouse: Warehouse, folder: Path, months: list[DeliveredMonth]) -> None:
    """Write the export of `months` below `folder`: every chunk first, then the manifests that list them."""
    run_statements(warehouse, "aws_fleet.sql")
    manifests = [(_manifest_path(folder, month), _write_month(warehouse, folder, month)) for month in months]
    for path, text in manifests:
        make_directory(path.parent)
        write_text(path, text)


def _manifest_path(folder: Path, month: DeliveredMonth) -> Path:
    """Return where the manifest of `month` lies."""
    return folder / EXPORT / "metadata" / f"BILLING_PERIOD={month.dashed}" / f"{EXPORT}-Manifest.json"


def _write_month(warehouse: Warehouse, folder: Path, month: DeliveredMonth) -> str:
    """Write the chunks of `month` and return the text of its manifest."""
    set_period(warehouse, month)
    for name in ("aws_charge.sql", "aws_usage.sql", "aws_lines.sql"):
        run_statements(warehouse, name)
    partition = f"{EXPORT}/data/BILLING_PERIOD={month.dashed}"
    make_directory(folder / partition)
    chunks = _write_chunks(warehouse, folder / partition)
    return _manifest(warehouse, month, [f"s3://{BUCKET}/{PREFIX}/{partition}/{chunk}" for chunk in chunks])


def _write_chunks(warehouse: Warehouse, folder: Path) -> list[str]:
    """Write the table `charge` as files of at most CHUNK_ROWS rows and return their names."""
    count = warehouse.value("select count(*) from charge")
    names = []
    for number, offset in enumerate(range(0, int(str(count)), CHUNK_ROWS), start=1):
        names.append(f"{EXPORT}-{number:05}.snappy.parquet")
        query = (
            f"from charge order by line_item_usage_start_date, identity_line_item_id limit {CHUNK_ROWS} offset {offset}"
        )
        write_query(warehouse, query, folder / names[-1], "format parquet, compression snappy")
    return names


def _manifest(warehouse: Warehouse, month: DeliveredMonth, data_files: list[str]) -> str:
    """Return the manifest of `month` as the provider writes it."""
    columns = warehouse.rows("select column_name, column_type from (describe charge)")
    document = {
        "executionId": str(uuid5(NAMESPACE_URL, f"{_EXPORT_ARN}/{month.dashed}/{month.delivered_on}")),
        "exportArn": _EXPORT_ARN,
        "columns": [{"name": str(name), "type": _manifest_type(str(kind))} for name, kind in columns],
        "dataFiles": data_files,
        "additionalOutputFiles": [],
    }
    return json.dumps(document, indent=1) + "\n"


def _manifest_type(kind: str) -> str:
    """Return the manifest's name of a DuckDB type."""
    if kind.startswith("MAP"):
        return "map<string, double>" if "DOUBLE" in kind else "map<string, string>"
    return _MANIFEST_TYPES[kind]
