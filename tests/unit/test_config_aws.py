"""Keys of a source that say how AWS is asked, and for what."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.source import AwsAccess
from overrun.config import load_config
from overrun.config_problems import ConfigError

ACCESS = """\
profile = "billing"
role_arn = "arn:aws:iam::123456789012:role/reader"
external_id = "acme-42"
region = "eu-west-1"
endpoint_url = "https://vpce.example.com"
"""


def written(folder: Path, kind: str, location: str, keys: str) -> Path:
    """Write a configuration of one source."""
    file = folder / "overrun.toml"
    file.write_text(f'[[source]]\nname = "main"\nkind = "{kind}"\nlocation = "{location}"\n{keys}', encoding="utf-8")
    return file


@pytest.mark.parametrize(("kind", "location"), [("aws-export", "exports"), ("aws-export", "s3://acme/prefix")])
def test_an_aws_export_says_how_aws_is_asked_wherever_its_files_are(tmp_path: Path, kind: str, location: str) -> None:
    (source,) = load_config(written(tmp_path, kind, location, ACCESS), {}).sources
    assert source.access == AwsAccess(
        profile="billing",
        role_arn="arn:aws:iam::123456789012:role/reader",
        external_id="acme-42",
        region="eu-west-1",
        endpoint_url="https://vpce.example.com",
    )


def test_a_source_that_never_asks_aws_has_no_such_keys(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(written(tmp_path, "focus-export", "exports", ACCESS), {})
    assert [problem.key for problem in refused.value.problems] == [
        "source.profile",
        "source.role_arn",
        "source.external_id",
        "source.region",
        "source.endpoint_url",
    ]


def test_an_external_id_without_a_role_is_refused_for_files_on_disk_too(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="role_arn is missing"):
        load_config(written(tmp_path, "aws-export", "exports", 'external_id = "acme-42"\n'), {})


@pytest.mark.parametrize(("keys", "asks"), [("", False), ("organizations = true\n", True)])
def test_organizations_are_asked_where_the_file_says_so(tmp_path: Path, keys: str, asks: bool) -> None:
    (source,) = load_config(written(tmp_path, "aws-export", "exports", keys), {}).sources
    assert source.organizations is asks


@pytest.mark.parametrize("location", ["exports", "s3://acme/prefix"])
def test_organizations_are_for_an_aws_export_only(tmp_path: Path, location: str) -> None:
    with pytest.raises(ConfigError, match="is for aws-export only"):
        load_config(written(tmp_path, "focus-export", location, "organizations = true\n"), {})


@pytest.mark.parametrize(
    ("keys", "amortises"), [("", True), ("amortise = true\n", True), ("amortise = false\n", False)]
)
def test_commitments_of_gcp_are_spread_unless_the_file_says_not_to(tmp_path: Path, keys: str, amortises: bool) -> None:
    (source,) = load_config(written(tmp_path, "gcp-export", "exports", keys), {}).sources
    assert source.amortise is amortises


@pytest.mark.parametrize("kind", ["aws-export", "focus-export"])
def test_whether_commitments_are_spread_is_for_a_gcp_export_only(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ConfigError, match="is for gcp-export only"):
        load_config(written(tmp_path, kind, "exports", "amortise = false\n"), {})
