"""What BigQuery, or the way to it, refused, as one clear error that says what to do.

No text of Google is repeated but its reason, of a known form: a message may name more than everyone who reads a log
should see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingest.errors import SourceDenied, SourceUnreadable

_REASON = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
_PASSING_REASONS = frozenset({"rateLimitExceeded", "backendError", "jobRateLimitExceeded", "internalError"})
"""Reasons that BigQuery gives under a status that is else final.

Source: BigQuery documentation, "Error messages".
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for, for the text of a refusal."""

    permission: str
    """What who runs the night must be allowed: `bigquery.jobs.create`."""
    role: str
    """The least role that has it."""
    resource: str
    """On what it is granted: `project acme-billing`."""


def job_request(project: str) -> Request:
    """Return the request to run a query in a project."""
    return Request(permission="bigquery.jobs.create", role="roles/bigquery.jobUser", resource=f"project {project}")


def data_request(dataset: str, permission: str = "bigquery.tables.getData") -> Request:
    """Return the request to read a table, or what it is, in a dataset."""
    return Request(permission=permission, role="roles/bigquery.dataViewer", resource=f"dataset {dataset}")


def session_request(project: str) -> Request:
    """Return the request to open a read session in a project."""
    return Request(
        permission="bigquery.readsessions.create",
        role="roles/bigquery.readSessionUser",
        resource=f"project {project}",
    )


def reason_of(error: Exception) -> str:
    """Return Google's reason for a refusal, empty where it gives none of a known form."""
    details = getattr(error, "errors", None)
    first = details[0] if isinstance(details, list | tuple) and details else None
    reason = str(first.get("reason", "")) if isinstance(first, dict) else ""
    return reason if _REASON.fullmatch(reason) else ""


def is_passing(error: Exception) -> bool:
    """Return whether the same request may well succeed in a moment: too many requests, unavailable, cut off."""
    from google.api_core import exceptions
    from google.auth.exceptions import TransportError
    from requests.exceptions import ChunkedEncodingError, ConnectionError, Timeout

    if isinstance(error, exceptions.GoogleAPICallError) and reason_of(error) in _PASSING_REASONS:
        return True
    passing = (
        exceptions.TooManyRequests,
        exceptions.InternalServerError,
        exceptions.BadGateway,
        exceptions.ServiceUnavailable,
        exceptions.GatewayTimeout,
        exceptions.Aborted,
        exceptions.RetryError,
        TransportError,
        ChunkedEncodingError,
        ConnectionError,
        Timeout,
    )
    return isinstance(error, passing)


def explained(error: Exception, request: Request, attempts: int = 1) -> SourceUnreadable:
    """Return the refusal of `request` as the error of this layer: one distinct text for each thing to mend."""
    from google.api_core import exceptions
    from google.auth.exceptions import GoogleAuthError

    reason = reason_of(error)
    shown = f" ({reason})" if reason else ""
    if is_passing(error):
        return SourceUnreadable(
            f"BigQuery did not answer {request.permission} after {attempts} tries{shown or f' ({_kind(error)})'}",
            hint="the last good version stays; run again, and look at the project's quotas if it comes back",
        )
    if isinstance(error, exceptions.Unauthorized | GoogleAuthError):
        return SourceDenied(
            "Google Cloud does not accept the credentials",
            hint="renew them: the service account's key may be deleted, or the login expired",
        )
    if reason in {"quotaExceeded", "billingTierLimitExceeded", "bytesBilledLimitExceeded"}:
        return _over_limit(reason)
    if isinstance(error, exceptions.Forbidden):
        return SourceDenied(
            f"access is denied: {request.permission} on {request.resource} is missing{shown}",
            hint=f"grant {request.role} on {request.resource} to who runs the night"
            + (", and give its credentials the scope of BigQuery" if "scope" in reason.lower() else ""),
        )
    if isinstance(error, exceptions.NotFound):
        return SourceUnreadable(
            f"{request.resource} does not have what `table` names",
            hint="check `table` of the [[source]] as project.dataset.table, and that its region is not restricted",
        )
    return SourceUnreadable(
        f"BigQuery refused {request.permission} with {_kind(error)}{shown}",
        hint="look the reason up in BigQuery's documentation of error messages, and run again",
    )


def _over_limit(reason: str) -> SourceUnreadable:
    if reason == "bytesBilledLimitExceeded":
        return SourceUnreadable(
            "the query would bill more bytes than `max_bytes_billed`",
            hint="raise `max_bytes_billed` of the [[source]], or lower `lookback_months`",
        )
    return SourceUnreadable(
        f"the job project has used up a quota of BigQuery ({reason})",
        hint="wait until it is renewed, or raise the quota of `job_project`",
    )


def _kind(error: Exception) -> str:
    """Return the kind of an error, by its class."""
    return type(error).__name__
