"""Cloud Billing and its catalogue on this machine: gRPC servers that answer with Google's own messages.

What they are asked is kept; each method fails as often, and in the way, that a test says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import grpc
from google.cloud import billing_v1 as billing
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from google.type.money_pb2 import Money
from grpc_status import rpc_status

COMPUTE, VERTEX = "6F81-5844-456A", "C7E2-9256-1C43"
SECRET = "user:secret-name@acme.example lacks what it needs"
Refusal = tuple[str, str]
"""Name of a status, and the reason beside it, which may be empty."""


@dataclass(slots=True)
class GoogleBilling:
    """Both services, and what they know."""

    port: int = 0
    projects: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)
    """Projects by billing account: id, and whether billing is enabled."""
    skus: dict[str, list[billing.Sku]] = field(default_factory=dict)
    """SKUs by service."""
    visible: list[str] | None = None
    """Billing accounts that may be seen; without it, those that have projects."""
    refusals: dict[str, list[Refusal]] = field(default_factory=dict)
    """What the next requests of a method, or of a method and parent, are refused with; the last stays with `!`."""
    page_size: int = 1000
    """Rows of a page at most, whatever is asked for."""
    asked: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        """Return HOST:PORT."""
        return f"127.0.0.1:{self.port}"

    def refuse(self, method: str, *refusals: Refusal) -> None:
        """Refuse the next requests so."""
        self.refusals[method] = list(refusals)

    def always_refuse(self, method: str, status: str, reason: str = "") -> None:
        """Refuse every request so."""
        self.refusals[method] = [(f"{status}!", reason)]

    def requests(self, method: str) -> list[Any]:
        """Return what a method was asked."""
        return [request for name, request in self.asked if name == method]

    def list_accounts(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: ANN401 - proto-plus has no types
        self._note("list_accounts", "", request, context)
        names = self.projects if self.visible is None else self.visible
        rows = [billing.BillingAccount(name=f"billingAccounts/{name}", open=True) for name in names]
        page, token = self._page(rows, request)
        return billing.ListBillingAccountsResponse(billing_accounts=page, next_page_token=token)

    def list_projects(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: ANN401
        account = request.name.removeprefix("billingAccounts/")
        self._note("list_projects", account, request, context)
        rows = [
            billing.ProjectBillingInfo(
                name=f"projects/{name}/billingInfo",
                project_id=name,
                billing_account_name=request.name if is_enabled else "",
                billing_enabled=is_enabled,
            )
            for name, is_enabled in self.projects[account]
        ]
        page, token = self._page(rows, request)
        return billing.ListProjectBillingInfoResponse(project_billing_info=page, next_page_token=token)

    def list_skus(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: ANN401
        service = request.parent.removeprefix("services/")
        self._note("list_skus", service, request, context)
        page, token = self._page(self.skus.get(service, []), request)
        return billing.ListSkusResponse(skus=page, next_page_token=token)

    def _note(self, method: str, parent: str, request: Any, context: grpc.ServicerContext) -> None:  # noqa: ANN401
        self.asked.append((method, request))
        for key in (method, f"{method} {parent}"):
            waiting = self.refusals.get(key, [])
            if waiting:
                status, reason = waiting[0] if waiting[0][0].endswith("!") else waiting.pop(0)
                _refuse(context, status.removesuffix("!"), reason)

    def _page(self, rows: Sequence[Any], request: Any) -> tuple[list[Any], str]:  # noqa: ANN401
        start = int(request.page_token or 0)
        end = start + min(self.page_size, request.page_size or self.page_size)
        return list(rows[start:end]), str(end) if end < len(rows) else ""


def _refuse(context: grpc.ServicerContext, status: str, reason: str) -> None:
    """End the request with a status, as Google does it: with the reason among its details."""
    code = grpc.StatusCode[status]
    detail = AnyMessage()
    detail.Pack(ErrorInfo(reason=reason, domain="googleapis.com"))
    answer = Status(code=code.value[0], message=SECRET, details=[detail] if reason else [])
    context.abort_with_status(rpc_status.to_status(answer))


def sku(  # noqa: PLR0913 - a SKU has so much
    sku_id: str,
    description: str,
    *amounts: tuple[int, int],
    group: str = "GPU",
    usage_type: str = "OnDemand",
    regions: Sequence[str] = ("europe-west4",),
    unit: str = "h",
    currency: str = "USD",
    tiers: Sequence[float] = (0.0, 100.0, 1000.0),
) -> billing.Sku:
    """Return a SKU; each amount is units and nanos of one tier."""
    rates = [
        billing.PricingExpression.TierRate(
            start_usage_amount=tier, unit_price=Money(currency_code=currency, units=units, nanos=nanos)
        )
        for tier, (units, nanos) in zip(tiers, amounts, strict=False)
    ]
    return billing.Sku(
        name=f"services/{COMPUTE}/skus/{sku_id}",
        sku_id=sku_id,
        description=description,
        category=billing.Category(resource_family="Compute", resource_group=group, usage_type=usage_type),
        service_regions=regions,
        pricing_info=[
            billing.PricingInfo(
                effective_time=datetime(2026, 11, 1, 7, tzinfo=UTC),
                pricing_expression=billing.PricingExpression(usage_unit=unit, tiered_rates=rates),
            )
        ],
    )


@contextmanager
def google_billing() -> Iterator[GoogleBilling]:
    """Run both services for the `with` block."""
    fake = GoogleBilling()
    server = grpc.server(ThreadPoolExecutor(4))
    methods: dict[str, dict[str, tuple[Any, Any, str]]] = {
        "CloudBilling": {
            "ListBillingAccounts": (
                fake.list_accounts,
                billing.ListBillingAccountsRequest,
                "ListBillingAccountsResponse",
            ),
            "ListProjectBillingInfo": (
                fake.list_projects,
                billing.ListProjectBillingInfoRequest,
                "ListProjectBillingInfoResponse",
            ),
        },
        "CloudCatalog": {"ListSkus": (fake.list_skus, billing.ListSkusRequest, "ListSkusResponse")},
    }
    for service, handlers in methods.items():
        server.add_generic_rpc_handlers(
            (
                grpc.method_handlers_generic_handler(
                    f"google.cloud.billing.v1.{service}",
                    {
                        name: grpc.unary_unary_rpc_method_handler(
                            answer,
                            request_deserializer=request.deserialize,
                            response_serializer=getattr(billing, response).serialize,
                        )
                        for name, (answer, request, response) in handlers.items()
                    },
                ),
            )
        )
    fake.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield fake
    finally:
        server.stop(None).wait()
