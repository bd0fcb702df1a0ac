"""Sources in Google Cloud Storage, as configured."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.source import GcsLocation
from overrun.config_problems import ConfigError
from sql.secret import SecretReference
from tests.unit.test_config_s3 import load

IN_GCS = '[[source]]\nname = "a"\nkind = "gcp-export"\nlocation = "gs://acme-billing/export/"\n'


def test_a_place_in_cloud_storage_with_its_key(tmp_path: Path) -> None:
    text = IN_GCS + 'credentials = "env:KEY"\nendpoint_url = "http://127.0.0.1:4443"\n'

    (source,) = load(tmp_path, text).sources

    assert source.location == GcsLocation(
        bucket="acme-billing",
        prefix="export",
        credentials=SecretReference("env", "KEY"),
        endpoint_url="http://127.0.0.1:4443",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (IN_GCS.replace("gs://", "GS://"), "must begin with gs:// in small letters"),
        (IN_GCS.replace("acme-billing", "KEY:SECRET@b"), "must be gs://BUCKET or gs://BUCKET/PREFIX"),
        (IN_GCS.replace("export/", "p-*.parquet"), "without *"),
        (IN_GCS + 'credentials = "SECRET"\n', "must be a reference"),
        (IN_GCS + 'role_arn = "arn:aws:iam::123456789012:role/x"\n', "this is neither"),
        (IN_GCS.replace("gs://acme-billing/export/", "folder") + 'credentials = "env:KEY"\n', "gs://BUCKET/PREFIX"),
        (IN_GCS.replace("gcp-export", "aws-export"), "an aws-export is read from disk and S3"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, text)

    assert message in str(refused.value)
    assert "SECRET" not in str(refused.value)
