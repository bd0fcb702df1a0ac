"""The native FOCUS export in BigQuery."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from tests.fakes.bigquery import Emulator
from tests.ingest.bigquery_night import source
from tests.ingest.night import Night

FOCUS = "acme-billing.billing.gcp_billing_export_focus_0A1B2C"


def focus_row(cost: str, month: str, **others: object) -> dict[str, object]:
    """Return a row as Google writes it: periods begin at midnight Pacific."""
    return {
        "BilledCost": Decimal(cost),
        "EffectiveCost": Decimal(cost),
        "BillingAccountId": "0A1B2C-3D4E5F-6A7B8C",
        "BillingCurrency": "USD",
        "BillingPeriodStart": f"{month}-01 07:00:00 UTC",
        "ChargeCategory": "Usage",
        "ChargePeriodStart": f"{month}-02 00:00:00 UTC",
        "ChargePeriodEnd": f"{month}-02 01:00:00 UTC",
        "ProviderName": "Google Cloud",
        "ServiceName": "Compute Engine",
        "SubAccountId": "ml-train",
        "x_ExportTime": f"{month}-03 00:00:00 UTC",
        **others,
    }


def test_the_native_focus_export_is_loaded_by_billing_period(night: Night, bigquery: Emulator) -> None:
    bigquery.make(FOCUS, like=focus_row("1", "2026-10"))
    bigquery.add([focus_row("1.5", "2026-10")] * 2, FOCUS)
    bigquery.add([focus_row("7", "2026-11")], FOCUS)

    night.load(source(bigquery, FOCUS))

    assert night.rows('"x_BillingMonth", "BilledCost"') == [
        (date(2026, 10, 1), Decimal("1.5")),
        (date(2026, 10, 1), Decimal("1.5")),
        (date(2026, 11, 1), Decimal(7)),
    ]
    assert not night.load(source(bigquery, FOCUS)).loaded
