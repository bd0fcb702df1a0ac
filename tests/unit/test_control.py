"""What a load refuses, where no delivered file can bring it about."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

import pytest

from ingest.control import refuse_unset
from ingest.delivery import Delivery
from ingest.errors import LoadRefused
from ingest.ledger import LoadRecord

LOAD = LoadRecord(
    delivery=Delivery(source="aws", billing_month=date(2026, 10, 1), version="1", files=()),
    export_kind="cur-2",
    part="aws__2026_10",
    loaded_at=datetime(2026, 11, 5, 3),  # noqa: DTZ001 - instants in the warehouse are UTC without zone
    rows_read=2,
    rows_loaded=2,
    last_usage_date=None,
    has_resource_ids=True,
    effective_cost_state="proven",
    totals=(),
    counts=(),
    invoiced=(),
)


def test_charges_without_cost_currency_or_day_are_refused() -> None:
    refuse_unset(LOAD)
    with pytest.raises(LoadRefused, match="2 charges have no cost, no currency or no day"):
        refuse_unset(replace(LOAD, rows_unset=2))
