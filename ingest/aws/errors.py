"""What AWS, or the way to it, refused, as one clear error that says what to do.

`explained` is the only place that reads botocore's exceptions. No text of AWS is repeated but its error code, a KMS
key's ARN and a region, each of a known form: a message of AWS may name more than everyone who reads a log should see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ingest.aws.session import endpoint_of
from ingest.errors import NoIdentity, SourceDenied, SourceUnreadable
from ingest.source import AwsAccess

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError

_KMS_KEY = re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(?:key|alias)/[\w/-]{1,256}")
_ABOUT_KMS = re.compile(r"\bkms:[A-Za-z]|\bKMS\b")
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d")
_CODE = re.compile(r"[A-Za-z0-9._-]{1,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for, for the text of a refusal."""

    access: AwsAccess
    permission: str
    """What the role or user must be allowed: `s3:ListBucket`."""
    resource: str
    """On what: an ARN, and the condition that narrows it."""

    @property
    def service(self) -> str:
        """Return the service that is asked."""
        return self.permission.partition(":")[0]


@contextmanager
def aws_errors(request: Request) -> Iterator[None]:
    """Turn what a call of AWS raises inside the `with` block into SourceUnreadable."""
    try:
        yield
    except failures() as error:
        raise explained(error, request) from error


def failures() -> tuple[type[Exception], ...]:
    """Return what a call of AWS raises, for `explained`: refusals, and that an answer has another form than AWS's.

    KeyError is of that, too: botocore raises it where an answer of STS lacks the element that it looks for.
    """
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    return (BotoCoreError, ClientError, ResponseParserError, KeyError)


def code_of(error: Exception) -> str:
    """Return AWS's code for what went wrong, empty where the error is not an answer of AWS."""
    response = getattr(error, "response", None)
    code = str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""
    return code if _CODE.fullmatch(code) else ""


def explained(error: Exception, request: Request) -> SourceUnreadable:
    """Return one of `failures` of `request` as the error of this layer: one distinct text for each thing to mend."""
    from botocore.exceptions import BotoCoreError, ClientError

    if isinstance(error, ClientError):
        return _refused(error, request)
    if isinstance(error, BotoCoreError):
        return _not_asked(error, request)
    return not_aws(request)


def not_aws(request: Request) -> SourceUnreadable:
    """Return the refusal of an answer that has not AWS's form: something else answers at that address."""
    address = endpoint_of(request.access, request.service)
    return SourceUnreadable(
        f"{address or 'what answers in place of AWS'} does not answer as AWS does ({request.permission})",
        hint="check `endpoint_url` of the [[source]], and whether a proxy or a sign-in page answers instead",
    )


def _refused(error: ClientError, request: Request) -> SourceUnreadable:
    """Return what an answer of AWS means."""
    code = code_of(error)
    message = str(error.response.get("Error", {}).get("Message", ""))
    if code in _SIGNATURE and ("Signature expired" in message or "not yet current" in message):
        return _clock_skewed(error, request)
    if error.operation_name == "AssumeRole" and code in _DENIED:
        return _role_refused(request)
    if code.startswith("KMS.") or _ABOUT_KMS.search(message):
        return _key_refused(message, code)
    for codes, explain in _BY_CODE:
        if code in codes:
            return explain(error, request)
    if not error.operation_name.startswith("Head") and (not code or code.isdecimal()):
        return not_aws(request)  # AWS names its code in the body, which only an answer to HEAD lacks
    return SourceUnreadable(
        f"AWS refused {request.permission} with {code}",
        hint=f"look the code up in AWS's documentation of {error.operation_name}, and run again",
    )


def _role_refused(request: Request) -> SourceUnreadable:
    given = "the one in `external_id`" if request.access.external_id else "none, since `external_id` is not set"
    return SourceUnreadable(
        f"the role {request.access.role_arn} cannot be assumed",
        hint="allow sts:AssumeRole on it to who runs the night, name them in the role's trust policy, and compare the"
        f" policy's sts:ExternalId (sent is {given})",
    )


def _key_refused(message: str, code: str) -> SourceUnreadable:
    key = _KMS_KEY.search(message)
    named = key[0] if key else "the key that encrypts the bucket"
    if code in _DENIED:
        return SourceDenied(
            f"access is denied: kms:Decrypt on {named} is missing",
            hint=f"allow kms:Decrypt on {named}, in the role's or user's policy and in the key's",
        )
    return SourceUnreadable(
        f"the key that encrypts the objects cannot be used ({code})",
        hint=f"see that {named} is enabled and not deleted",
    )


def _denied(_: ClientError, request: Request) -> SourceUnreadable:
    who = "the role" if request.access.role_arn else "who runs the night"
    return SourceDenied(
        f"access is denied: {request.permission} on {request.resource} is missing",
        hint=f"allow {request.permission} on {request.resource} to {who}; a bucket policy or service control policy may"
        " refuse it too",
    )


def _expired(_error: Exception, _request: Request) -> SourceUnreadable:
    return NoIdentity(
        "the AWS session has expired",
        hint="sign in again (aws sso login), or give the night credentials that renew themselves: a role or `role_arn`",
    )


def _unknown_key(_error: Exception, _request: Request) -> SourceUnreadable:
    return NoIdentity(
        "AWS does not know the access key",
        hint="it was deleted, is inactive, or belongs to another partition; give the night a valid one",
    )


def _wrong_signature(_error: Exception, _request: Request) -> SourceUnreadable:
    return NoIdentity(
        "the secret access key does not fit the access key id",
        hint="set both again; a copied secret often lacks a character at its end",
    )


def _clock_skewed(_error: Exception, _request: Request) -> SourceUnreadable:
    return NoIdentity(
        "the clock of this machine differs too much from AWS's",
        hint="set the clock, with NTP or chrony, and run again",
    )


def _no_bucket(_error: Exception, request: Request) -> SourceUnreadable:
    return SourceUnreadable(
        f"there is no bucket of that name ({request.resource})",
        hint="check `location` of the [[source]]; after a new name, also the policies that name the bucket",
    )


def _wrong_region(error: ClientError, _: Request) -> SourceUnreadable:
    answer = error.response.get("Error", {})
    headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    region = str(headers.get("x-amz-bucket-region") or answer.get("Region") or "")
    known = region if _REGION.fullmatch(region) else None
    return SourceUnreadable(
        f"the bucket is in another region{f', {known}' if known else ''}",
        hint=f'set `region = "{known}"` in the [[source]]'
        if known
        else "set `region` of the [[source]] to the bucket's",
    )


def _throttled(_: Exception, request: Request) -> SourceUnreadable:
    return SourceUnreadable(
        f"AWS asks for fewer requests ({request.permission} was tried {request.access.patience.attempts} times)",
        hint="the next run tries again; if it happens often, run the night at a quieter hour",
    )


def _unreachable(error: Exception, _: Request) -> SourceUnreadable:
    url = str(getattr(error, "kwargs", {}).get("endpoint_url") or "")
    host = urlsplit(url).hostname
    return SourceUnreadable(
        f"{host or 'AWS'} cannot be reached ({type(error).__name__})",
        hint="check the network, the proxy, and `endpoint_url` and `region` of the [[source]]",
    )


def _not_asked(error: BotoCoreError, request: Request) -> SourceUnreadable:
    """Return what kept a request from being answered."""
    from botocore import exceptions as known

    access = request.access
    if isinstance(error, known.ProfileNotFound):
        return NoIdentity(
            f"there is no AWS profile {access.profile or 'of the name in AWS_PROFILE'}",
            hint="check `profile` of the [[source]], and the files of the user who runs the night (~/.aws)",
        )
    if isinstance(error, known.SSOError | known.UnauthorizedSSOTokenError | known.TokenRetrievalError):
        return _expired(error, request)
    if isinstance(error, known.NoCredentialsError | known.PartialCredentialsError | known.CredentialRetrievalError):
        return NoIdentity(
            "there are no AWS credentials",
            hint="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or `profile`, or run where a role is given to the"
            " machine",
        )
    if isinstance(error, known.HTTPClientError | known.ConnectionError):
        return _unreachable(error, request)
    return SourceUnreadable(
        f"AWS cannot be asked for {request.permission} ({type(error).__name__})",
        hint="check the AWS configuration of the user who runs the night (~/.aws/config)",
    )


_DENIED = frozenset({"AccessDenied", "AccessDeniedException", "AllAccessDisabled", "UnauthorizedOperation", "403"})
_SIGNATURE = frozenset({"SignatureDoesNotMatch", "InvalidSignatureException", "IncompleteSignature"})
_BY_CODE: tuple[tuple[frozenset[str], Callable[[ClientError, Request], SourceUnreadable]], ...] = (
    (_DENIED, _denied),
    (_SIGNATURE, _wrong_signature),
    (frozenset({"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"}), _expired),
    (
        frozenset(
            {"InvalidAccessKeyId", "InvalidClientTokenId", "UnrecognizedClientException", "InvalidToken", "AuthFailure"}
        ),
        _unknown_key,
    ),
    (frozenset({"RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture"}), _clock_skewed),
    (frozenset({"NoSuchBucket"}), _no_bucket),
    (
        frozenset({"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "301"}),
        _wrong_region,
    ),
    (
        frozenset(
            {"SlowDown", "Throttling", "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded",
             "LimitExceededException", "ServiceUnavailable", "503", "429"}
        ),
        _throttled,
    ),
)  # fmt: skip
