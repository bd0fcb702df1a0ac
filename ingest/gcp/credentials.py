"""Who asks Google Cloud, found alike for each of its services, and what is wrong with who asks.

A service-account file that is configured goes before Google's own chain (application default credentials). An address
on this machine over plain http is a stand-in, and gets no credentials at all. No text of Google's libraries is
repeated, since it may hold a part of a key.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.errors import NoIdentity, SourceDenied
from sql.secret import SecretReference, SecretUnresolved

if TYPE_CHECKING:
    from google.auth.credentials import Credentials

_OUT_OF_SCOPE = ("ACCESS_TOKEN_SCOPE_INSUFFICIENT", "insufficient authentication scopes", "insufficientPermissions")
"""How Google words that a token may not be used for a service.

Source: Google Cloud documentation, "Error messages" (ErrorInfo.reason); Cloud Storage, "HTTP status and error codes".
"""


def find_credentials(reference: SecretReference | None, scope: str, endpoint_url: str | None = None) -> Credentials:
    """Return who asks a service at `endpoint_url` (None: at Google's own); raises NoIdentity."""
    from google.auth import default
    from google.auth.credentials import AnonymousCredentials
    from google.auth.exceptions import GoogleAuthError

    if (endpoint_url or "").startswith("http://"):
        return AnonymousCredentials()  # type: ignore[no-untyped-call]
    if reference is not None:
        return _of_service_account(reference, scope)
    try:
        found: Credentials = default(scopes=(scope,))[0]
    except GoogleAuthError as error:
        raise NoIdentity(
            "there are no Google Cloud credentials",
            hint="let the night run as a service account of its machine, or name a service-account file: `credentials`"
            " of the [[source]], or GOOGLE_APPLICATION_CREDENTIALS for its user",
        ) from error
    return found


def identity_error(error: Exception) -> NoIdentity | None:
    """Return what is wrong with who asks, or None where the error is about something else."""
    from google.api_core.exceptions import Unauthorized
    from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError

    if isinstance(error, RefreshError):
        return NoIdentity(
            "the Google Cloud credentials cannot be renewed",
            hint="sign in again (gcloud auth application-default login), or give the night a service account",
        )
    if isinstance(error, TransportError) or not isinstance(error, GoogleAuthError | Unauthorized):
        return None
    return NoIdentity(
        "Google Cloud does not take the credentials",
        hint="see that the service account is neither disabled nor deleted, and its key still valid",
    )


def scope_error(error: Exception, service: str) -> SourceDenied | None:
    """Return that the credentials may not be used for a service at all, or None where that is not so."""
    if not any(word in f"{error} {getattr(error, 'reason', '')}" for word in _OUT_OF_SCOPE):
        return None
    return SourceDenied(
        f"the scopes of the Google Cloud credentials leave {service} out",
        hint="give the machine the scope cloud-platform, and let roles say what is allowed",
    )


def _of_service_account(reference: SecretReference, scope: str) -> Credentials:
    """Return the service account whose file a reference names."""
    from google.auth.exceptions import GoogleAuthError
    from google.oauth2.service_account import Credentials as ServiceAccount

    try:
        make = ServiceAccount.from_service_account_info
        found: Credentials = make(_key(reference), scopes=(scope,))  # type: ignore[no-untyped-call]
    except SecretUnresolved as error:
        raise NoIdentity(str(error), hint="check `credentials` of the [[source]]") from error
    except (GoogleAuthError, ValueError):
        raise NoIdentity(
            f"{reference} is no key of a service account",
            hint="let `credentials` of the [[source]] name the JSON file that Google made for a service account",
        ) from None
    return found


def _key(reference: SecretReference) -> dict[str, Any]:
    """Return the content of a service-account file; an environment variable holds it, or its path.

    Raises ValueError where it is none, and SecretUnresolved where the reference points at nothing.
    """
    text = reference.resolve(os.environ)
    if reference.scheme == "env" and not text.startswith("{"):
        try:
            text = Path(text).read_text(encoding="utf-8")
        except OSError:
            # It names the path, which may be a key instead.
            raise ValueError from None
    content = json.loads(text)
    if not isinstance(content, dict):
        raise ValueError  # noqa: TRY004 - its form is wrong, not a caller's type
    return content
