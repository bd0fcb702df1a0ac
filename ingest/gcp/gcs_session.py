"""The client of Cloud Storage: credentials and endpoint.

Credentials come from the configured service-account file, else from Google's own chain (application default). An
endpoint on this machine over plain http is asked anonymously unless a key is configured. Google's libraries are
imported when the first client is made.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.errors import SourceUnreadable
from ingest.source import GcsLocation
from sql.secret import SecretReference, SecretUnresolved

if TYPE_CHECKING:
    from google.auth.credentials import Credentials
    from google.cloud.storage import Client

SCOPES = ("https://www.googleapis.com/auth/devstorage.read_only",)
_HINT = "give `credentials` of the [[source]] a service-account file, or run gcloud auth application-default login"


def storage_client(location: GcsLocation) -> Client:
    """Return a client of Cloud Storage; raises SourceUnreadable where there are no usable credentials."""
    from google.api_core.client_options import ClientOptions
    from google.cloud.storage import Client

    options = ClientOptions(api_endpoint=location.endpoint_url) if location.endpoint_url else None
    client = Client(project=None, credentials=_credentials(location), client_options=options)
    # Else each client asks for the bucket itself in a thread of its own, which a reader of objects may not.
    client._bucket_metadata_cache = None
    return client


def _credentials(location: GcsLocation) -> Credentials:
    """Return who asks."""
    from google.auth import default
    from google.auth.credentials import AnonymousCredentials
    from google.auth.exceptions import GoogleAuthError
    from google.oauth2.service_account import Credentials as ServiceAccount

    if location.credentials is not None:
        try:
            return ServiceAccount.from_service_account_info(_key(location.credentials), scopes=SCOPES)  # type: ignore[no-any-return,no-untyped-call]
        except (ValueError, GoogleAuthError, SecretUnresolved) as error:
            problem = str(error) if isinstance(error, SecretUnresolved) else "it is no key of a service account"
            raise SourceUnreadable(f"{location.credentials} cannot be used: {problem}", hint=_HINT) from None
    if (location.endpoint_url or "").startswith("http://"):
        return AnonymousCredentials()  # type: ignore[no-untyped-call]
    try:
        credentials: Credentials = default(scopes=SCOPES)[0]
    except GoogleAuthError as error:
        raise SourceUnreadable("there are no credentials of Google Cloud", hint=_HINT) from error
    return credentials


def _key(reference: SecretReference) -> dict[str, Any]:
    """Return the content of a service-account file; an environment variable holds it, or its path.

    Raises ValueError where it is none.
    """
    text = reference.resolve(os.environ)
    if reference.scheme == "env" and not text.startswith("{"):
        text = SecretReference("file", str(Path(text))).resolve(os.environ)
    content = json.loads(text)
    if not isinstance(content, dict):
        raise ValueError  # noqa: TRY004 - its form is wrong, not a caller's type
    return content
