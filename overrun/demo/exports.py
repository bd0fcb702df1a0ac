"""Demo exports: what AWS and GCP would have delivered to Acme, an invented company, by a given morning.

`overrun demo` and the tests call `write_exports`; the same arguments give the same bytes. Nothing is random and no
clock is read, so that the demo's figures can be pinned.

| below the root | what |
|---|---|
| `aws/acme/ml-cur2/` | CUR 2.0 data export, parquet, overwrite layout with manifests |
| `gcp/detailed/` | detailed usage cost export, one NDJSON file per invoice month |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overrun.demo.aws import write_aws_export
from overrun.demo.gcp import write_gcp_export
from overrun.demo.months import delivered_months
from overrun.demo.statements import run_statements
from sql.warehouse import Warehouse

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path


def write_exports(root: Path, delivered_on: date) -> None:
    """Write below `root` what both providers have delivered by the morning of `delivered_on`.

    September and October 2026 are closed and always the same; November reaches through the day before. Files of an
    earlier delivery are replaced one by one, nothing is removed. Raises ValueError for a day outside 2-30 November.
    """
    months = delivered_months(delivered_on)
    with Warehouse.in_memory() as warehouse:
        # Row order, and with it every byte, must not depend on which thread comes first.
        warehouse.execute("set threads = 1")
        warehouse.execute("set preserve_insertion_order = true")
        run_statements(warehouse, "arithmetic.sql")
        write_aws_export(warehouse, root / "aws" / "acme", months)
        write_gcp_export(warehouse, root / "gcp" / "detailed", months)
