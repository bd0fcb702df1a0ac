"""Sources in BigQuery as the configuration has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.source import BigQueryLocation, BigQueryTable
from overrun.config import Config, load_config
from overrun.config_problems import ConfigError
from sql.secret import SecretReference

TABLE = "acme-billing.billing.gcp_billing_export_v1_0A1B2C"
IN_BIGQUERY = f'[[source]]\nname = "g"\nkind = "gcp-bigquery"\ntable = "{TABLE}"\n'
ON_DISK = '[[source]]\nname = "g"\nkind = "gcp-export"\nlocation = "exports"\n'


def load(folder: Path, text: str) -> Config:
    file = folder / "overrun.toml"
    file.write_text(text, encoding="utf-8")
    return load_config(file, {})


def test_a_table_alone_is_enough(tmp_path: Path) -> None:
    (source,) = load(tmp_path, IN_BIGQUERY).sources

    table = BigQueryTable(project="acme-billing", dataset="billing", table="gcp_billing_export_v1_0A1B2C")
    assert source.location == BigQueryLocation(tables=(table,))
    assert source.location.paying_project == "acme-billing"
    assert (source.settle_days, source.location.lookback_months, source.location.max_bytes_billed) == (2, 2, 10**11)


def test_every_key_of_bigquery(tmp_path: Path) -> None:
    text = IN_BIGQUERY.replace(f'"{TABLE}"', f'["{TABLE}", "example.com:others.billing.t-2"]')
    text += 'job_project = "acme-finops"\nlookback_months = 0\nmax_bytes_billed = "5 GB"\n'
    text += 'credentials = "file:key.json"\n'
    text += 'endpoint_url = "http://127.0.0.1:9050"\nstorage_endpoint_url = "https://storage.example.com"\n'
    (source,) = load(tmp_path, text).sources

    location = source.location
    assert isinstance(location, BigQueryLocation)
    assert str(location) == f"{TABLE}, example.com:others.billing.t-2"
    assert (location.paying_project, location.lookback_months, location.max_bytes_billed) == (
        "acme-finops",
        0,
        5 * 10**9,
    )
    assert location.credentials == SecretReference("file", str(tmp_path / "key.json"))
    assert (location.endpoint_url, location.storage_endpoint_url) == (
        "http://127.0.0.1:9050",
        "https://storage.example.com",
    )


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        (IN_BIGQUERY.replace(f'table = "{TABLE}"\n', ""), "table", "is missing: gcp-bigquery needs it"),
        (ON_DISK.replace('location = "exports"\n', ""), "location", "is missing: gcp-export needs it"),
        (IN_BIGQUERY + 'location = "x"\n', "location", "is not for gcp-bigquery"),
        (IN_BIGQUERY + 'period = "from-rows"\n', "period", "is not for gcp-bigquery"),
        (IN_BIGQUERY + 'region = "us-east-1"\n', "region", "is for an aws-export or a location in S3"),
        (ON_DISK + f'table = "{TABLE}"\n', "table", "is not for gcp-export"),
        (ON_DISK + "lookback_months = 2\n", "lookback_months", "is not for gcp-export"),
        (
            ON_DISK + 'credentials = "env:KEY"\n',
            "credentials",
            "is for gcp-bigquery, a location in Google Cloud Storage (gs://BUCKET/PREFIX) and projects = true",
        ),
        (IN_BIGQUERY.replace("acme-billing.billing.", ""), "table", "must be project.dataset.table"),
        (IN_BIGQUERY.replace("gcp_billing", "x` where true; --"), "table", "must be project.dataset.table"),
        (IN_BIGQUERY.replace(f'"{TABLE}"', f'["{TABLE}", "{TABLE}"]'), "table", "names a table twice"),
        (IN_BIGQUERY.replace(f'"{TABLE}"', "[]"), "table", "must be project.dataset.table"),
        (IN_BIGQUERY + 'max_bytes_billed = "0 GB"\n', "max_bytes_billed", "must be a size in MB, GB or TB"),
        (IN_BIGQUERY + 'job_project = "-"\n', "job_project", "must be the id of a project"),
        (IN_BIGQUERY + 'credentials = "key.json"\n', "credentials", "must be a reference"),
        (IN_BIGQUERY + 'endpoint_url = "http://example.com"\n', "endpoint_url", "must begin with https://"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, key: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, text)
    [problem] = refused.value.problems
    assert problem.key is not None
    assert problem.key.endswith(key)
    assert message in problem.message


def test_a_table_of_two_sources_is_warned_of(tmp_path: Path) -> None:
    config = load(tmp_path, IN_BIGQUERY + IN_BIGQUERY.replace('"g"', '"h"'))
    assert ["is also the table of source" in problem.message for problem in config.warnings] == [True]
