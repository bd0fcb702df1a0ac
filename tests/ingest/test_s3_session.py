"""Clients of AWS: whose credentials they carry, where they ask, and that a role is assumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ingest.aws.session import client
from ingest.source import AwsAccess, S3Location, SourceSettings
from tests.fakes.aws import Aws

ROLE = "arn:aws:iam::999988887777:role/overrun-reader"


def settings(aws: Aws, **access: Any) -> SourceSettings:  # noqa: ANN401 - a field of any type
    """Return a source in S3."""
    return SourceSettings(
        name="main",
        kind="aws-export",
        location=S3Location(bucket="acme-billing", prefix=""),
        access=AwsAccess(endpoint_url=aws.endpoint, **access),
    )


def test_without_a_role_the_credentials_are_those_of_the_environment(aws: Aws) -> None:
    assert client(settings(aws), "sts").get_caller_identity()["Account"] == "123456789012"
    assert aws.asked[-1].agent.endswith("overrun")


def test_a_role_of_another_account_is_assumed_at_the_same_endpoint(aws: Aws) -> None:
    identity = client(settings(aws, role_arn=ROLE, external_id="acme-42"), "sts").get_caller_identity()

    assert identity["Account"] == "999988887777"
    assert [asked.method for asked in aws.asked] == ["POST", "POST"]


def test_a_role_is_assumed_again_before_its_credentials_expire(aws: Aws) -> None:
    role = client(settings(aws, role_arn=ROLE), "sts")
    role.get_caller_identity()
    credentials = role._request_signer._credentials  # type: ignore[attr-defined]
    assert not credentials.refresh_needed()
    assert credentials.refresh_needed(refresh_in=3700)


def test_a_profile_gives_credentials_and_region(aws: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config").write_text(
        "[profile billing]\nregion = eu-west-3\naws_access_key_id = other\naws_secret_access_key = made-up\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.delenv("AWS_DEFAULT_REGION")

    s3 = client(settings(aws, profile="billing"), "s3")

    assert s3.meta.region_name == "eu-west-3"
    assert s3._request_signer._credentials.access_key == "other"  # type: ignore[attr-defined]
    assert client(settings(aws, profile="billing", region="eu-north-1"), "s3").meta.region_name == "eu-north-1"


@pytest.mark.parametrize(
    ("region", "home"), [("eu-west-3", "us-east-1"), ("cn-north-1", "cn-northwest-1"), (None, "us-east-1")]
)
def test_costs_and_accounts_are_asked_for_in_their_one_region(aws: Aws, region: str | None, home: str) -> None:
    source = settings(aws, **({} if region is None else {"region": region}))

    assert client(source, "ce").meta.region_name == home
    assert client(source, "organizations").meta.region_name == home
    assert client(source, "ce").meta.endpoint_url == aws.endpoint
