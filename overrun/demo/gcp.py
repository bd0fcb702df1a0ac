"""Demo delivery of GCP's detailed usage cost export: one NDJSON file for each invoice month.

Source: Google Cloud documentation, structure of the detailed data export; types as BigQuery's JSON export writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overrun.demo.statements import run_statements, set_period, write_query
from sql.files import make_directory

if TYPE_CHECKING:
    from pathlib import Path

    from overrun.demo.months import DeliveredMonth
    from sql.warehouse import Warehouse

TABLE = "gcp_billing_export_resource_v1_0123AB_4567CD_89EF01"
_ROWS = """
    from export_row
    order by usage_start_time, resource.global_name, sku.id, cost_type, sku.description, usage_end_time
"""


def write_gcp_export(warehouse: Warehouse, folder: Path, months: list[DeliveredMonth]) -> None:
    """Write the rows of `months` below `folder`, one file per invoice month."""
    make_directory(folder)
    run_statements(warehouse, "gcp_fleet.sql")
    for month in months:
        set_period(warehouse, month)
        run_statements(warehouse, "gcp_export_row.sql")
        run_statements(warehouse, "gcp_usage.sql")
        write_query(warehouse, _ROWS, folder / f"{TABLE}_{month.compact}.ndjson.gz", "format json, compression gzip")
