"""Provider files as providers write them: CUR, CUR 2.0, FOCUS and the Cloud Billing export, with their manifests.

Rows are made by `cur_line`, `focus_charge` and `gcp_row`, whose defaults make one plain usage charge, so that a test
states only what matters. Written with csv, gzip, json and pyarrow alone: nothing of the product takes part.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

PAYER = "111111111111"
ACCOUNT = "222222222222"
GCP_ACCOUNT = "01ABCD-EF0123-456789"
Row = dict[str, Any]
Cells = Sequence[str]

_GROUPS = (
    ("line_item", "lineItem"), ("savings_plan", "savingsPlan"), ("bill", "bill"), ("identity", "identity"),
    ("pricing", "pricing"), ("reservation", "reservation"), ("product", "product"),
    ("split_line_item", "splitLineItem"),
)  # fmt: skip
_MIXED = {
    "product_region": "product/region",
    "product_instance_type": "product/instanceType",
    "product_instance_family": "product/instanceFamily",
    "product_vcpu": "product/vcpu",
    "reservation_reservation_a_r_n": "reservation/ReservationARN",
    "savings_plan_savings_plan_a_r_n": "savingsPlan/SavingsPlanARN",
    "pricing_public_on_demand_cost": "pricing/publicOnDemandCost",
    "pricing_public_on_demand_rate": "pricing/publicOnDemandRate",
    "pricing_unit": "pricing/unit",
    "pricing_currency": "pricing/currency",
}
"""Legacy headers that are not simply the capitalised words."""


# Text files


def csv_text(header: Cells, rows: Iterable[Cells], *, line_end: str = "\n") -> str:
    """Return CSV text; cells are quoted where they must be."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator=line_end)
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def write_text(path: Path, text: str) -> Path:
    """Write text as UTF-8, compressed where the name ends in .gz, line ends as they are."""
    return write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> Path:
    """Write bytes, compressed where the name ends in .gz; the folders on the way are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, mtime=0) if path.name.endswith(".gz") else content)
    return path


def header_of(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the columns of rows in order of appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def write_csv(path: Path, rows: Sequence[Mapping[str, object]], header: Cells | None = None) -> Path:
    """Write rows as CSV; an absent or null value is an empty cell."""
    names = header_of(rows) if header is None else header
    cells = ([_cell(row.get(name)) for name in names] for row in rows)
    return write_text(path, csv_text(names, cells))


def write_ndjson(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    """Write one JSON object per line; decimals as exact numbers."""
    return write_text(path, "".join(f"{_json(row)}\n" for row in rows))


def write_parquet(path: Path, rows: Sequence[Mapping[str, object]], types: Mapping[str, Any] | None = None) -> Path:
    """Write rows as parquet; `types` gives pyarrow types by column, the others follow from the values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    given = types or {}
    names = list(dict.fromkeys([*header_of(rows), *given]))
    columns = [pa.array([row.get(name) for row in rows], type=given.get(name)) for name in names]
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_arrays(columns, names=names), path)
    return path


def _cell(value: object) -> str:
    """Return a value as a CSV cell; nested ones as JSON text, as BigQuery and Data Exports write them."""
    if value is None:
        return ""
    return _json(value) if isinstance(value, dict | list) else str(value)


def _json(value: object) -> str:
    """Return JSON text in which a Decimal is a number with all its digits."""
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(f"{json.dumps(str(key), ensure_ascii=False)}:{_json(item)}" for key, item in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(_json(item) for item in value) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


# AWS: Cost and Usage Report


def cur_line(  # noqa: PLR0913 - one argument per column that tests vary
    *,
    cost: str = "1",
    item: str = "Usage",
    start: str = "2026-10-01T00:00:00Z",
    end: str = "2026-10-01T01:00:00Z",
    month: str = "2026-10",
    payer: str = PAYER,
    account: str = ACCOUNT,
    resource: str = "i-0001",
    **others: Any,  # noqa: ANN401 - a column of any type
) -> Row:
    """Return one line of a report by its CUR 2.0 names; a name with a slash or colon stays as it is in every style."""
    return {
        "bill_payer_account_id": payer,
        "bill_billing_period_start_date": f"{month}-01T00:00:00Z",
        "line_item_usage_account_id": account,
        "line_item_line_item_type": item,
        "line_item_usage_start_date": start,
        "line_item_usage_end_date": end,
        "line_item_product_code": "AmazonEC2",
        "line_item_usage_type": "BoxUsage:m5.large",
        "line_item_resource_id": resource,
        "line_item_usage_amount": "1",
        "line_item_currency_code": "USD",
        "line_item_unblended_cost": cost,
        **others,
    }


def cur_lines(*costs: str, **shared: Any) -> list[Row]:  # noqa: ANN401 - a column of any type
    """Return one line per cost."""
    return [cur_line(cost=cost, **shared) for cost in costs]


def without(rows: Iterable[Row], *columns: str) -> list[Row]:
    """Return the rows without some columns."""
    return [{name: value for name, value in row.items() if name not in columns} for row in rows]


def legacy_name(column: str) -> str:
    """Return the header of a legacy report: lineItem/UnblendedCost for line_item_unblended_cost."""
    if column in _MIXED or "/" in column:
        return _MIXED.get(column, column)
    for snake, camel in _GROUPS:
        if column.startswith(f"{snake}_"):
            words = column[len(snake) + 1 :].split("_")
            return f"{camel}/{''.join(word.capitalize() for word in words)}"
    return column


def legacy_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the rows under the headers of a legacy report."""
    return [{legacy_name(name): value for name, value in row.items()} for row in rows]


def cur_types(rows: Sequence[Row], *, doubles: Iterable[str] = ()) -> dict[str, Any]:
    """Return the pyarrow types of AWS's parquet: costs and amounts DOUBLE, dates TIMESTAMP, text otherwise."""
    import pyarrow as pa

    number = re.compile(r"(_cost|_rate|_amount|_units|_period)$")
    wide = set(doubles)
    kinds: dict[str, Any] = {}
    for name in header_of(rows):
        if name.endswith("_date"):
            kinds[name] = pa.timestamp("ms")
        elif name in wide or number.search(name):
            kinds[name] = pa.float64()
        elif not any(isinstance(row.get(name), dict) for row in rows):
            kinds[name] = pa.string()
        else:
            kinds[name] = pa.map_(pa.string(), pa.string())
    return kinds


def write_cur_parquet(path: Path, rows: Sequence[Row]) -> Path:
    """Write lines as AWS writes parquet: typed, maps as MAP."""
    from datetime import datetime

    types = cur_types(rows)
    typed: list[Row] = []
    for row in rows:
        values: Row = {}
        for name, value in row.items():
            kind = str(types[name])
            if value is None or value == "":
                values[name] = None
            elif kind == "double":
                values[name] = float(value)
            elif kind.startswith("timestamp"):
                values[name] = datetime.fromisoformat(str(value).removesuffix("Z"))
            else:
                values[name] = list(value.items()) if isinstance(value, dict) else value
        typed.append(values)
    return write_parquet(path, typed, types)


def write_cur(path: Path, rows: Sequence[Row], *, style: Literal["legacy", "snake"] = "legacy") -> Path:
    """Write lines in the format that the name asks for; legacy headers in CSV unless `style` says otherwise."""
    if path.name.endswith(".parquet"):
        return write_cur_parquet(path, rows)
    return write_csv(path, legacy_rows(rows) if style == "legacy" else rows)


def following(month: str) -> str:
    """Return the month after `month`, both YYYY-MM."""
    year, number = int(month[:4]), int(month[5:])
    return f"{year + number // 12}-{number % 12 + 1:02d}"


def period_folder(month: str) -> str:
    """Return the folder of a month in a legacy report: 20261001-20261101."""
    return f"{month.replace('-', '')}01-{following(month).replace('-', '')}01"


def legacy_manifest(
    month: str, keys: Sequence[str], *, report: str = "ml-cur", assembly: str = "20261003T051200Z"
) -> Row:
    """Return the manifest of a legacy report."""
    start, end = period_folder(month).split("-")
    return {
        "assemblyId": assembly,
        "account": PAYER,
        "columns": [{"category": "identity", "name": "LineItemId", "type": "String"}],
        "charset": "UTF-8",
        "compression": "GZIP",
        "contentType": "text/csv",
        "reportName": report,
        "billingPeriod": {"start": f"{start}T000000.000Z", "end": f"{end}T000000.000Z"},
        "bucket": "acme-billing",
        "reportKeys": list(keys),
        "additionalArtifactKeys": [],
    }


def cur2_manifest(keys: Sequence[str], *, export: str = "ml-cur2", execution: str = "e-1") -> Row:
    """Return the manifest of a data export."""
    return {
        "executionId": execution,
        "exportArn": f"arn:aws:bcm-data-exports:us-east-1:{PAYER}:export/{export}",
        "columns": [{"name": "identity_line_item_id", "type": "string"}],
        "dataFiles": [f"s3://acme-billing/{key}" for key in keys],
        "additionalOutputFiles": [],
    }


def write_manifest(path: Path, manifest: Mapping[str, object]) -> Path:
    """Write a manifest."""
    return write_text(path, json.dumps(manifest, indent=1))


def deliver_legacy(  # noqa: PLR0913 - one argument per property of a delivery
    bucket: Path,
    month: str,
    chunks: Sequence[Sequence[Row]],
    *,
    report: str = "ml-cur",
    assembly: str | None = "20261003T051200Z",
    suffix: str = ".csv.gz",
    header: Cells | None = None,
) -> list[Path]:
    """Deliver a month of a legacy report under `bucket`/billing and return the data files.

    With `assembly`, in the layout that keeps versions: data and a manifest in the assembly's folder, the newest
    manifest also in the period's. Without, in the layout that overwrites. `header` is that of chunks without rows.
    """
    base = f"billing/{report}/{period_folder(month)}"
    folder = base if assembly is None else f"{base}/{assembly}"
    keys = [f"{folder}/{report}-{number:05d}{suffix}" for number in range(1, len(chunks) + 1)]
    for key, rows in zip(keys, chunks, strict=True):
        if rows:
            write_cur(bucket / key, rows)
        else:
            names = header or [legacy_name(name) for name in cur_line()]
            write_text(bucket / key, csv_text(names, []))
    manifest = legacy_manifest(month, keys, report=report, assembly=assembly or "a")
    for place in dict.fromkeys([folder, base]):
        write_manifest(bucket / place / f"{report}-Manifest.json", manifest)
    return [bucket / key for key in keys]


def deliver_export(  # noqa: PLR0913 - one argument per property of a delivery
    bucket: Path,
    month: str,
    chunks: Sequence[Sequence[Row]],
    *,
    export: str = "ml-cur2",
    execution: str | None = "20261003T051200Z-e1",
    suffix: str = ".csv.gz",
    header: Cells | None = None,
) -> list[Path]:
    """Deliver a month of a data export (CUR 2.0 or FOCUS rows) under `bucket`/exp and return the data files.

    With `execution`, in the layout that creates new files: data in the execution's folder, one manifest there and one
    in the partition's. Without, in the layout that overwrites.
    """
    partition = f"BILLING_PERIOD={month}"
    inner = partition if execution is None else f"{partition}/{execution}"
    keys = [f"exp/{export}/data/{inner}/{export}-{number:05d}{suffix}" for number in range(1, len(chunks) + 1)]
    for key, rows in zip(keys, chunks, strict=True):
        if not rows:
            write_text(bucket / key, csv_text(header or list(cur_line()), []))
        elif suffix.endswith("parquet"):
            write_cur_parquet(bucket / key, rows)
        else:
            write_csv(bucket / key, rows)
    manifest = cur2_manifest(keys, export=export, execution=execution or "e-1")
    for place in dict.fromkeys([inner, partition]):
        write_manifest(bucket / f"exp/{export}/metadata/{place}/{export}-Manifest.json", manifest)
    return [bucket / key for key in keys]


# FOCUS


def focus_charge(
    *, cost: str = "1", start: str = "2026-10-01T00:00:00Z", end: str = "2026-10-01T01:00:00Z", month: str = "2026-10",
    **others: Any,  # noqa: ANN401 - a column of any type
) -> Row:  # fmt: skip
    """Return one charge of a FOCUS 1.2 export by any provider."""
    return {
        "BilledCost": cost,
        "EffectiveCost": cost,
        "ListCost": cost,
        "ContractedCost": cost,
        "BillingAccountId": PAYER,
        "BillingCurrency": "USD",
        "BillingPeriodStart": f"{month}-01T00:00:00Z",
        "BillingPeriodEnd": f"{following(month)}-01T00:00:00Z",
        "ChargeCategory": "Usage",
        "ChargeFrequency": "Usage-Based",
        "ChargePeriodStart": start,
        "ChargePeriodEnd": end,
        "ProviderName": "Oracle",
        "PublisherName": "Oracle",
        "InvoiceIssuerName": "Oracle",
        "ServiceName": "Compute",
        "ServiceCategory": "Compute",
        "SubAccountId": ACCOUNT,
        **others,
    }


# GCP: Cloud Billing export


def gcp_row(  # noqa: PLR0913 - one argument per column that tests vary
    *, cost: str = "1", start: str = "2026-10-01 00:00:00 UTC", end: str = "2026-10-01 01:00:00 UTC",
    month: str | None = "202610", project: str | None = "ml-train", cost_type: str = "regular",
    credits: Sequence[tuple[str, str]] = (),
    **others: Any,  # noqa: ANN401 - a column of any type
) -> Row:  # fmt: skip
    """Return one row of the detailed export; `credits` are (amount, type)."""
    return {
        "billing_account_id": GCP_ACCOUNT,
        "service": {"id": "6F81-5844-456A", "description": "Compute Engine"},
        "sku": {"id": "2E27-4F75-95CD", "description": "N1 Predefined Instance Core running in Americas"},
        "usage_start_time": start,
        "usage_end_time": end,
        "project": None if project is None else {"id": project, "number": "123", "name": project, "labels": []},
        "labels": [],
        "system_labels": [],
        "location": {"location": "us-central1-a", "country": "US", "region": "us-central1", "zone": "us-central1-a"},
        "resource": {"name": "vm-0", "global_name": "//compute.googleapis.com/projects/123/zones/z/instances/1"},
        "tags": [],
        "export_time": "2026-10-02 00:00:00 UTC",
        "cost": Decimal(cost),
        "currency": "USD",
        "currency_conversion_rate": Decimal(1),
        "usage": {
            "amount": Decimal(3600),
            "unit": "seconds",
            "amount_in_pricing_units": Decimal(1),
            "pricing_unit": "hour",
        },
        "credits": [
            {"name": kind, "amount": Decimal(amount), "full_name": kind, "id": f"c{position}", "type": kind}
            for position, (amount, kind) in enumerate(credits)
        ],
        "invoice": {"month": month},
        "cost_type": cost_type,
        **others,
    }


def flattened(row: Mapping[str, object], prefix: str = "") -> Row:
    """Return a row with the members of structs under dotted names, as a flat CSV of the export has them."""
    flat: Row = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat |= flattened(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def write_gcp(path: Path, rows: Sequence[Row]) -> Path:
    """Write rows of the export in the format that the name asks for: NDJSON, flat CSV or parquet."""
    if ".csv" in path.name:
        return write_csv(path, [flattened(row) for row in rows])
    if path.name.endswith(".parquet"):
        return write_parquet(path, [_as_floats(row) for row in rows])
    return write_ndjson(path, rows)


def _as_floats(value: Any) -> Any:  # noqa: ANN401 - walks through nested values of any type
    """Return nested values with doubles for decimals, the type of BigQuery's FLOAT64."""
    if isinstance(value, dict):
        return {name: _as_floats(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_floats(item) for item in value]
    return float(value) if isinstance(value, Decimal) else value
