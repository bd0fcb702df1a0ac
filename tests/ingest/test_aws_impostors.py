"""Something that is no AWS, or not all of it, at the configured address: told, and never taken for nothing yet."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from ingest.aws.cost_explorer import ask_month
from ingest.aws.organizations import list_accounts
from ingest.aws.probe import probe_source
from ingest.aws.session import client, endpoint_of
from ingest.errors import SourceUnreadable
from ingest.finding import Finding
from ingest.source import AwsAccess
from overrun.cli import main
from overrun.exits import Exit
from tests.fakes.aws import BUCKET, Asked, Aws, Cut, Instead, Refuse
from tests.fakes.exports import cur_lines, deliver_legacy
from tests.ingest.night import Night
from tests.ingest.test_aws_probe import CONFIGURATION, DENIED, PLACE, ROLE, failures, in_s3, said, the_failure

PAGE = "<html><head><title>Sign in</title></head><body>secret-text</body></html>"
TORN = "<html><br><p>secret-text"
IMPOSTORS = [Instead(200, PAGE), Instead(200, TORN), Instead(501, "ok"), Instead(200, "ok"), Instead(404, PAGE)]
NOT_AWS = "does not answer as AWS does"
INTERFACE = "https://bucket.vpce-0a1b2c3d-4e5f.s3.us-east-1.vpce.amazonaws.com"


def anything(_: Asked) -> bool:
    return True


def is_sts(asked: Asked) -> bool:
    return asked.method == "POST"


@pytest.fixture
def delivered(aws: Aws, bucket: Path) -> Aws:
    """Return an AWS with a month that is delivered."""
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])
    aws.bucket()
    aws.upload(bucket)
    aws.forget()
    return aws


def warnings(findings: list[Finding]) -> list[str]:
    """Return what is doubtful."""
    return [finding.message for finding in findings if finding.level == "warn"]


@pytest.mark.parametrize("answer", IMPOSTORS)
def test_the_doctor_says_that_something_else_answers(delivered: Aws, answer: Instead) -> None:
    delivered.once(anything, answer, times=99)

    failure = the_failure(probe_source(in_s3(delivered)))

    assert failure.message == f"{delivered.endpoint} {NOT_AWS} (s3:ListBucket)"
    assert "`endpoint_url`" in str(failure.hint)
    assert "secret-text" not in f"{failure.message} {failure.hint}"


@pytest.mark.parametrize("answer", IMPOSTORS)
def test_a_role_cannot_be_assumed_there(delivered: Aws, answer: Instead) -> None:
    delivered.once(anything, answer, times=99)

    findings = probe_source(in_s3(delivered, access={"role_arn": ROLE}))

    assert NOT_AWS in the_failure(findings).message
    assert delivered.count("LIST") == 0


@pytest.mark.parametrize("answer", IMPOSTORS)
@pytest.mark.parametrize("role", [None, ROLE])
def test_the_night_does_not_take_it_for_nothing_yet(
    night: Night, delivered: Aws, answer: Instead, role: str | None
) -> None:
    delivered.once(anything, answer, times=99)

    assert NOT_AWS in str(night.refusal(in_s3(delivered, access={"role_arn": role})))


@pytest.mark.parametrize("answer", IMPOSTORS)
def test_accounts_and_costs_are_not_read_there(delivered: Aws, answer: Instead) -> None:
    delivered.once(anything, answer, times=99)

    with pytest.raises(SourceUnreadable, match=r"another form|does not answer"):
        list_accounts(in_s3(delivered))
    with pytest.raises(SourceUnreadable, match=r"another form|does not answer"):
        ask_month(in_s3(delivered), date(2026, 10, 1), date(2026, 11, 5))
    assert any(NOT_AWS in message for message in warnings(probe_source(in_s3(delivered, organizations=True))))


def test_a_listing_or_head_that_lacks_what_aws_says_is_no_answer(night: Night, delivered: Aws) -> None:
    listing = "<ListBucketResult><Name>acme-billing</Name><Contents><Key>a.csv</Key></Contents></ListBucketResult>"
    delivered.once(lambda asked: asked.kind == "LIST", Instead(200, listing), times=99)
    assert NOT_AWS in str(night.refusal(in_s3(delivered)))
    delivered.forget()
    delivered.once(lambda asked: asked.kind == "HEAD", Instead(200, ""), times=99)
    assert NOT_AWS in str(night.refusal(in_s3(delivered)))


@pytest.mark.parametrize("more", ["", f'role_arn = "{ROLE}"\n'])
def test_the_commands_end_with_3(delivered: Aws, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: str) -> None:
    delivered.once(anything, Instead(200, PAGE), times=99)
    config = tmp_path / "overrun.toml"
    text = CONFIGURATION.format(name="a", place=PLACE, endpoint=delivered.endpoint)
    config.write_text(text + more, encoding="utf-8")

    for command in ("doctor", "nightly"):
        assert main([command, "--config", str(config)]) == Exit.SOURCE
        printed = capsys.readouterr()
        assert NOT_AWS in f"{printed.out}{printed.err}"
        assert "Traceback" not in f"{printed.out}{printed.err}"


@pytest.mark.parametrize("answer", [*IMPOSTORS, Refuse(403, "AccessDenied"), Refuse(400, "InvalidAction")])
def test_without_a_role_an_sts_that_does_not_answer_is_a_warning(delivered: Aws, answer: Instead | Refuse) -> None:
    delivered.once(is_sts, answer, times=99)

    findings = probe_source(in_s3(delivered))

    assert failures(findings) == []
    (warning,) = warnings(findings)
    assert warning.startswith("whose credentials these are is not known: ")
    assert len(said(findings)) == 4


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("ExpiredToken", "the AWS session has expired"),
        ("InvalidClientTokenId", "AWS does not know the access key"),
        ("SignatureDoesNotMatch", "the secret access key does not fit the access key id"),
        ("RequestTimeTooSkewed", "the clock of this machine differs too much from AWS's"),
    ],
)
def test_credentials_that_sts_does_not_take_are_a_failure(delivered: Aws, code: str, message: str) -> None:
    delivered.once(is_sts, Refuse(403, code), times=99)

    findings = probe_source(in_s3(delivered))

    assert the_failure(findings).message == message
    assert len(said(findings)) == 4


def test_a_role_is_asked_for_even_where_sts_does_not_say_who_asks(delivered: Aws) -> None:
    delivered.once(is_sts, DENIED)

    findings = probe_source(in_s3(delivered, access={"role_arn": ROLE}))

    assert failures(findings) == []
    assert f"the role {ROLE} can be assumed" in said(findings)


def test_data_that_may_not_be_read_is_found_though_the_manifest_may(delivered: Aws) -> None:
    delivered.once(lambda asked: asked.kind == "GET" and asked.key.endswith(".gz"), DENIED, times=99)

    findings = probe_source(in_s3(delivered))

    failure = the_failure(findings)
    assert "s3:GetObject on arn:aws:s3:::acme-billing/billing/* is missing" in failure.message
    assert "ml-cur-00001.csv.gz)" in str(failure.hint)
    assert said(findings)[-1].endswith("-Manifest.json can be read")


def test_a_connection_that_breaks_is_told(delivered: Aws) -> None:
    delivered.once(lambda asked: asked.range == "bytes=0-0", Cut(0), times=99)

    assert the_failure(probe_source(in_s3(delivered))).message == "ml-cur-00001.csv.gz: the connection broke"


def test_data_that_is_not_there_is_a_warning(delivered: Aws) -> None:
    client = delivered.client()
    for item in client.list_objects_v2(Bucket=BUCKET)["Contents"]:
        if item["Key"].endswith(".gz"):
            client.delete_object(Bucket=BUCKET, Key=item["Key"])

    findings = probe_source(in_s3(delivered))

    assert failures(findings) == []
    (warning,) = warnings(findings)
    assert "which is not there" in warning


@pytest.mark.parametrize(
    ("endpoint", "is_s3_alone"),
    [
        (INTERFACE, True),
        ("https://s3.eu-west-1.amazonaws.com", True),
        ("https://s3.dualstack.eu-west-1.amazonaws.com/", True),
        ("https://s3-fips.us-gov-west-1.amazonaws.com", True),
        ("https://S3.cn-north-1.amazonaws.com.cn.", True),
        ("https://sts.eu-west-1.amazonaws.com", False),
        ("https://s3.example.com", False),
        ("https://s3.notamazonaws.com", False),
        ("https://s3.amazonaws.com.example.org", False),
    ],
)
def test_an_address_of_aws_for_s3_is_for_s3_alone(endpoint: str, *, is_s3_alone: bool) -> None:
    access = AwsAccess(endpoint_url=endpoint)

    assert endpoint_of(access, "s3") == endpoint
    for service in ("sts", "ce", "organizations"):
        assert endpoint_of(access, service) == (None if is_s3_alone else endpoint)


def test_clients_beside_an_interface_endpoint_ask_aws_itself(aws: Aws) -> None:
    settings = replace(in_s3(aws), access=AwsAccess(endpoint_url=INTERFACE, region="eu-west-1"))

    assert client(settings, "s3").meta.endpoint_url == INTERFACE
    assert client(settings, "sts").meta.endpoint_url.endswith("amazonaws.com")
    assert "vpce" not in client(settings, "sts").meta.endpoint_url
    assert client(settings, "ce").meta.endpoint_url == "https://ce.us-east-1.amazonaws.com"
    assert "vpce" not in client(settings, "organizations").meta.endpoint_url
