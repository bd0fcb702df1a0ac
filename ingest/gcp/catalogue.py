"""Public prices of GPUs, TPUs, processors and memory, as Google's catalogue lists them.

A price is `units` and `nanos`, whole numbers, so that nothing is rounded. Of a SKU only the latest prices are listed,
one row for each region and tier.

Source: Cloud Billing API reference, services.skus.list. No role is needed; the API must be enabled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from ingest.errors import SourceUnreadable
from ingest.gcp.billing_clients import bounded, call_options, catalogue_client
from ingest.gcp.billing_errors import Request, billing_errors
from ingest.source import BillingAccess

if TYPE_CHECKING:
    from google.cloud.billing_v1.types import Sku
    from google.type.money_pb2 import Money

_PAGE = 5000
_GROUPS = frozenset({"CPU", "GPU", "N1Standard", "RAM", "TPU"})
"""Resource groups of what is planned with."""
_WORDS = re.compile(r"\b(?:v?CPUs?|Cores?|GPUs?|Nvidia|RAM|TPUs?)\b", re.IGNORECASE)
"""What else is, in other groups: words of the description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPrice:
    """The price of one SKU in one region from one amount on."""

    sku_id: str
    description: str
    region: str | None
    usage_type: str
    unit: str
    tier_start: float
    """In the unit."""
    currency: str
    price: Decimal
    """Of one unit."""
    effective_from: datetime | None
    """UTC, without zone."""


def list_prices(access: BillingAccess, service_id: str, currency: str) -> list[ListedPrice]:
    """Return the prices of a service; raises SourceUnreadable, also where none is of what is planned with."""
    with billing_errors(_request(access, service_id)), catalogue_client(access) as client:
        pager = client.list_skus(
            request={"parent": f"services/{service_id}", "currency_code": currency, "page_size": _PAGE},
            **call_options(access),
        )
        prices = [
            price
            for page in bounded(pager.pages)
            for sku in page.skus
            if _is_planned_with(sku)
            for price in _prices(sku)
        ]
    if not prices:
        raise SourceUnreadable(
            f"the catalogue lists no price of a GPU, TPU, processor or memory of service {service_id}",
            hint="check `gcp_services` in [prices]",
        )
    return prices


def ask_for_one(access: BillingAccess, service_id: str) -> None:
    """Ask for one SKU of a service, to see whether the catalogue answers; raises SourceUnreadable."""
    with billing_errors(_request(access, service_id)), catalogue_client(access) as client:
        pager = client.list_skus(request={"parent": f"services/{service_id}", "page_size": 1}, **call_options(access))
        next(iter(pager.pages))


def _request(access: BillingAccess, service_id: str) -> Request:
    return Request(
        access=access,
        role=None,
        permission=f"the catalogue of service {service_id}",
        resource=f"service {service_id} in the catalogue",
    )


def _is_planned_with(sku: Sku) -> bool:
    return sku.category.resource_group in _GROUPS or _WORDS.search(sku.description) is not None


def _prices(sku: Sku) -> Iterator[ListedPrice]:
    """Yield the latest prices of a SKU; one without prices has none."""
    for info in list(sku.pricing_info)[-1:]:
        expression = info.pricing_expression
        for tier in expression.tiered_rates:
            for region in (*sku.service_regions,) or (None,):
                yield ListedPrice(
                    sku_id=sku.sku_id,
                    description=sku.description,
                    region=region,
                    usage_type=sku.category.usage_type,
                    unit=expression.usage_unit,
                    tier_start=tier.start_usage_amount,
                    currency=tier.unit_price.currency_code,
                    price=amount(tier.unit_price),
                    effective_from=_instant(info.effective_time),
                )


def amount(money: Money) -> Decimal:
    """Return what units and nanos come to, exactly; both have the same sign.

    Source: google.type.Money.
    """
    return Decimal(money.units) + Decimal(money.nanos).scaleb(-9)


def _instant(value: datetime | None) -> datetime | None:
    return None if value is None else value.astimezone(UTC).replace(tzinfo=None, microsecond=0)
