"""`overrun doctor` on AWS: each missing permission is named with its resource and with whom it is missing for."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ingest.aws.probe import probe_source
from ingest.finding import Finding
from ingest.source import AwsAccess, S3Location, SourceKind, SourceSettings
from overrun.cli import main
from overrun.exits import Exit
from tests.fakes.aws import BUCKET, Asked, Aws, First, Refuse
from tests.fakes.exports import cur_lines, deliver_export, deliver_legacy, focus_charge, write_csv
from tests.ingest.night import source

ROLE = "arn:aws:iam::999988887777:role/overrun-reader"
HERE = "account 123456789012"
DENIED = Refuse(403, "AccessDenied")
KEY = "arn:aws:kms:us-east-1:123456789012:key/0aa1-2bb3"
PLACE = f"s3://{BUCKET}/billing"
CONFIGURATION = '[[source]]\nname = "{name}"\nkind = "aws-export"\nlocation = "{place}"\nendpoint_url = "{endpoint}"\n'


def in_s3(aws: Aws, place: str = PLACE, kind: SourceKind = "aws-export", **settings: Any) -> SourceSettings:  # noqa: ANN401
    """Return a source in S3; the settings are the fields of SourceSettings, `access` those of AwsAccess."""
    access = AwsAccess(endpoint_url=aws.endpoint, **settings.pop("access", {}))
    return source(S3Location.parse(place), kind, access=access, **settings)


def failures(findings: list[Finding]) -> list[Finding]:
    """Return what is not well; each has a hint."""
    assert all((finding.hint is None) == (finding.level == "ok") for finding in findings)
    return [finding for finding in findings if finding.level == "fail"]


def the_failure(findings: list[Finding]) -> Finding:
    """Return the one failure that there is."""
    (failure,) = failures(findings)
    assert failure.hint is not None
    return failure


def said(findings: list[Finding]) -> list[str]:
    """Return what is well."""
    return [finding.message for finding in findings if finding.level == "ok"]


@pytest.fixture
def delivered(aws: Aws, bucket: Path) -> Aws:
    """Return an AWS with a bucket in which two months are delivered."""
    for month in ("2026-09", "2026-10"):
        deliver_legacy(bucket, month, [cur_lines("1", month=month)])
    aws.bucket()
    aws.upload(bucket)
    aws.forget()
    return aws


def test_all_is_well_and_little_is_asked(delivered: Aws) -> None:
    findings = probe_source(in_s3(delivered))

    credentials, listed, months, manifest, data = said(findings)
    assert len(findings) == 5
    assert credentials == f"credentials of {HERE} are there"
    assert listed == f"{PLACE} can be listed"
    assert months == "2 months by manifest (2026-09 to 2026-10)"
    assert manifest.endswith("-Manifest.json can be read")
    assert data.endswith("-00001.csv.gz can be read")
    assert {asked.kind for asked in delivered.asked} == {"POST", "LIST", "GET"}
    assert [asked.range for asked in delivered.asked if asked.kind == "GET"] == [None, "bytes=0-0"]
    assert delivered.count("POST") == 1, "STS is asked who is asking, and nothing that costs money"


def test_a_data_export_is_told_by_its_partitions(aws: Aws, bucket: Path) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1")], execution="20261003T051200Z-e1")
    aws.bucket()
    aws.upload(bucket)

    assert "1 month by manifest (2026-10)" in said(probe_source(in_s3(aws, f"s3://{BUCKET}/exp")))


def test_nothing_yet_is_no_failure(aws: Aws) -> None:
    aws.bucket()

    findings = probe_source(in_s3(aws))

    assert [finding.level for finding in findings] == ["ok", "ok", "warn"]
    assert findings[2].message == f"nothing yet at {PLACE}"


@pytest.mark.parametrize("place", [f"s3://{BUCKET}/focus", f"s3://{BUCKET}/focus/2026/charges.csv"])
def test_files_without_a_manifest_are_read_wherever_they_lie(aws: Aws, bucket: Path, place: str) -> None:
    write_csv(bucket / "focus/2026/charges.csv", [focus_charge()])
    aws.bucket()
    aws.upload(bucket)

    findings = probe_source(in_s3(aws, place, "focus-export"))

    assert said(findings)[1:] == [
        f"{place} can be listed",
        "files without a manifest",
        f"s3://{BUCKET}/focus/2026/charges.csv can be read",
    ]


def test_a_bucket_that_may_not_be_listed(delivered: Aws) -> None:
    delivered.once(lambda asked: asked.kind == "LIST", DENIED, times=99)

    failure = the_failure(probe_source(in_s3(delivered)))

    assert "s3:ListBucket on arn:aws:s3:::acme-billing with prefix billing/* is missing" in failure.message
    assert f"asked as {HERE}" in str(failure.hint)


def test_a_folder_that_may_not_be_listed_hides_nothing_else(delivered: Aws) -> None:
    delivered.once(lambda asked: asked.query.get("prefix") == "billing/ml-cur/", DENIED, times=99)

    findings = probe_source(in_s3(delivered))

    assert "s3:ListBucket" in the_failure(findings).message
    assert said(findings)[-1].endswith("can be read")


def test_an_object_that_may_not_be_read_hides_nothing_else(delivered: Aws) -> None:
    delivered.once(lambda asked: asked.kind == "GET", DENIED, times=99)

    findings = probe_source(in_s3(delivered))

    assert "s3:GetObject on arn:aws:s3:::acme-billing/billing/* is missing" in the_failure(findings).message
    assert said(findings)[-1] == "2 months by manifest (2026-09 to 2026-10)"


def test_a_key_that_may_not_be_used_is_named(delivered: Aws) -> None:
    message = f"User: arn:aws:sts::1:x/secret-name is not authorized to perform: kms:Decrypt on resource: {KEY}"
    delivered.once(lambda asked: asked.kind == "GET", Refuse(403, "AccessDenied", message), times=99)

    failure = the_failure(probe_source(in_s3(delivered)))

    assert f"kms:Decrypt on {KEY} is missing" in failure.message
    assert "secret-name" not in f"{failure.message} {failure.hint}"


def test_a_role_is_assumed_and_asks(delivered: Aws) -> None:
    delivered.once(lambda asked: asked.kind == "GET", DENIED, times=99)

    findings = probe_source(in_s3(delivered, access={"role_arn": ROLE, "external_id": "acme-42"}))

    assert said(findings)[:2] == [f"credentials of {HERE} are there", f"the role {ROLE} can be assumed"]
    assert f"asked as {ROLE}" in str(the_failure(findings).hint)


def test_a_role_that_may_not_be_assumed_is_told_once(delivered: Aws) -> None:
    seen: list[Asked] = []

    def refuse_the_second(asked: Asked) -> Refuse | None:
        seen.extend([asked] if asked.method == "POST" else [])
        return DENIED if asked.method == "POST" and len(seen) > 1 else None

    delivered.rules.append(refuse_the_second)

    findings = probe_source(in_s3(delivered, access={"role_arn": ROLE}))

    failure = the_failure(findings)
    assert failure.message == f"the role {ROLE} cannot be assumed"
    for part in ("sts:AssumeRole", "trust policy", "sts:ExternalId", f"asked as {HERE}"):
        assert part in str(failure.hint)
    assert said(findings) == [f"credentials of {HERE} are there"]
    assert delivered.count("LIST") == 0


def test_no_credentials_are_told_once(delivered: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)

    (finding,) = probe_source(in_s3(delivered, organizations=True))

    assert (finding.level, finding.message) == ("fail", "there are no AWS credentials")


def test_s3_is_asked_even_where_sts_does_not_answer(delivered: Aws) -> None:
    delivered.once(lambda asked: asked.method == "POST", Refuse(403, "AccessDenied"), times=99)

    findings = probe_source(in_s3(delivered))

    assert failures(findings) == []
    assert "sts:GetCallerIdentity" in findings[0].message
    assert len(said(findings)) == 4


def test_an_endpoint_that_is_not_there_is_soon_given_up(aws: Aws) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    begun = time.monotonic()

    findings = probe_source(source(S3Location.parse(PLACE), access=AwsAccess(endpoint_url=f"http://127.0.0.1:{port}")))

    assert "127.0.0.1 cannot be reached" in the_failure(findings).message
    assert time.monotonic() - begun < 20
    assert aws.asked == []


def test_accounts_that_may_not_be_listed_are_a_warning(delivered: Aws) -> None:
    refusal = Refuse(400, "AccessDeniedException")
    delivered.once(lambda asked: asked.method == "POST" and delivered.count("POST") > 1, refusal, times=2)

    findings = probe_source(in_s3(delivered, organizations=True))

    warnings = [finding for finding in findings if finding.level == "warn"]
    assert [finding.message for finding in warnings] == [
        "access is denied: organizations:ListAccounts on * is missing",
        "access is denied: organizations:ListTagsForResource on * is missing",
    ]
    assert failures(findings) == []


def test_accounts_are_listed_by_a_source_on_disk_too(aws: Aws, tmp_path: Path) -> None:
    aws.client("organizations").create_organization(FeatureSet="ALL")

    findings = probe_source(source(tmp_path, organizations=True, access=AwsAccess(endpoint_url=aws.endpoint)))

    assert said(findings)[1:] == ["AWS Organizations lists accounts", "AWS Organizations lists tags of accounts"]
    assert len(findings) == 3


def configured(folder: Path, *sources: tuple[str, str, str], more: str = "") -> Path:
    """Write a configuration of sources: name, place, endpoint."""
    texts = [CONFIGURATION.format(name=name, place=place, endpoint=endpoint) for name, place, endpoint in sources]
    file = folder / "overrun.toml"
    file.write_text("".join(texts) + more, encoding="utf-8")
    return file


def checks(config: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit code of the doctor, and what it says about AWS."""
    capsys.readouterr()
    code = main(["doctor", "--json", "--config", str(config), *arguments])
    found = json.loads(capsys.readouterr().out)["checks"]
    return code, [check for check in found if check["name"].startswith(("source", "cost"))]


def test_the_doctor_shows_each_source_in_its_order(
    delivered: Aws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = configured(
        tmp_path,
        ("a", PLACE, delivered.endpoint),
        ("b", "s3://not-there", delivered.endpoint),
        more="organizations = true\n",
    )

    code, found = checks(config, capsys)

    assert code == Exit.SOURCE
    assert [check["level"] for check in found if check["name"] == "source a"] == ["ok"] * 5
    assert [check["level"] for check in found if check["name"] == "source b"] == ["ok", "fail", "warn", "warn"]
    names = [check["name"] for check in found]
    assert names == [*sorted(names[:-1]), "cost explorer"]
    assert "ce:GetCostAndUsage" in found[-1]["message"]


def test_several_sources_are_asked_at_once(delivered: Aws, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = threading.Barrier(2, timeout=8)  # less than a probe waits, so that no second try can be the other
    delivered.once(lambda asked: asked.method == "POST", First(both.wait), times=2)
    config = configured(tmp_path, ("a", PLACE, delivered.endpoint), ("b", PLACE, delivered.endpoint))

    code, _ = checks(config, capsys)

    assert (code, both.broken) == (Exit.DONE, False)


def test_offline_nothing_is_asked(delivered: Aws, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = configured(tmp_path, ("a", PLACE, delivered.endpoint))

    code, (check,) = checks(config, capsys, "--offline")

    assert (code, check["message"]) == (Exit.DONE, f"{PLACE} is not asked offline")
    assert delivered.asked == []
