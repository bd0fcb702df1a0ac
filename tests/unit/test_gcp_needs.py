"""What the printed commands grant follows from the sources that are configured."""

from __future__ import annotations

from ingest.gcp.policy import needs_of, reader_commands
from ingest.source import BigQueryLocation, BigQueryTable, GcsLocation, SourceSettings

TABLES = tuple(BigQueryTable.parse(f"acme-billing.{name}.gcp_billing_export_v1_0A1B2C") for name in ("one", "two"))


def test_datasets_job_projects_and_buckets_are_those_of_the_sources() -> None:
    sources = [
        SourceSettings(
            name="a", kind="gcp-bigquery", location=BigQueryLocation(tables=TABLES, job_project="acme-finops")
        ),
        SourceSettings(name="b", kind="gcp-export", location=GcsLocation(bucket="acme-files", prefix="export")),
    ]

    needs = needs_of(sources, asks_catalogue=False)

    assert needs.datasets == (("acme-billing", "one"), ("acme-billing", "two"))
    assert (needs.job_projects, needs.buckets, needs.billing_accounts) == (("acme-finops",), ("acme-files",), ())
    commands = reader_commands(needs)
    assert "`acme-billing`.`two`" in commands
    assert "gs://acme-files " in commands
    assert "EXAMPLE_DATASET" not in commands
