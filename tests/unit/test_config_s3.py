"""Sources in S3 as the configuration has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.source import AwsAccess, S3Location
from overrun.config import Config, load_config
from overrun.config_problems import ConfigError

IN_S3 = '[[source]]\nname = "a"\nkind = "aws-export"\nlocation = "s3://acme-billing/exports/"\n'
ROLE = 'role_arn = "arn:aws:iam::123456789012:role/billing/overrun-reader"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def load(folder: Path, text: str) -> Config:
    file = folder / "overrun.toml"
    file.write_text(text, encoding="utf-8")
    return load_config(file, {})


def test_a_place_in_s3_and_how_it_is_reached(folder: Path) -> None:
    text = IN_S3 + ROLE + 'external_id = "acme:42"\nprofile = "billing"\nregion = "eu-central-1"\n'
    (source,) = load(folder, text + 'endpoint_url = "https://vpce-1.s3.eu-central-1.vpce.amazonaws.com"\n').sources

    assert source.location == S3Location(bucket="acme-billing", prefix="exports/")
    assert source.access == AwsAccess(
        profile="billing",
        role_arn="arn:aws:iam::123456789012:role/billing/overrun-reader",
        external_id="acme:42",
        region="eu-central-1",
        endpoint_url="https://vpce-1.s3.eu-central-1.vpce.amazonaws.com",
    )


@pytest.mark.parametrize("kind", ["aws-export", "gcp-export", "focus-export"])
def test_exports_of_every_kind_may_be_in_s3(folder: Path, kind: str) -> None:
    (source,) = load(folder, IN_S3.replace("aws-export", kind)).sources
    assert str(source.location) == "s3://acme-billing/exports/"


@pytest.mark.parametrize(
    ("place", "prefix"), [("s3://bucket", ""), ("s3://bucket/", ""), ("s3://bucket//exports", "/exports")]
)
def test_a_prefix_stays_as_it_is_written(folder: Path, place: str, prefix: str) -> None:
    (source,) = load(folder, IN_S3.replace("s3://acme-billing/exports/", place)).sources
    assert source.location == S3Location(bucket="bucket", prefix=prefix)


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        (
            IN_S3.replace("s3://", "gs://"),
            "location",
            "begins with gs://, but an aws-export is read from disk and S3",
        ),
        (IN_S3.replace("s3://", "S3://"), "location", "must begin with s3:// in small letters"),
        (IN_S3.replace("s3://", "s3:/"), "location", 'did you mean "s3://acme-billing/exports/"?'),
        (IN_S3.replace("s3://", "S3:"), "location", 'did you mean "s3://acme-billing/exports/"?'),
        (IN_S3.replace("s3://", "arn:aws:s3:::"), "location", 'did you mean "s3://acme-billing/exports/"?'),
        (IN_S3.replace("s3://", "arn:aws-cn:s3:::"), "location", 'did you mean "s3://acme-billing/exports/"?'),
        (IN_S3.replace("s3://acme-billing", "s3:/KEY:SECRET@b"), "location", "like s3://BUCKET/PREFIX"),
        (IN_S3.replace("acme-billing", "KEY:SECRET@b"), "location", "must be s3://BUCKET or s3://BUCKET/PREFIX"),
        (IN_S3.replace("acme-billing", "Acme_Billing"), "location", "must be s3://BUCKET or s3://BUCKET/PREFIX"),
        (IN_S3.replace("exports/", "a/../b"), "location", "must be a prefix without control characters and without .."),
        (IN_S3 + 'external_id = "SECRET"\n', "external_id", "role_arn is missing"),
        (IN_S3 + ROLE + 'external_id = "SE CRET"\n', "external_id", "must be 2 to 1224 letters"),
        (IN_S3 + 'role_arn = "SECRET"\n', "role_arn", "must be the ARN of a role"),
        (IN_S3 + 'role_arn = "arn:aws:iam::1:user/x"\n', "role_arn", "must be the ARN of a role"),
        (IN_S3 + 'region = "SECRET"\n', "region", "must be a region"),
        (IN_S3 + 'endpoint_url = "https://u:SECRET@h"\n', "endpoint_url", "must be without user and password"),
        (IN_S3 + 'endpoint_url = "http://s3.example.com"\n', "endpoint_url", "must begin with https://"),
        (IN_S3 + 'endpoint_url = "ftp://SECRET"\n', "endpoint_url", "must be an address"),
        (IN_S3 + 'endpoint_url = "https://h?key=SECRET"\n', "endpoint_url", "must be an address"),
        (IN_S3 + 'endpoint_url = "https://[SECRET"\n', "endpoint_url", "must be an address"),
    ],
)
def test_what_is_refused_and_repeated_nowhere(folder: Path, text: str, key: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(folder, text)

    assert [problem.key for problem in refused.value.problems] == [f"source.{key}"]
    assert message in str(refused.value)
    assert "SECRET" not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize("address", ["http://127.0.0.1:9000", "http://localhost:9000", "https://s3.example.com"])
def test_plain_http_is_for_this_machine(folder: Path, address: str) -> None:
    (source,) = load(folder, IN_S3 + f'endpoint_url = "{address}"\n').sources
    assert source.access.endpoint_url == address
