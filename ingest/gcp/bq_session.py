"""Clients of BigQuery: endpoints, and requests that are tried again a few times.

Google's libraries are imported when the first client is made.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from ingest.gcp.bq_errors import Request, explained, is_passing
from ingest.gcp.credentials import find_credentials
from ingest.source import BigQueryLocation

if TYPE_CHECKING:
    from google.cloud.bigquery import Client
    from google.cloud.bigquery_storage_v1.services.big_query_read import BigQueryReadClient

T = TypeVar("T")
SCOPE = "https://www.googleapis.com/auth/bigquery"
_MAX_MESSAGE_BYTES = -1
"""Arrow messages may be larger than what gRPC takes unasked; the service cuts them at about 10 MB."""


def query_client(location: BigQueryLocation) -> Client:
    """Return a client for tables and queries, whose jobs the job project pays for; raises SourceUnreadable."""
    from google.api_core.client_options import ClientOptions
    from google.cloud.bigquery import Client

    options = ClientOptions(api_endpoint=location.endpoint_url) if location.endpoint_url else None
    credentials = find_credentials(location.credentials, SCOPE, location.endpoint_url)
    client = Client(project=location.paying_project, credentials=credentials, client_options=options)
    # Connections stay open between requests, and are closed with the client: its own close would keep it alive.
    weakref.finalize(client, client._http.close)
    return client


def read_client(location: BigQueryLocation) -> BigQueryReadClient | None:
    """Return a client of the Storage Read API, or None where only the other endpoint is configured."""
    from google.api_core.client_options import ClientOptions
    from google.cloud.bigquery_storage_v1.services.big_query_read import BigQueryReadClient

    address = urlsplit(location.storage_endpoint_url or "")
    if location.storage_endpoint_url is None and location.endpoint_url is not None:
        return None
    if address.scheme != "http":
        options = ClientOptions(api_endpoint=address.netloc or None)
        return BigQueryReadClient(credentials=find_credentials(location.credentials, SCOPE), client_options=options)
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
