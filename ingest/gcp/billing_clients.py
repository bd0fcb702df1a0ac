"""Clients of Cloud Billing and its catalogue, made alike: credentials, retries, timeouts and pages.

An endpoint of this machine is asked in plain gRPC and without credentials. Google's libraries are imported when the
first client is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypedDict, TypeVar

from ingest.errors import SourceUnreadable
from ingest.gcp.credentials import find_credentials
from ingest.source import BillingAccess

if TYPE_CHECKING:
    from google.api_core.gapic_v1.client_info import ClientInfo
    from google.api_core.retry import Retry
    from google.auth.credentials import Credentials
    from google.cloud.billing_v1 import CloudBillingClient, CloudCatalogClient

T = TypeVar("T")
MOST_PAGES = 2000
"""Pages that are read of one list at most: an answer without an end is none."""
_SCOPE = "https://www.googleapis.com/auth/cloud-billing.readonly"
_ATTEMPT_SECONDS = 60.0
_LONGEST_WAIT_SECONDS = 30.0


class CallOptions(TypedDict):
    """What every call is given."""

    retry: Retry
    timeout: float


def billing_client(access: BillingAccess) -> CloudBillingClient:
    """Return a client of Cloud Billing, to be closed; raises NoIdentity and the errors of google.auth."""
    from google.cloud.billing_v1 import CloudBillingClient
    from google.cloud.billing_v1.services.cloud_billing.transports import CloudBillingGrpcTransport

    if access.endpoint is None:
        return CloudBillingClient(credentials=_credentials(access), client_info=_client_info())
    import grpc

    return CloudBillingClient(transport=CloudBillingGrpcTransport(channel=grpc.insecure_channel(access.endpoint)))


def catalogue_client(access: BillingAccess) -> CloudCatalogClient:
    """Return a client of the catalogue, to be closed; raises NoIdentity and the errors of google.auth."""
    from google.cloud.billing_v1 import CloudCatalogClient
    from google.cloud.billing_v1.services.cloud_catalog.transports import CloudCatalogGrpcTransport

    if access.endpoint is None:
        return CloudCatalogClient(credentials=_credentials(access), client_info=_client_info())
    import grpc

    return CloudCatalogClient(transport=CloudCatalogGrpcTransport(channel=grpc.insecure_channel(access.endpoint)))


def _credentials(access: BillingAccess) -> Credentials:
    """Return who asks, renewed: gRPC tells a renewal that is refused as a service that does not answer."""
    from google.auth.transport.requests import Request

    credentials = find_credentials(access.credentials, _SCOPE)
    credentials.refresh(partial(Request(), timeout=_attempt_seconds(access)))  # type: ignore[no-untyped-call]
    return credentials


def _client_info() -> ClientInfo:
    from google.api_core.gapic_v1.client_info import ClientInfo

    return ClientInfo(user_agent="overrun")  # type: ignore[no-untyped-call] # untyped there


def call_options(access: BillingAccess) -> CallOptions:
    """Return how long an answer is waited for, and that a busy or absent service is asked again for a while."""
    from google.api_core.exceptions import DeadlineExceeded, ResourceExhausted, ServiceUnavailable
    from google.api_core.retry import Retry, if_exception_type

    retry = Retry(
        predicate=if_exception_type(DeadlineExceeded, ResourceExhausted, ServiceUnavailable),
        initial=access.first_wait_seconds,
        maximum=_LONGEST_WAIT_SECONDS,
        timeout=access.retry_seconds,
    )
    return {"retry": retry, "timeout": _attempt_seconds(access)}


def _attempt_seconds(access: BillingAccess) -> float:
    """Return how long one answer is waited for."""
    return min(_ATTEMPT_SECONDS, access.retry_seconds)


def bounded(pages: Iterable[T]) -> Iterator[T]:
    """Yield `pages`, and refuse a list of more than MOST_PAGES."""
    for number, page in enumerate(pages, 1):
        if number > MOST_PAGES:
            raise SourceUnreadable(
                f"a list of Cloud Billing has more than {MOST_PAGES} pages",
                hint="run again; if it lasts, report it",
            )
        yield page
