"""The policy that `overrun doctor --print-policy aws` prints: what the code asks AWS for, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ingest.aws.cost_explorer import ask_month
from ingest.aws.policy import reader_policy
from ingest.source import AwsAccess, S3Location, SourceKind, SourceSettings
from overrun.cli import main
from overrun.config import load_config
from overrun.exits import Exit
from tests.fakes.aws import BUCKET, Aws
from tests.fakes.exports import cur_lines, deliver_export, deliver_legacy, focus_charge, write_csv
from tests.ingest.night import Night, source

if TYPE_CHECKING:
    from mypy_boto3_sts.type_defs import CredentialsTypeDef

ROLE = "arn:aws:iam::999988887777:role/overrun-reader"
KEY = "arn:aws:kms:eu-west-1:123456789012:key/0aa1-2bb3"
ACTIONS = {
    "ListObjectsV2": "s3:ListBucket",
    "GetObject": "s3:GetObject",
    "HeadObject": "s3:GetObject",
    "GetCostAndUsage": "ce:GetCostAndUsage",
    "ListAccounts": "organizations:ListAccounts",
    "ListTagsForResource": "organizations:ListTagsForResource",
}
"""What IAM calls an operation; the operations of `FREE` need no permission of the role's."""
FREE = {"GetCallerIdentity", "AssumeRole"}
CONFIGURATION = """\
[[source]]
name = "main"
kind = "aws-export"
location = "s3://{bucket}/billing"
endpoint_url = "{endpoint}"
role_arn = "{role}"
external_id = "acme-42"
organizations = true
"""


@dataclass(frozen=True, slots=True)
class Call:
    """One request to AWS."""

    operation: str
    asked: Mapping[str, Any]

    @property
    def resource(self) -> str:
        """Return the ARN that IAM judges."""
        bucket, key = self.asked.get("Bucket"), self.asked.get("Key")
        if bucket is None:
            return "*"
        return f"arn:aws:s3:::{bucket}" + ("" if key is None else f"/{key}")


@dataclass(slots=True)
class Policy:
    """A policy as IAM would judge by it, and the grants that were of use: statement, action, resource."""

    policy: Mapping[str, Any]
    used: set[tuple[str, str, str]] = field(default_factory=set)

    def allows(self, call: Call) -> bool:
        """Return whether a statement allows a call."""
        action = ACTIONS[call.operation]
        for statement in self.policy["Statement"]:
            resources = [pattern for pattern in statement["Resource"] if _matches(pattern, call.resource)]
            if action in statement["Action"] and resources and _fits(statement.get("Condition", {}), call):
                self.used.add((statement["Sid"], action, resources[0]))
                return True
        return False

    def granted(self) -> set[tuple[str, str, str]]:
        """Return every grant."""
        return {
            (statement["Sid"], action, resource)
            for statement in self.policy["Statement"]
            for action in statement["Action"]
            for resource in statement["Resource"]
        }


def _matches(pattern: str, text: str) -> bool:
    """Return whether a pattern of IAM covers a text."""
    pieces = re.findall(r"\$\{[*?$]\}|.", pattern)
    wild = {"*": ".*", "?": "."}
    return (
        re.fullmatch("".join(wild.get(piece, re.escape(piece[-2:-1] or piece)) for piece in pieces), text) is not None
    )


def _fits(conditions: Mapping[str, Any], call: Call) -> bool:
    """Return whether the conditions hold."""
    assert set(conditions) <= {"StringLike"}
    wanted = conditions.get("StringLike", {})
    assert set(wanted) <= {"s3:prefix"}
    return all(any(_matches(pattern, call.asked["Prefix"]) for pattern in patterns) for patterns in wanted.values())


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Call]]:
    """Record every request that any client of boto3 makes."""
    from botocore.client import BaseClient

    recorded: list[Call] = []
    make: Callable[..., Any] = BaseClient._make_api_call  # type: ignore[attr-defined]

    def record(self: BaseClient, operation: str, asked: dict[str, Any]) -> Any:  # noqa: ANN401 - as the original
        recorded.append(Call(operation, dict(asked)))
        return make(self, operation, asked)

    monkeypatch.setattr(BaseClient, "_make_api_call", record)
    yield recorded


def printed(config: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Return the policy that is printed for a configuration."""
    capsys.readouterr()
    assert main(["doctor", "--print-policy", "aws", "--config", str(config), *arguments]) == Exit.DONE
    policy: dict[str, Any] = json.loads(capsys.readouterr().out)
    sids = [statement["Sid"] for statement in policy["Statement"]]
    assert len(set(sids)) == len(sids)
    assert all(sid.isalnum() for sid in sids), "IAM takes letters and digits only"
    return policy


def test_the_policy_is_what_the_code_asks_for(
    aws: Aws, bucket: Path, tmp_path: Path, calls: list[Call], capsys: pytest.CaptureFixture[str]
) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("2")])
    role = aws.client("sts").assume_role(RoleArn=ROLE, RoleSessionName="test")["Credentials"]
    _create_organization(aws, role)
    aws.bucket()
    aws.upload(bucket)
    config = tmp_path / "overrun.toml"
    config.write_text(CONFIGURATION.format(bucket=BUCKET, endpoint=aws.endpoint, role=ROLE), encoding="utf-8")
    del calls[:]

    for _ in range(2):
        assert main(["nightly", "-q", "--config", str(config), "--as-of", "2026-11-05"]) == Exit.DONE
    main(["doctor", "--config", str(config)])
    (settings,) = load_config(config, {}).sources
    ask_month(settings, date(2026, 10, 1), date(2026, 11, 5))

    policy = Policy(printed(config, capsys))
    assert {call.operation for call in calls} == set(ACTIONS) | FREE
    refused = [call for call in calls if call.operation not in FREE and not policy.allows(call)]
    assert refused == []
    assert policy.used == policy.granted()


def _create_organization(aws: Aws, role: CredentialsTypeDef) -> None:
    """Make the account of a role the management account of an organisation."""
    import boto3

    session = boto3.Session(role["AccessKeyId"], role["SecretAccessKey"], role["SessionToken"], "us-east-1")
    client = session.client("organizations", endpoint_url=f"http://127.0.0.1:{aws.upstream}")
    client.create_organization(FeatureSet="ALL")


@pytest.mark.parametrize(
    ("uploaded", "prefix"),
    [
        ("", ""),
        ("exports/", "exports"),
        ("exports/", "exports/"),
        ("exports//", "exports//"),
        ("/exports/", "/exports"),
        ("a*b/${c}/", "a*b/${c}"),
        (None, "exports"),
        (None, ""),
    ],
)
def test_every_spelling_of_a_prefix_is_covered(
    night: Night, aws: Aws, bucket: Path, calls: list[Call], uploaded: str | None, prefix: str
) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1")])
    aws.bucket()
    if uploaded is not None:
        aws.upload(bucket, prefix=uploaded)
    settings = in_s3(f"s3://{BUCKET}/{prefix}", aws)
    del calls[:]

    night.load(settings)

    policy = Policy(reader_policy([settings]))
    assert calls
    assert [call for call in calls if not policy.allows(call)] == []
    outside = f"arn:aws:s3:::{BUCKET}-2/x"
    assert not any(_matches(pattern, outside) for _, _, pattern in policy.granted() if pattern != "*")


def test_one_file_is_all_that_may_be_read(night: Night, aws: Aws, bucket: Path, calls: list[Call]) -> None:
    write_csv(bucket / "focus/a.csv", [focus_charge()])
    aws.bucket()
    aws.upload(bucket)
    settings = in_s3(f"s3://{BUCKET}/focus/a.csv", aws, "focus-export")
    del calls[:]

    night.load(settings)

    policy = Policy(reader_policy([settings]))
    assert [call for call in calls if not policy.allows(call)] == []
    assert {action for _, action, _ in policy.granted()} == {"s3:GetObject", "s3:ListBucket"}
    assert not policy.allows(Call("GetObject", {"Bucket": BUCKET, "Key": "focus/b.csv"}))


def test_what_lies_beside_the_prefix_is_not_covered() -> None:
    policy = Policy(reader_policy([in_s3(f"s3://{BUCKET}/exports")]))
    for key in ("exports-secret/x", "other/x", "x"):
        assert not policy.allows(Call("GetObject", {"Bucket": BUCKET, "Key": key}))
        assert not policy.allows(Call("ListObjectsV2", {"Bucket": BUCKET, "Prefix": key}))
    assert not policy.allows(Call("ListObjectsV2", {"Bucket": BUCKET, "Prefix": ""}))
    assert not policy.allows(Call("GetObject", {"Bucket": "acme-other", "Key": "exports/x"}))


def test_a_prefix_is_no_pattern() -> None:
    policy = Policy(reader_policy([in_s3(f"s3://{BUCKET}/a*b/${{c}}")]))
    assert policy.allows(Call("GetObject", {"Bucket": BUCKET, "Key": "a*b/${c}/x"}))
    assert not policy.allows(Call("GetObject", {"Bucket": BUCKET, "Key": "axxb/${c}/x"}))
    assert policy.policy["Statement"][0]["Resource"] == [f"arn:aws:s3:::{BUCKET}/a${{*}}b/${{$}}{{c}}/*"]


def in_s3(place: str, aws: Aws | None = None, kind: SourceKind = "aws-export", **access: Any) -> SourceSettings:  # noqa: ANN401
    """Return a source in S3; further settings are the fields of AwsAccess."""
    endpoint = None if aws is None else aws.endpoint
    return source(S3Location.parse(place), kind, access=AwsAccess(endpoint_url=endpoint, **access))


def statements(policy: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statements by Sid."""
    return {statement["Sid"]: statement for statement in policy["Statement"]}


@pytest.mark.parametrize(
    ("access", "partition"),
    [
        ({}, "aws"),
        ({"region": "eu-west-1"}, "aws"),
        ({"region": "cn-north-1"}, "aws-cn"),
        ({"region": "us-gov-west-1"}, "aws-us-gov"),
        ({"role_arn": "arn:aws-cn:iam::123456789012:role/reader"}, "aws-cn"),
    ],
)
def test_a_bucket_is_named_in_its_partition(access: dict[str, Any], partition: str) -> None:
    found = statements(reader_policy([in_s3("s3://acme", **access)]))
    assert found["ReadExportObjects"]["Resource"] == [f"arn:{partition}:s3:::acme/*"]
    assert found["ListExportFolders"]["Resource"] == [f"arn:{partition}:s3:::acme"]
    assert "Condition" not in found["ListExportFolders"]


def test_several_buckets_have_a_statement_each_for_listing() -> None:
    found = statements(reader_policy([in_s3("s3://acme/a"), in_s3("s3://other"), in_s3("s3://acme/b")]))
    assert list(found) == ["ReadExportObjects", "ListExportFolders1", "ListExportFolders2", "AskCostExplorer"]
    assert found["ReadExportObjects"]["Resource"] == [
        "arn:aws:s3:::acme/a/*",
        "arn:aws:s3:::other/*",
        "arn:aws:s3:::acme/b/*",
    ]
    prefixes = found["ListExportFolders1"]["Condition"]["StringLike"]["s3:prefix"]
    assert prefixes == ["a", "a/*", "/a/*", "b", "b/*", "/b/*"]


@pytest.mark.parametrize("partition", ["aws", "aws-cn"])
def test_a_key_may_be_used_by_s3_in_its_region_only(partition: str) -> None:
    key = KEY.replace("arn:aws:", f"arn:{partition}:")
    decrypting = statements(reader_policy([], [key]))["DecryptExports"]
    assert (decrypting["Action"], decrypting["Resource"]) == (["kms:Decrypt"], [key])
    services = decrypting["Condition"]["StringEquals"]["kms:ViaService"]
    assert services[0] == "s3.eu-west-1.amazonaws.com"
    assert services[1:] == (["s3.eu-west-1.amazonaws.com.cn"] if partition == "aws-cn" else [])


def test_without_a_configuration_there_are_placeholders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = printed(tmp_path / "overrun.toml", capsys, "--kms-key", KEY)
    assert set(statements(policy)) == {"ReadExportObjects", "ListExportFolders", "DecryptExports", "AskCostExplorer"}
    assert statements(policy)["ReadExportObjects"]["Resource"] == ["arn:aws:s3:::EXAMPLE-BUCKET/EXAMPLE-PREFIX/*"]


def test_a_configuration_without_s3_has_placeholders_for_the_bucket(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "overrun.toml"
    config.write_text(
        '[[source]]\nname = "a"\nkind = "aws-export"\nlocation = "a"\norganizations = true\n', encoding="utf-8"
    )
    found = statements(printed(config, capsys))
    assert set(found) == {"ReadExportObjects", "ListExportFolders", "AskCostExplorer", "ListAccounts"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--print-policy", "azure"], "'azure' is not one of 'aws', 'gcp'"),
        (["--print-policy", "aws", "--kms-key", "alias/mine"], "is not the ARN of a key"),
        (["--kms-key", KEY], "goes with --print-policy"),
    ],
)
def test_what_cannot_be_printed_is_a_usage_error(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--config", str(tmp_path / "overrun.toml"), *arguments]) == Exit.USAGE
    assert said in capsys.readouterr().err


def test_a_broken_configuration_prints_no_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "overrun.toml").write_text("[[sauce]]\n", encoding="utf-8")
    assert main(["doctor", "--config", str(tmp_path / "overrun.toml"), "--print-policy", "aws"]) == Exit.USAGE
    assert capsys.readouterr().out == ""
