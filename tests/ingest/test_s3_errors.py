"""What AWS refuses: each thing to mend has a text of its own, and none repeats a secret."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from botocore import exceptions
from botocore.exceptions import BotoCoreError, ClientError

from ingest.aws.errors import Request, explained
from ingest.source import AwsAccess
from tests.fakes.aws import BUCKET, KEYS, Asked, Aws, Refuse
from tests.fakes.exports import cur_lines, deliver_export
from tests.ingest.night import Night
from tests.ingest.test_s3_deliveries import in_s3

KMS_KEY = "arn:aws:kms:us-east-1:111111111111:key/0a1b2c3d-0000-1111-2222-333344445555"
ARN = f"arn:aws:s3:::{BUCKET}"
ROLE = "arn:aws:iam::999988887777:role/overrun-reader"


def anything(_: Asked) -> bool:
    return True


def is_get(asked: Asked) -> bool:
    return asked.kind == "GET"


@pytest.fixture
def export(bucket: Path, aws: Aws) -> Aws:
    """Return an AWS that has an export of one month."""
    deliver_export(bucket, "2026-10", [cur_lines("1")])
    aws.bucket()
    aws.upload(bucket)
    return aws


@pytest.mark.parametrize(
    ("refusal", "said", "hint"),
    [
        (
            Refuse(403, "ExpiredToken", "The token"),
            "the AWS session has expired",
            "aws sso login",
        ),
        (Refuse(403, "InvalidAccessKeyId", "does not exist"), "AWS does not know the access key", "valid one"),
        (Refuse(403, "SignatureDoesNotMatch", "The signature"), "the secret access key does not fit", "set both"),
        (Refuse(403, "RequestTimeTooSkewed", "The difference"), "the clock of this machine differs", "NTP"),
        (
            Refuse(403, "AccessDenied", "Access Denied"),
            f"s3:ListBucket on arn:aws:s3:::{BUCKET} with prefix exp/*",
            "allow",
        ),
        (
            Refuse(404, "NoSuchBucket", "no"),
            f"there is no bucket of that name (arn:aws:s3:::{BUCKET}",
            "check `location`",
        ),
        (Refuse(400, "AuthorizationHeaderMalformed", "the region"), "the bucket is in another region", "set `region`"),
        (Refuse(418, "SomethingNew", "secret text"), "AWS refused s3:ListBucket with SomethingNew", "ListObjectsV2"),
    ],
)
def test_what_a_listing_is_refused_with(night: Night, export: Aws, refusal: Refuse, said: str, hint: str) -> None:
    export.once(anything, refusal, times=99)

    problem = night.refusal(in_s3(export, f"s3://{BUCKET}/exp"))

    assert said in str(problem)
    assert hint in str(problem.hint)
    assert "secret text" not in f"{problem} {problem.hint}"
    assert problem.source == "main"


@pytest.mark.parametrize(
    ("message", "permission"),
    [
        ("no access to arn:aws:s3:::acme-kms/x", f"s3:GetObject on arn:aws:s3:::{BUCKET}/exp/*"),
        (f"not authorized to perform: kms:Decrypt on resource: {KMS_KEY} because", f"kms:Decrypt on {KMS_KEY}"),
        ("The ciphertext refers to a KMS key that", "kms:Decrypt on the key that encrypts the bucket"),
    ],
)
def test_a_read_that_is_denied_names_the_permission(night: Night, export: Aws, message: str, permission: str) -> None:
    export.once(is_get, Refuse(403, "AccessDenied", message), times=99)

    problem = night.refusal(in_s3(export, f"s3://{BUCKET}/exp"))

    assert f"access is denied: {permission} is missing" in str(problem)


def test_a_source_is_refused_once_and_not_once_per_month(night: Night, bucket: Path, aws: Aws) -> None:
    for month in ("2026-08", "2026-09", "2026-10"):
        deliver_export(bucket, month, [cur_lines("1", month=month)])
    aws.bucket()
    aws.upload(bucket)
    aws.once(is_get, Refuse(403, "AccessDenied"), times=99)

    assert night.refusal(in_s3(aws)).billing_month is None


def test_throttling_that_does_not_end(night: Night, export: Aws) -> None:
    export.once(anything, Refuse(503, "SlowDown", "Please reduce your request rate."), times=99)

    problem = night.refusal(in_s3(export))

    assert "AWS asks for fewer requests" in str(problem)
    assert len(export.asked) == 5


def test_a_bucket_in_another_region_names_it(night: Night, export: Aws) -> None:
    elsewhere = Refuse(301, "PermanentRedirect", headers={"x-amz-bucket-region": "eu-west-3"})
    export.once(anything, elsewhere, times=99)

    assert "the bucket is in another region, eu-west-3" in str(night.refusal(in_s3(export)))


def test_a_role_that_cannot_be_assumed(night: Night, export: Aws) -> None:
    export.once(lambda asked: asked.kind == "POST", Refuse(403, "AccessDenied", "is not authorized"), times=9)

    problem = night.refusal(in_s3(export, access={"role_arn": ROLE}))

    assert f"the role {ROLE} cannot be assumed" in str(problem)
    assert "sts:AssumeRole" in str(problem.hint)
    assert "trust policy" in str(problem.hint)
    assert "`external_id` is not set" in str(problem.hint)


def test_a_clock_that_is_wrong_for_sts(night: Night, export: Aws) -> None:
    refusal = Refuse(403, "SignatureDoesNotMatch", "Signature expired: 20261101T000000Z is now earlier than")
    export.once(lambda asked: asked.kind == "POST", refusal, times=9)

    assert "the clock of this machine" in str(night.refusal(in_s3(export, access={"role_arn": ROLE})))


@pytest.mark.parametrize("kept", [(), ("AWS_ACCESS_KEY_ID",)])
def test_no_credentials(night: Night, export: Aws, monkeypatch: pytest.MonkeyPatch, kept: tuple[str, ...]) -> None:
    for name in KEYS:
        if name not in kept:
            monkeypatch.delenv(name)

    assert "there are no AWS credentials" in str(night.refusal(in_s3(export)))
    assert "there are no AWS credentials" in str(night.refusal(in_s3(export, access={"role_arn": ROLE})))


def test_a_profile_that_is_not_there(night: Night, export: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = night.refusal(in_s3(export, access={"profile": "billing"}))
    assert "there is no AWS profile billing" in str(problem)
    assert "`profile`" in str(problem.hint)
    monkeypatch.setenv("AWS_PROFILE", "of-the-environment")
    assert "there is no AWS profile of the name in AWS_PROFILE" in str(night.refusal(in_s3(export)))


@pytest.mark.usefixtures("aws")
def test_an_endpoint_that_nobody_answers_at(night: Night) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        problem = night.refusal(in_s3(Aws(port=port, upstream=0)))

    assert "127.0.0.1 cannot be reached" in str(problem)
    assert "`endpoint_url`" in str(problem.hint)


def test_no_secret_stands_in_a_refusal(night: Night, export: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "made-up-token")
    hostile = f"key made-up-key secret {KEYS['AWS_SECRET_ACCESS_KEY']} token made-up-token"
    for code in ("AccessDenied", "ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", "Odd", "made up!"):
        export.forget()
        export.once(anything, Refuse(403, code, hostile), times=99)
        problem = night.refusal(in_s3(export))
        assert "made-up" not in f"{problem} {problem.hint}"


def concrete(kind: type[BotoCoreError]) -> list[type[BotoCoreError]]:
    """Return every subclass."""
    return [kind, *(deeper for inner in kind.__subclasses__() for deeper in concrete(inner))]


def test_every_exception_of_the_library_is_explained() -> None:
    request = Request(access=AwsAccess(), permission="s3:ListBucket", resource="arn:aws:s3:::b")

    class Anything(dict[str, Any]):
        def __missing__(self, key: str) -> str:
            return "made-up-secret"

    for kind in concrete(BotoCoreError):
        error = kind.__new__(kind)
        error.kwargs = Anything()
        explanation = explained(error, request)
        assert str(explanation)
        assert explanation.hint
        assert "made-up-secret" not in f"{explanation} {explanation.hint}"
    assert explained(ClientError({}, "ListObjectsV2"), request).hint
    assert exceptions.ClientError is ClientError
