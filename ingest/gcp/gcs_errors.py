"""What Cloud Storage, or the way to it, refused, as one clear error that says what to do.

No text of Google's is repeated: it may name more than everyone who reads a log should see.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from ingest.errors import SourceDenied, SourceUnreadable
from ingest.gcp.credentials import identity_error, scope_error
from ingest.source import GcsLocation

OBJECT_VIEWER = "roles/storage.objectViewer"
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_GONE = frozenset({404, 412})


def is_passing(error: Exception) -> bool:
    """Return whether a request that was refused so may be answered a moment later."""
    from google.auth.exceptions import TransportError

    return is_busy(error) or is_broken(error) or isinstance(error, TransportError)


def is_busy(error: Exception) -> bool:
    """Return whether the answer was to ask again later."""
    return _code(error) in _PASSING


def is_broken(error: Exception) -> bool:
    """Return whether the connection broke, or the answer ended early."""
    from requests.exceptions import ChunkedEncodingError, ConnectionError, ContentDecodingError, Timeout

    if isinstance(error, ChunkedEncodingError | ContentDecodingError | ConnectionError | Timeout):
        return True
    return type(error).__module__.startswith("urllib3.")


def is_gone(error: Exception) -> bool:
    """Return whether the object is not there any more as it was listed."""
    return _code(error) in _GONE


def explained(error: Exception, location: GcsLocation, permission: str) -> SourceUnreadable:
    """Return a refusal as the error of this layer: one distinct text for each thing to mend.

    An error that is none of Google's is raised as it is.
    """
    from google.auth.exceptions import TransportError

    code = _code(error)
    if isinstance(error, TransportError) or (code is None and is_broken(error)):
        return _unreachable(error, location)
    about_asker = identity_error(error) or scope_error(error, "Cloud Storage")
    if about_asker is not None:
        return about_asker
    if code is None:
        raise error
    return _refused(code, location, permission)


def _refused(code: int, location: GcsLocation, permission: str) -> SourceUnreadable:
    """Return what an answer of Cloud Storage means."""
    if code == 403:
        return SourceDenied(
            f"access is denied: {permission} on gs://{location.bucket} is missing",
            hint=f"grant {OBJECT_VIEWER} on the bucket {location.bucket} to who runs the night: overrun doctor"
            " --print-policy gcp prints the command",
        )
    if code == 404:
        return SourceUnreadable(
            f"there is no bucket of that name (gs://{location.bucket})",
            hint="check `location` of the [[source]]",
        )
    if code == 429:
        return SourceUnreadable(
            f"Cloud Storage asks for fewer requests ({permission} was tried {location.patience.attempts} times)",
            hint="the next run tries again; if it happens often, run the night at a quieter hour",
        )
    if code in _PASSING:
        return SourceUnreadable(
            f"Cloud Storage does not answer now ({code}; {permission} was tried {location.patience.attempts} times)",
            hint="the next run tries again",
        )
    return SourceUnreadable(
        f"Cloud Storage refused {permission} with {code}",
        hint="look the code up in the documentation of Cloud Storage; a requester-pays bucket is not read",
    )


def _unreachable(error: Exception, location: GcsLocation) -> SourceUnreadable:
    host = urlsplit(location.endpoint_url or "").hostname
    return SourceUnreadable(
        f"{host or 'Google Cloud'} cannot be reached ({type(error).__name__})",
        hint="check the network, the proxy, and `endpoint_url` of the [[source]]",
    )


def _code(error: Exception) -> int | None:
    """Return the HTTP status of an answer, None where the error is none."""
    from google.api_core.exceptions import GoogleAPICallError

    if isinstance(error, GoogleAPICallError) and error.code is not None:
        return int(error.code)
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None
