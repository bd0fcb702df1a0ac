"""What Cloud Billing, or the way to it, refused, as one clear error that names the role or the API.

`explained` is the only place that reads the exceptions of Google's libraries for this API. No text of Google is
repeated but the name of a status: a message may name more than everyone who reads a log should see.

Source: google.api_core.exceptions; Google Cloud documentation, "Error messages" (ErrorInfo.reason).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.errors import SourceDenied, SourceUnreadable
from ingest.gcp.credentials import identity_error, scope_error
from ingest.source import BillingAccess

if TYPE_CHECKING:
    from google.api_core.exceptions import GoogleAPICallError

API = "cloudbilling.googleapis.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for, for the text of a refusal."""

    access: BillingAccess
    role: str | None
    """Role that allows it; None where every caller is allowed."""
    permission: str
    """What the role allows of it."""
    resource: str
    """On what."""


@contextmanager
def billing_errors(request: Request) -> Iterator[None]:
    """Turn the exceptions of Google's libraries inside the `with` block into SourceUnreadable."""
    from google.api_core.exceptions import GoogleAPICallError, RetryError
    from google.auth.exceptions import GoogleAuthError

    try:
        yield
    except (GoogleAPICallError, RetryError, GoogleAuthError) as error:
        raise explained(error, request) from error


def explained(error: Exception, request: Request) -> SourceUnreadable:
    """Return the refusal of `request` as the error of this layer: one distinct text for each thing to mend."""
    from google.api_core.exceptions import GoogleAPICallError, RetryError

    if isinstance(error, RetryError) and isinstance(error.cause, Exception):
        return explained(error.cause, request)
    about_asker = identity_error(error) or scope_error(error, "Cloud Billing")
    if about_asker is not None:
        return about_asker
    return _refused(error, request) if isinstance(error, GoogleAPICallError) else _unreached(request)


def _refused(error: GoogleAPICallError, request: Request) -> SourceUnreadable:
    """Return what an answer of Google means."""
    by_reason = _BY_REASON.get(error.reason or "")
    if by_reason is not None:
        return by_reason(request)
    status = getattr(error.grpc_status_code, "name", None) or "an unnamed error"
    explain = _BY_STATUS.get(status)
    if explain is not None:
        return explain(request)
    return SourceUnreadable(
        f"Cloud Billing refused {request.permission} with {status}",
        hint="look the status up in Google's documentation of the Cloud Billing API, and run again",
    )


def _denied(request: Request) -> SourceUnreadable:
    if request.role is None:
        return SourceDenied(
            f"access is denied: {request.permission}",
            hint=f"no role is needed, but the API: gcloud services enable {API}, in the project of the credentials",
        )
    return SourceDenied(
        f"access is denied: {request.role} on {request.resource} is missing",
        hint=f"grant {request.role} ({request.permission}) on {request.resource} to who runs the night: overrun doctor"
        " --print-policy gcp prints the command",
    )


def _disabled(_request: Request) -> SourceUnreadable:
    return SourceDenied(
        f"the Cloud Billing API ({API}) is not enabled",
        hint=f"gcloud services enable {API}, in the project of the credentials",
    )


def _absent(request: Request) -> SourceUnreadable:
    return SourceUnreadable(
        f"there is no {request.resource}, or nothing of it may be seen",
        hint=f"check the id{f', and {request.role} on it' if request.role else ''}",
    )


def _throttled(_request: Request) -> SourceUnreadable:
    return SourceUnreadable(
        "Google Cloud asks for fewer requests",
        hint="nothing is to be done once: the next night tries again; if it lasts, look at the quotas of the Cloud"
        " Billing API",
    )


def _unreached(request: Request) -> SourceUnreadable:
    return SourceUnreadable(
        f"{request.access.endpoint or API} cannot be reached",
        hint="see whether this machine reaches it, through a proxy or a private endpoint; the next night tries again",
    )


_BY_REASON: dict[str, Callable[[Request], SourceUnreadable]] = {
    "SERVICE_DISABLED": _disabled,
    "RATE_LIMIT_EXCEEDED": _throttled,
}
_BY_STATUS: dict[str, Callable[[Request], SourceUnreadable]] = {
    "PERMISSION_DENIED": _denied,
    "NOT_FOUND": _absent,
    "RESOURCE_EXHAUSTED": _throttled,
    "UNAVAILABLE": _unreached,
    "DEADLINE_EXCEEDED": _unreached,
}
