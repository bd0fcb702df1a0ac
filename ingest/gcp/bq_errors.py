"""What BigQuery, or the way to it, refused, as one clear error that says what to do.

No text of Google is repeated but its reason, of a known form: a message may name more than everyone who reads a log
should see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingest.errors import SourceDenied, SourceUnreadable
from ingest.gcp.credentials import identity_error, scope_error

DATA_VIEWER = "roles/bigquery.dataViewer"
JOB_USER = "roles/bigquery.jobUser"
READ_SESSION_USER = "roles/bigquery.readSessionUser"
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
    api: str = "bigquery.googleapis.com"
    """The API that is asked."""


def job_request(project: str) -> Request:
    """Return the request to run a query in a project."""
    return Request(permission="bigquery.jobs.create", role=JOB_USER, resource=f"project {project}")


def data_request(dataset: str, permission: str = "bigquery.tables.getData") -> Request:
    """Return the request to read a table, or what it is, in a dataset."""
    return Request(permission=permission, role=DATA_VIEWER, resource=f"dataset {dataset}")


def session_request(project: str) -> Request:
    """Return the request to open a read session in a project."""
    return Request(
        permission="bigquery.readsessions.create",
        role=READ_SESSION_USER,
        resource=f"project {project}",
        api="bigquerystorage.googleapis.com",
    )


def reason_of(error: Exception) -> str:
    """Return Google's reason for a refusal, empty where it gives none of a known form."""
    details = getattr(error, "errors", None)
    first = details[0] if isinstance(details, list | tuple) and details else None
    reason = str(first.get("reason", "") if isinstance(first, dict) else getattr(error, "reason", ""))
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

    reason = reason_of(error)
    shown = f" ({reason})" if reason else ""
    if _is_unreachable(error):
        return SourceUnreadable(
            f"BigQuery cannot be reached ({_kind(error)}; {attempts} tries)",
            hint="the last good version stays; check the network, the proxy, and `endpoint_url` of the [[source]]",
        )
    if is_passing(error):
        return SourceUnreadable(
            f"BigQuery did not answer {request.permission} after {attempts} tries{shown or f' ({_kind(error)})'}",
            hint="the last good version stays; run again, and look at the project's quotas if it comes back",
        )
    known = identity_error(error) or scope_error(error, "BigQuery") or _known_by_reason(reason, request)
    if known is not None:
        return known
    if isinstance(error, exceptions.Forbidden):
        return SourceDenied(
            f"access is denied: {request.permission} on {request.resource} is missing{shown}",
            hint=f"grant {request.role} on {request.resource} to who runs the night: overrun doctor --print-policy gcp"
            " prints the command",
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


def _known_by_reason(reason: str, request: Request) -> SourceUnreadable | None:
    """Return what a reason alone says, or None."""
    if reason in {"accessNotConfigured", "SERVICE_DISABLED"}:
        return SourceDenied(
            f"the BigQuery API ({request.api}) is not enabled",
            hint=f"gcloud services enable {request.api}, in the project of the credentials and in the one that pays",
        )
    if reason == "bytesBilledLimitExceeded":
        return SourceUnreadable(
            "the query would bill more bytes than `max_bytes_billed`",
            hint="raise `max_bytes_billed` of the [[source]], or lower `lookback_months`",
        )
    if reason in {"quotaExceeded", "billingTierLimitExceeded"}:
        return SourceUnreadable(
            f"the job project has used up a quota of BigQuery ({reason})",
            hint="wait until it is renewed, or raise the quota of `job_project`",
        )
    return None


def _is_unreachable(error: Exception) -> bool:
    """Return whether no connection was made at all: no such host, nobody who listens, or a network without a way."""
    from requests.exceptions import ConnectionError
    from urllib3.exceptions import MaxRetryError

    # Who is asked for a token first is wrapped once more.
    made = next((item for item in (error, error.__cause__) if isinstance(item, ConnectionError)), None)
    return made is not None and any(isinstance(cause, MaxRetryError) for cause in made.args)


def _kind(error: Exception) -> str:
    """Return the kind of an error, by its class."""
    return type(error).__name__
