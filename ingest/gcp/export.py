"""The Cloud Billing export, standard and detailed, however it was taken out of BigQuery: parquet, NDJSON or flat CSV.

Nested columns are bound by dotted names (`project.id`), repeated ones are read as JSON text. Columns that a table does
not have yet are null, new ones are counted.

Source: Cloud Billing documentation, "Structure of the standard / detailed usage cost data".
"""

from __future__ import annotations

from ingest.dataset import Dataset
from ingest.errors import SourceUnreadable
from ingest.fields import Field, folded

_LIST = "JSON"

NESTED = {
    "service": "STRUCT(id VARCHAR, description VARCHAR)",
    "sku": "STRUCT(id VARCHAR, description VARCHAR)",
    "project": "STRUCT(id VARCHAR, number VARCHAR, name VARCHAR, ancestry_numbers VARCHAR, labels JSON)",
    "location": "STRUCT(location VARCHAR, region VARCHAR, zone VARCHAR)",
    "resource": "STRUCT(name VARCHAR, global_name VARCHAR)",
    "usage": (
        "STRUCT(amount VARCHAR, unit VARCHAR, amount_in_pricing_units VARCHAR, amount_in_pricing_unit VARCHAR,"
        " pricing_unit VARCHAR)"
    ),
    "invoice": "STRUCT(month VARCHAR)",
    "price": (
        "STRUCT(effective_price VARCHAR, effective_price_default VARCHAR, list_price VARCHAR,"
        " tier_start_amount VARCHAR)"
    ),
    "subscription": "STRUCT(instance_id VARCHAR)",
    "consumption_model": "STRUCT(id VARCHAR)",
    "adjustment_info": 'STRUCT(id VARCHAR, description VARCHAR, mode VARCHAR, "type" VARCHAR)',
    "adjustmentsInfo": 'STRUCT(id VARCHAR, description VARCHAR, mode VARCHAR, "type" VARCHAR)',
    "labels": _LIST,
    "system_labels": _LIST,
    "tags": _LIST,
    "credits": _LIST,
}
"""Types of nested NDJSON columns, with the members that staging reads."""

FIELDS: tuple[Field, ...] = (
    Field("cost", "money", is_required=True, is_billed=True),
    Field("usage_start_time", "instant", is_required=True),
    Field("billing_account_id", is_required=True),
    Field("usage_end_time", "instant"),
    Field("export_time", "instant"),
    Field("invoice.month"),
    Field("cost_type"),
    Field("currency"),
    Field("currency_conversion_rate", "number"),
    Field("service.id"),
    Field("service.description"),
    Field("sku.id"),
    Field("sku.description"),
    Field("project.id"),
    Field("project.number"),
    Field("project.name"),
    Field("project.ancestry_numbers"),
    Field("project.labels", "records"),
    Field("labels", "records"),
    Field("system_labels", "records"),
    Field("tags", "records"),
    Field("credits", "records", is_strict=True, is_counted_absent=True),
    Field("location.location"),
    Field("location.region"),
    Field("location.zone"),
    Field("resource.name"),
    Field("resource.global_name"),
    Field("usage.amount", "number"),
    Field("usage.unit"),
    Field("usage.amount_in_pricing_units", "number", aliases=("usage.amount_in_pricing_unit",)),
    Field("usage.pricing_unit"),
    Field("price.effective_price", "money"),
    Field("price.list_price", "money"),
    Field("price.tier_start_amount", "number"),
    Field("price.effective_price_default", "money"),
    Field("cost_at_list", "money"),
    Field("cost_at_effective_price_default", "money"),
    Field("transaction_type"),
    Field("seller_name"),
    Field("consumption_model.id"),
    Field("subscription.instance_id"),
    Field("customer_cost", "money"),
    *(
        Field(f"adjustment_info.{name}", aliases=(f"adjustmentsInfo.{name}",))
        for name in ("id", "description", "mode", "type")
    ),
)


EXPECTED = frozenset(
    folded(name)
    for name in (
        "partition_date",
        "location.country",
        "project.ancestors",
        "price.unit",
        "price.pricing_unit_quantity",
        "price.list_price_consumption_model",
        "price.effective_price_default",
        "invoice.publisher_type",
        "channel_partner_cost",
        "payer_billing_account_id",
        "consumption_model.description",
        "cost_at_list_consumption_model",
    )
)
"""Documented columns that staging does not read."""


def recognise(names: frozenset[str]) -> str | None:
    """Return gcp-detailed where resources are there, else gcp-standard; None where it is no billing export.

    Raises SourceUnreadable where credits are no list: a row with several stands there once for each, cost and all, or
    has the first alone.
    """
    if not {"cost", "usagestarttime", "billingaccountid"} <= names:
        return None
    if "creditsamount" in names:
        raise SourceUnreadable(
            "credits.amount is a column, so that a row with several credits counts several times, or loses some",
            hint="export `credits` as the list that it is, in CSV as TO_JSON_STRING(credits), without UNNEST",
        )
    return "gcp-detailed" if "resourceglobalname" in names else "gcp-standard"


GCP_EXPORT = Dataset(
    staging="gcp_export",
    fields=FIELDS,
    month='gcp_invoice_month("invoice.month", usage_start_time)',
    recognise=recognise,
    nested=NESTED,
    is_ndjson_bound=True,
    is_amortised=True,
    spreads_fees=True,
    keeps_tags_apart=True,
    is_expected=lambda name: folded(name) in EXPECTED,
)
