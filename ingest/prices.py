"""Public prices of what compute is planned with, kept as catalogues last listed them: `settings.price`.

Asked for once a day at most, service by service, where the configuration says so. It fails soft: a service that cannot
be listed leaves the prices that were listed last. Charges are never priced anew with them, since a catalogue has
today's public prices and an export those of the day of usage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from ingest.errors import PricesUnlisted, SourceUnreadable
from ingest.gcp.catalogue import list_prices
from ingest.source import BillingAccess
from sql.contract import PRICE
from sql.settings import replace_settings
from sql.warehouse import Row, Warehouse

PROVIDER = "Google Cloud"
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSettings:
    """`[prices]` of the configuration."""

    services: tuple[str, ...] = ()
    """Ids of the services of Google Cloud; none where its catalogue is not asked."""
    currency: str = "USD"
    access: BillingAccess = field(default_factory=BillingAccess)


def refresh_prices(
    warehouse: Warehouse, settings: PriceSettings, today: date, progress: Progress = lambda _: None
) -> list[PricesUnlisted]:
    """Replace the prices of each service that were not fetched `today`, and return what could not be listed.

    Prices of a service or in a currency that is configured no more are removed.
    """
    refused: list[PricesUnlisted] = []
    rows: list[Row] = []
    for service_id in settings.services:
        rows += _of_service(warehouse, settings, service_id, today, refused, progress)
    if set(rows) != set(warehouse.rows(f"select * from {PRICE.full_name}")):
        replace_settings(warehouse, {PRICE.full_name: rows})
    return refused


def _of_service(
    warehouse: Warehouse,
    settings: PriceSettings,
    service_id: str,
    today: date,
    refused: list[PricesUnlisted],
    progress: Progress,
) -> list[Row]:
    held = warehouse.rows(
        f"select * from {PRICE.full_name} where provider = ? and service_id = ? and currency = ?",
        [PROVIDER, service_id, settings.currency],
    )
    if any(row[-1] == today for row in held):
        return held
    progress(f"asking for prices of service {service_id}")
    try:
        listed = list_prices(settings.access, service_id, settings.currency)
    except SourceUnreadable as error:
        refused.append(PricesUnlisted(str(error), hint=error.hint))
        return held
    return [
        (
            PROVIDER,
            service_id,
            price.sku_id,
            price.description,
            price.region,
            price.usage_type,
            price.unit,
            price.tier_start,
            price.currency,
            price.price,
            price.effective_from,
            today,
        )
        for price in listed
    ]
