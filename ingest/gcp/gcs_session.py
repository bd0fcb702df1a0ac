"""The client of Cloud Storage. Google's libraries are imported when the first one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.gcp.credentials import find_credentials
from ingest.source import GcsLocation

if TYPE_CHECKING:
    from google.cloud.storage import Client

SCOPE = "https://www.googleapis.com/auth/devstorage.read_only"


def storage_client(location: GcsLocation) -> Client:
    """Return a client of Cloud Storage; raises NoIdentity."""
    from google.api_core.client_options import ClientOptions
    from google.cloud.storage import Client

    options = ClientOptions(api_endpoint=location.endpoint_url) if location.endpoint_url else None
    credentials = find_credentials(location.credentials, SCOPE, location.endpoint_url)
    client = Client(project=None, credentials=credentials, client_options=options)
    # Else each client asks for the bucket itself in a thread of its own, which a reader of objects may not.
    client._bucket_metadata_cache = None
    return client
