"""Clients of BigQuery: credentials, endpoints, and requests that are tried again a few times.

Credentials come from the configured service-account file, else from Google's own chain (application default). An
endpoint on this machine over plain http is an emulator, and gets none. Google's libraries are imported when the first
client is made.
"""

from __future__ import annotations

import json
import os
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from ingest.errors import SourceUnreadable
from ingest.gcp.bq_errors import Request, explained, is_passing
from ingest.source import BigQueryLocation
from sql.secret import SecretReference, SecretUnresolved

if TYPE_CHECKING:
    from google.auth.credentials import Credentials
    from google.cloud.bigquery import Client
    from google.cloud.bigquery_storage_v1.services.big_query_read import BigQueryReadClient

T = TypeVar("T")
SCOPES = ("https://www.googleapis.com/auth/bigquery",)
_MAX_MESSAGE_BYTES = -1
"""Arrow messages may be larger than what gRPC takes unasked; the service cuts them at about 10 MB."""


def query_client(location: BigQueryLocation) -> Client:
    """Return a client for tables and queries, whose jobs the job project pays for; raises SourceUnreadable."""
    from google.api_core.client_options import ClientOptions
    from google.cloud.bigquery import Client

    options = ClientOptions(api_endpoint=location.endpoint_url) if location.endpoint_url else None
    client = Client(project=location.paying_project, credentials=_credentials(location), client_options=options)
    # Connections stay open between requests, and are closed with the client: its own close would keep it alive.
    weakref.finalize(client, client._http.close)
    return client


def read_client(location: BigQueryLocation) -> BigQueryReadClient | None:
    """Return a client of the Storage Read API, or None where only the other endpoint is configured."""
    from google.api_core.client_options import ClientOptions
    from google.cloud.bigquery_storage_v1.services.big_query_read import BigQueryReadClient

    if location.storage_endpoint_url is None:
        return None if location.endpoint_url else BigQueryReadClient(credentials=_credentials(location))
    address = urlsplit(location.storage_endpoint_url)
    if address.scheme == "https":
        options = ClientOptions(api_endpoint=address.netloc)
        return BigQueryReadClient(credentials=_credentials(location), client_options=options)
    import grpc

    channel = grpc.insecure_channel(address.netloc, options=[("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES)])
    return BigQueryReadClient(transport=BigQueryReadClient.get_transport_class("grpc")(channel=channel))


def asked(location: BigQueryLocation, request: Request, call: Callable[[], T]) -> T:
    """Return what a call answers, tried again while the refusal may pass; raises SourceUnreadable."""
    from google.api_core.exceptions import GoogleAPIError
    from google.auth.exceptions import GoogleAuthError
    from requests.exceptions import RequestException

    attempts = max(location.patience.attempts, 1)
    for attempt in range(1, attempts + 1):
        try:
            return call()
        except (GoogleAPIError, GoogleAuthError, RequestException) as error:
            if attempt == attempts or not is_passing(error):
                raise explained(error, request, attempt) from error
            pause(location, attempt)
    raise AssertionError


def pause(location: BigQueryLocation, attempt: int) -> None:
    """Wait before the next try, twice as long each time."""
    time.sleep(location.pause_seconds * 2 ** (attempt - 1))


def _credentials(location: BigQueryLocation) -> Credentials:
    """Return who asks."""
    from google.auth import default
    from google.auth.credentials import AnonymousCredentials
    from google.auth.exceptions import GoogleAuthError
    from google.oauth2 import service_account

    if any((url or "").startswith("http://") for url in (location.endpoint_url, location.storage_endpoint_url)):
        return AnonymousCredentials()  # type: ignore[no-untyped-call]
    hint = "give `credentials` of the [[source]] a service-account file, or run gcloud auth application-default login"
    found: Credentials
    if location.credentials is None:
        try:
            found = default(scopes=SCOPES)[0]
        except GoogleAuthError as error:
            raise SourceUnreadable("there are no usable credentials of Google Cloud", hint=hint) from error
        return found
    try:
        make = service_account.Credentials.from_service_account_info
        found = make(_key(location.credentials), scopes=SCOPES)  # type: ignore[no-untyped-call]
    except (GoogleAuthError, ValueError):
        # What they say may repeat a part of the key.
        raise SourceUnreadable(f"{location.credentials} is no key of a service account", hint=hint) from None
    return found


def _key(reference: SecretReference) -> dict[str, Any]:
    """Return the content of a service-account file; raises ValueError where it is none, without repeating it.

    An environment variable holds the file's content, or its path.
    """
    try:
        text = reference.resolve(os.environ)
        if not text.startswith("{"):
            text = Path(text).read_text(encoding="utf-8")
        key: dict[str, Any] = dict(json.loads(text))
    except SecretUnresolved as error:
        raise SourceUnreadable(str(error), hint="check `credentials` of the [[source]]") from error
    except (OSError, TypeError, ValueError):
        raise ValueError("no JSON object") from None
    return key
