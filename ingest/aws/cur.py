"""Cost and Usage Report, legacy and 2.0: what staging reads of it, and how its many tag columns become one.

Sources: AWS Cost and Usage Report data dictionary; AWS Data Exports table dictionary, COST_AND_USAGE_REPORT.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from ingest.dataset import Dataset
from ingest.fields import Field, folded, is_text
from ingest.formats import DeliveredColumn
from sql.warehouse import literal

_USER_PREFIXES = ("user:", "user_")
_MARK = "\x1f"
"""Stands for a prefix that was stripped, so that none is stripped twice; JSON text never holds this character bare."""
_TAG_GROUPS = ("resourceTags/", "resource_tags_")
_CATEGORY_GROUPS = ("costCategory/", "cost_category_")
_GROUPS = (
    "bill",
    "identity",
    "lineitem",
    "pricing",
    "product",
    "reservation",
    "savingsplan",
    "splitlineitem",
    "discount",
    "resourcetags",
    "costcategory",
    "capacityreservation",
)
_MAPS = ("resource_tags", "tags", "cost_category", "discount", "product")
_MOST_LABEL_COLUMNS = 100
"""Of which rows are joined to their combination; more take longer to plan than texts to make for each row."""

FIELDS: tuple[Field, ...] = (
    Field("line_item_unblended_cost", "money", is_required=True, is_billed=True),
    Field("line_item_usage_start_date", "instant", is_required=True),
    Field("line_item_usage_account_id", is_required=True),
    Field("line_item_net_unblended_cost", "money", is_strict=True, is_billed=True),
    Field("line_item_usage_end_date", "instant"),
    Field("line_item_usage_account_name"),
    Field("line_item_line_item_type"),
    Field("line_item_line_item_description"),
    Field("line_item_currency_code"),
    Field("line_item_product_code"),
    Field("line_item_usage_type"),
    Field("line_item_operation"),
    Field("line_item_resource_id"),
    Field("line_item_availability_zone"),
    Field("line_item_legal_entity"),
    Field("line_item_usage_amount", "number"),
    Field("bill_bill_type"),
    Field("bill_billing_period_start_date", "instant"),
    Field("bill_invoice_id"),
    Field("bill_invoicing_entity"),
    Field("bill_payer_account_id"),
    Field("bill_payer_account_name"),
    Field("pricing_public_on_demand_cost", "money"),
    Field("pricing_public_on_demand_rate", "money"),
    Field("pricing_currency"),
    Field("pricing_rate_code"),
    Field("pricing_rate_id"),
    Field("pricing_unit"),
    Field("product_product_name", aliases=("product_servicename",)),
    Field("product_product_family"),
    Field("product_region_code", aliases=("product_region",)),
    Field("product_instance_type"),
    Field("product_instance_family"),
    Field("product_operating_system"),
    Field("product_vcpu", "number"),
    Field("product_memory"),
    Field("product_gpu"),
    Field("product_sku"),
    Field("reservation_reservation_a_r_n"),
    Field("amortises_reservations"),
    Field("reservation_effective_cost", "money"),
    Field("reservation_net_effective_cost", "money"),
    Field("reservation_total_reserved_units", "number"),
    Field("reservation_unused_quantity", "number"),
    Field("reservation_start_time", "instant"),
    Field("reservation_end_time", "instant"),
    Field("reservation_amortized_upfront_fee_for_billing_period", "money"),
    Field("reservation_net_amortized_upfront_fee_for_billing_period", "money"),
    Field("reservation_unused_amortized_upfront_fee_for_billing_period", "money"),
    Field("reservation_net_unused_amortized_upfront_fee_for_billing_period", "money"),
    Field("reservation_unused_recurring_fee", "money"),
    Field("reservation_net_unused_recurring_fee", "money"),
    Field("savings_plan_savings_plan_a_r_n"),
    Field("amortises_plans"),
    Field("savings_plan_savings_plan_effective_cost", "money"),
    Field("savings_plan_net_savings_plan_effective_cost", "money"),
    Field("savings_plan_total_commitment_to_date", "money"),
    Field("savings_plan_used_commitment", "money"),
    Field("savings_plan_start_time", "instant"),
    Field("savings_plan_end_time", "instant"),
    Field("savings_plan_amortized_upfront_commitment_for_billing_period", "money"),
    Field("savings_plan_net_amortized_upfront_commitment_for_billing_period", "money"),
    Field("savings_plan_recurring_commitment_for_billing_period", "money"),
    Field("savings_plan_net_recurring_commitment_for_billing_period", "money"),
    Field("split_line_item_parent_resource_id"),
    Field("split_line_item_split_cost", "money"),
    Field("split_line_item_unused_cost", "money"),
    Field("split_line_item_net_split_cost", "money"),
    Field("split_line_item_net_unused_cost", "money"),
    Field("split_line_item_split_usage", "number"),
    Field("split_line_item_actual_usage", "number"),
    Field("split_line_item_reserved_usage", "number"),
    Field("capacity_reservation_capacity_reservation_arn"),
    Field("capacity_reservation_capacity_reservation_status"),
    Field("tags_text", "json"),
    Field("discounts_text", "json"),
    Field("cost_categories_text", "json"),
)

_AMORTISED = {
    "amortises_reservations": frozenset({"reservationeffectivecost", "reservationneteffectivecost"}),
    "amortises_plans": frozenset({"savingsplansavingsplaneffectivecost", "savingsplannetsavingsplaneffectivecost"}),
}
"""Fields that are set where an export carries amortised costs of reservations and Savings Plans: by these columns."""
_PRODUCT_KEYS = {
    "product_product_name": "product_name",
    "product_region_code": "region",
    "product_operating_system": "operating_system",
    "product_vcpu": "vcpu",
    "product_memory": "memory",
    "product_gpu": "gpu",
}


def recognise(names: frozenset[str]) -> str | None:
    """Return legacy-cur or cur-2 where the three columns that every report has are there."""
    if not {"lineitemunblendedcost", "lineitemusagestartdate", "lineitemusageaccountid"} <= names:
        return None
    return "cur-2" if names & {"resourcetags", "costcategory"} else "legacy-cur"


def is_expected(name: str) -> bool:
    """Return whether a column that staging does not read belongs to the report's documented groups."""
    return name.lower() in _MAPS or folded(name).startswith(_GROUPS)


def derive(columns: Sequence[DeliveredColumn]) -> Mapping[str, str]:
    """Return the expressions for tags, cost categories, discounts and what the product map holds."""
    named = {column.name.lower(): column for column in columns}
    names = {folded(column.name) for column in columns}
    expressions = {field: "'delivered'" for field, given in _AMORTISED.items() if names & given}
    tags = _collected(columns, _TAG_GROUPS, tag_key)
    texts = [named[name].reference for name in ("resource_tags", "tags") if name in named and is_text(named[name])]
    if texts:
        expressions["bad_tags_text"] = f"coalesce({', '.join(f'not_json({text})' for text in texts)})"
    if "resource_tags" in named:
        tags = f"coalesce({tags}, {_stripped_map(named['resource_tags'])})"
    if "tags" in named:
        tags = f"coalesce({_prefixed_map(named['tags'])}, {tags})"
    expressions["tags_text"] = tags
    categories = _collected(columns, _CATEGORY_GROUPS, str)
    expressions["cost_categories_text"] = f"coalesce({categories}, {_category_map(named.get('cost_category'))})"
    expressions["discounts_text"] = _map_text(named.get("discount"))
    if "product" in named:
        expressions |= {field: _member(named["product"], key) for field, key in _PRODUCT_KEYS.items()}
        expressions["product_vcpu"] = f"finite_number({expressions['product_vcpu']})"
    return expressions


def label_columns(columns: Sequence[DeliveredColumn]) -> list[str]:
    """Return the columns of tags and cost categories where they are few texts, else none."""
    groups = tuple(group.lower() for group in (*_TAG_GROUPS, *_CATEGORY_GROUPS))
    found = [column for column in columns if column.name.lower().startswith(groups)]
    has_maps = any(column.name.lower() in {"resource_tags", "tags", "cost_category"} for column in columns)
    is_simple = not has_maps and all(map(is_text, found)) and len(found) <= _MOST_LABEL_COLUMNS
    return [column.reference for column in found] if is_simple else []


def tag_key(name: str) -> str:
    """Return the tag key that people set: a user tag without its prefix, AWS's own tags with `aws:`."""
    lowered = name.lower()
    if lowered.startswith(_USER_PREFIXES):
        return name[len("user:") :]
    return f"aws:{name[len('aws_') :]}" if lowered.startswith("aws_") else name


def _collected(columns: Sequence[DeliveredColumn], groups: tuple[str, ...], key: Callable[[str], str]) -> str:
    """Return JSON text from one column per key, keys in order; a column with no value gives no entry."""
    found: dict[str, list[str]] = {}
    for column in columns:
        group = next((group for group in groups if column.name.lower().startswith(group.lower())), None)
        if group is not None:
            found.setdefault(key(column.name[len(group) :]), []).append(column.reference)
    if not found:
        return "cast(null as varchar)"
    entries = [_entry(name, references) for name, references in sorted(found.items())]
    return f"nullif('{{' || concat_ws(',', {', '.join(entries)}) || '}}', '{{}}')"


def _entry(name: str, references: Sequence[str]) -> str:
    """Return the text of one JSON entry, null where the value is empty; of equal headers the first value counts.

    A report may have a thousand tag keys, a column each, and DuckDB plans `nullif` ten times as long as `case`.
    """
    head = literal(json.dumps(name, ensure_ascii=False) + ":")
    filled = [f"nullif({reference}, '')" for reference in references]
    value = references[0] if len(references) == 1 else f"coalesce({', '.join(filled)})"
    return f"case when {value} <> '' then {head} || cast(to_json({value}) as varchar) end"


def _map_text(column: DeliveredColumn | None) -> str:
    """Return a map, or a map delivered as text, as JSON text; an empty one is null."""
    if column is None:
        return "cast(null as varchar)"
    text = f"nullif({column.reference}, '')"
    source = (
        f"case when json_valid({text}) then json({text}) end"
        if column.type == "VARCHAR"
        else f"to_json({column.reference})"
    )
    return f"nullif(cast({source} as varchar), '{{}}')"


def _stripped_map(column: DeliveredColumn) -> str:
    """Return `resource_tags` of CUR 2.0 with `user_` stripped from its keys and `aws_` turned into `aws:`.

    In JSON text a quote inside a string is escaped, so `{"user_` and `,"user_` occur before a key only.
    """
    text = _map_text(column)
    for before in ('{"', ',"'):
        text = f"replace({text}, {literal(before + 'aws_')}, {literal(before + 'aws:')})"
        text = f"replace({text}, {literal(before + 'user_')}, {literal(before + _MARK)})"
        text = f"replace({text}, {literal(before + 'user:')}, {literal(before + _MARK)})"
    return f"without_empty_tags(replace({text}, {literal(_MARK)}, ''))"


def _prefixed_map(column: DeliveredColumn) -> str:
    """Return the newer `tags` map with `resourceTags/` stripped; account and category entries keep their prefix."""
    text = _map_text(column)
    for before in ('{"', ',"'):
        text = f"replace({text}, {literal(before + 'resourceTags/')}, {literal(before)})"
    return f"without_empty_tags({text})"


def _category_map(column: DeliveredColumn | None) -> str:
    """Return `cost_category` of CUR 2.0 as legacy columns give it: a category without value is no entry."""
    return _map_text(None) if column is None else f"without_empty_tags({_map_text(column)})"


def _member(column: DeliveredColumn, key: str) -> str:
    """Return one value of the product map."""
    if column.type == "VARCHAR":
        return f"json_extract_string(try_cast({column.reference} as json), {literal('$.' + key)})"
    return f"{column.reference}[{literal(key)}]"


CUR = Dataset(
    staging="aws_cur",
    fields=FIELDS,
    month="coalesce(bill_billing_period_start_date, line_item_usage_start_date)",
    recognise=recognise,
    derive=derive,
    is_amortised=True,
    keeps_tags_apart=True,
    label_columns=label_columns,
    is_expected=is_expected,
)
