"""A made-up GCP billing account: every cost type and credit type, both models of commitments, and what moves a bill.

`account_rows` gives the rows of a detailed export whose totals per invoice month and currency are `INVOICES`, to the
last decimal. Nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.fakes.exports import GCP_ACCOUNT, Row, gcp_row

CREDIT_TYPES = (
    "SUSTAINED_USAGE_DISCOUNT",
    "DISCOUNT",
    "FREE_TIER",
    "PROMOTION",
    "RESELLER_MARGIN",
    "SUBSCRIPTION_BENEFIT",
    "SPENDING_BASED_DISCOUNT",
    "CREDIT_TYPE_UNSPECIFIED",
    "A_TYPE_OF_TOMORROW",
)
"""Credit types that have nothing to do with commitments, and one that nobody knows yet."""
OLD_SPEND, RESOURCE, OFFSET = (
    "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE",
    "COMMITTED_USAGE_DISCOUNT",
    "FEE_UTILIZATION_OFFSET",
)
DEFAULT = {"id": "7754-699E-0EBF", "description": "Default"}
FLEXIBLE = {"id": "F00D-0000-0001", "description": "Compute flexible CUD 1 year"}
EUR_ACCOUNT = "0EEEEE-EEEEEE-EEEEEE"
EUROS: Mapping[str, Any] = {
    "billing_account_id": EUR_ACCOUNT,
    "currency": "EUR",
    "currency_conversion_rate": Decimal("0.8"),
}
INVOICES: Mapping[tuple[str, str, str], Decimal] = {
    (GCP_ACCOUNT, "USD", "202610"): Decimal("1234.56"),
    (GCP_ACCOUNT, "USD", "202611"): Decimal("77.07"),
    (EUR_ACCOUNT, "EUR", "202610"): Decimal("321.99"),
}
"""What the invoices come to, by account, currency and month; `account_rows` closes each with a row of rounding."""


def account_rows() -> list[Row]:
    """Return every row of the account, in the order of their export."""
    rows = [_whole(row) for row in _charges()]
    totals = dict.fromkeys(INVOICES, Decimal(0))
    for row in rows:
        key = (row["billing_account_id"], row["currency"], row["invoice"]["month"])
        totals[key] += row["cost"] + sum((credit["amount"] for credit in row["credits"]), Decimal(0))
    for (account, currency, month), amount in INVOICES.items():
        rest = amount - totals[account, currency, month]
        # Tax takes the cents, rounding what is left.
        tax = rest.quantize(Decimal("0.01"))
        closing: Row = {"billing_account_id": account, "currency": currency, "month": month, "resource": None}
        start: Row = {
            "start": f"{month[:4]}-{month[4:]}-20 00:00:00 UTC",
            "end": f"{month[:4]}-{month[4:]}-20 01:00:00 UTC",
        }
        rows.append(_whole(gcp_row(cost=str(tax), cost_type="tax", **closing, **start)))
        rows.append(_whole(gcp_row(cost=str(rest - tax), cost_type="rounding_error", project=None, **closing, **start)))
    return rows


def _whole(row: Row) -> Row:
    """Return a row with every column that any row has, so that one parquet file holds them all."""
    empty = {
        "consumption_model": {"id": None, "description": None},
        "subscription": {"instance_id": None},
        "adjustment_info": {"id": None, "description": None, "mode": None, "type": None},
        "cost_at_list": None,
        "cost_at_effective_price_default": None,
    }
    return empty | row


def _hour(day: int, hour: int = 8, month: int = 10) -> Row:
    """Return start and end of an hour, UTC."""
    start = datetime(2026, month, day, hour, tzinfo=UTC)
    return {"start": f"{start:%F %T} UTC", "end": f"{start + timedelta(hours=1):%F %T} UTC"}


def _charges() -> Iterator[Row]:
    """Yield all but tax and rounding."""
    yield from _plain_usage()
    yield from _credit_model()
    yield from _new_model()
    yield from _moved()
    for day in (1, 2):
        fee, covered = Decimal("8.1"), Decimal("10.3")
        yield _fee(fee, "Commitment - dollar based v1: Cloud SQL for 1 year", day, **EUROS)
        yield gcp_row(cost=str(covered), credits=[("-10.3", OLD_SPEND)], **_hour(day), **EUROS)


def _plain_usage() -> Iterator[Row]:
    """Yield usage with each credit, identical rows, a seller's, Support without a project."""
    for number, kind in enumerate(CREDIT_TYPES):
        yield gcp_row(
            cost=f"{number + 1}.000000000001", credits=[("-0.5", kind), ("-0.25", "PROMOTION")], **_hour(number + 1),
            labels=[{"key": "team", "value": f"t{number}"}], cost_at_list=Decimal(number + 2),
        )  # fmt: skip
    for _ in range(2):
        yield gcp_row(cost="0.1", **_hour(3))
    yield gcp_row(cost="12", transaction_type="THIRD_PARTY_RESELLER", seller_name="Acme", **_hour(4))
    yield gcp_row(cost="29", project=None, service={"id": "S", "description": "Support"}, **_hour(5))


def _fee(cost: Decimal, text: str, day: int, **others: Any) -> Row:  # noqa: ANN401 - a column of any type
    """Return the fee of a commitment, for an hour."""
    usage = {
        "amount": Decimal(36000),
        "unit": "seconds",
        "amount_in_pricing_units": Decimal(10),
        "pricing_unit": "hour",
    }
    sku: Row = {
        "sku": {"id": f"FEE-{len(text)}", "description": text},
        "resource": None,
        "project": None,
        "usage": usage,
    }
    return gcp_row(cost=str(cost), **(sku | _hour(day) | others))


def _credit_model() -> Iterator[Row]:
    """Yield fees with credits on usage: spend with and without an originating SKU, unknown discount, resources."""
    label = [{"key": "goog-originating-sku-id", "value": "2E27-4F75-95CD"}]
    for day in range(1, 8):
        yield _fee(Decimal("0.022994"), "Commitment - dollar based v1: GCP for 1 year", day)
        yield _fee(Decimal("0.193006"), "Commitment - dollar based v1: GCP for 1 year", day, labels=label)
        for cost in ("0.174496", "0.093568"):
            yield gcp_row(cost=cost, credits=[(f"-{cost}", OLD_SPEND)], **_hour(day))
    yield _fee(Decimal("3.3"), "Commitment - dollar based v1: new thing", 9)
    for cost in ("1", "1", "1.7"):
        yield gcp_row(cost=cost, credits=[(f"-{cost}", OLD_SPEND), ("-0.1", "PROMOTION")], **_hour(9))
    named: Row = {"subscription": {"instance_id": "subscriptions/cores-1"}}
    yield _fee(Decimal(6), "Commitment v1: Cpu in Americas for 1 Year", 10, **named)
    for _ in range(8):
        yield gcp_row(cost="1", credits=[("-0.9", RESOURCE)], **_hour(10), **named)
    yield _fee(Decimal(5), "Commitment v1: Ram in Americas for 1 Year", 11)


def _new_model() -> Iterator[Row]:
    """Yield fees that are offset, usage at its own price, and a fee that nothing offsets."""
    model: Row = {"subscription": {"instance_id": "flex-1"}}
    for day in range(12, 15):
        offset = [("-0.1256348", OFFSET)]
        yield _fee(
            Decimal("0.125637"),
            "Commitment - dollar based v1: Flex",
            day,
            consumption_model=DEFAULT,
            credits=offset,
            **model,
        )
        yield _fee(Decimal("0.022994"), "Commitment - dollar based v1: Flex", day, consumption_model=DEFAULT, **model)
        yield gcp_row(
            cost="0.125637", consumption_model=FLEXIBLE, cost_at_effective_price_default=Decimal("0.174496"),
            cost_at_list=Decimal("0.2"), **_hour(day), **model,
        )  # fmt: skip
        yield gcp_row(cost="0.109398", consumption_model=DEFAULT, **_hour(day))


def _moved() -> Iterator[Row]:
    """Yield late usage, usage on both sides of a crossover, and corrections in the month in which they are issued."""
    yield gcp_row(cost="7", month="202611", **_hour(30))
    for month, cost in (("202610", "1.5"), ("202611", "2.5")):
        yield gcp_row(cost=cost, month=month, **_hour(1, 2, month=11))
    correction = {"id": "adj-1", "description": "SKU corrected", "mode": "COMPLETE_NEGATION_WITH_REMONETIZATION"}
    info: Row = {"adjustment_info": correction | {"type": "PRICE_CORRECTION"}, "month": "202611"}
    yield gcp_row(cost="-7", credits=[("1", "DISCOUNT")], **_hour(2), **info)
    yield gcp_row(cost="6", credits=[("-1", "DISCOUNT")], **_hour(2), **info)
    yield gcp_row(cost="-20", cost_type="adjustment", project=None, **_hour(2), **info)
    yield gcp_row(cost="50", month="202611", **_hour(9, month=11))
