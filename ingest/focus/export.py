"""FOCUS exports, 1.0 to 1.2, of any provider: the columns are FOCUS's own, so staging fills gaps and normalises names.

Source: FOCUS 1.2, Cost and Usage dataset; the AWS conformance-gaps page for what its exports may leave null.
"""

from __future__ import annotations

from ingest.dataset import Dataset
from ingest.fields import Field, FieldType, folded
from sql.contract import FOCUS_COLUMNS, MONEY

_TYPES: dict[str, FieldType] = {MONEY: "money", "DOUBLE": "number", "TIMESTAMP": "instant", "VARCHAR": "text"}
_JSON = frozenset({"Tags", "SkuPriceDetails"})
_REQUIRED = frozenset({"BilledCost", "ChargePeriodStart"})


def _field(name: str, sql_type: str) -> Field:
    """Return the field of a FOCUS column."""
    kind: FieldType = "json" if name in _JSON else _TYPES[sql_type]
    return Field(name, kind, is_required=name in _REQUIRED, is_billed=name == "BilledCost")


FIELDS: tuple[Field, ...] = (
    *(_field(column.name, column.type) for column in FOCUS_COLUMNS),
    Field("x_Operation"),
    Field("x_UsageType"),
    Field("x_ServiceCode"),
    Field("x_Discounts", "json"),
    Field("x_CostCategories", "json"),
    Field("x_Credits", "json"),
    Field("x_ExportTime", "instant"),
    Field("x_Tags", "json"),
    Field("x_Labels", "json"),
    Field("x_ProjectLabels", "json"),
    Field("x_SystemLabels", "json"),
    Field("x_CostType"),
    Field("x_ServiceId"),
    Field("x_Project.Number"),
    Field("x_Project.AncestryNumbers"),
)


NESTED = {
    "x_Project": "STRUCT(Id VARCHAR, Number VARCHAR, Name VARCHAR, AncestryNumbers VARCHAR, Ancestors JSON)",
    **dict.fromkeys(("x_Tags", "x_Labels", "x_ProjectLabels", "x_SystemLabels", "x_Credits"), "JSON"),
}
"""Nested columns of Google's own FOCUS export."""

EXPECTED = frozenset(
    folded(name)
    for name in (
        "x_CurrencyConversionRate",
        "x_Location",
        "x_Project.Id",
        "x_Project.Name",
        "x_Project.Ancestors",
        "x_SubscriptionInstanceId",
        "x_PriceEffectivePriceDefault",
        "x_PriceListPriceConsumptionModel",
        "x_CostAtEffectivePriceDefault",
        "x_CostAtListConsumptionModel",
        "x_ConsumptionModelId",
        "x_ConsumptionModelDescription",
    )
)
"""Columns of Google's own FOCUS export that staging does not read."""


def recognise(names: frozenset[str]) -> str | None:
    """Return aws-focus where AWS's own columns are there, else focus; None where it is no FOCUS export."""
    if not {"billedcost", "chargeperiodstart", "billingaccountid", "chargecategory"} <= names:
        return None
    return "aws-focus" if "xservicecode" in names else "focus"


FOCUS = Dataset(
    staging="focus",
    fields=FIELDS,
    month='coalesce("BillingPeriodStart", "ChargePeriodStart")',
    recognise=recognise,
    nested=NESTED,
    is_ndjson_bound=True,
    null_text="NULL",
    is_expected=lambda name: folded(name) in EXPECTED,
    effective_cost_state="as delivered",
)
