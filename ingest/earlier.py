"""Parts of an earlier version, brought to the shape that this one reads: for months whose landed files are gone."""

from __future__ import annotations

from collections.abc import Mapping

from sql.contract import STORED_COLUMNS
from sql.parts import texts_name
from sql.warehouse import Warehouse, quoted

_TEXTS = {
    "gcp_export": {"Tags": "tags_text"},
    "aws_cur": {"Tags": "tags_text", "x_CostCategories": "cost_categories_text"},
}
"""Columns whose texts stand beside a part, and their names there, by staging."""


def bring_up_to_date(warehouse: Warehouse, part: str, staging: str) -> None:
    """Give a part the columns and tables that it lacks; what it has in another shape is kept in the new one."""
    columns = _columns(warehouse, part)
    for column in STORED_COLUMNS.get(staging, ()):
        if column.name not in columns:
            warehouse.execute(f"alter table parts.{quoted(part)} add column {quoted(column.name)} {column.type}")
    if staging in _TEXTS and "Tags" in columns:
        _take_tags_apart(warehouse, part, _TEXTS[staging])
    if staging == "gcp_export" and "SkuPriceId" in columns:
        _take_prices_apart(warehouse, part)
    if staging == "gcp_export" and "PricingCurrency" in columns:
        _keep_rates(warehouse, part)


def _take_tags_apart(warehouse: Warehouse, part: str, texts: Mapping[str, str]) -> None:
    """Move the texts of tags to the table beside the part."""
    table = f"parts.{quoted(part)}"
    moved = ", ".join(f"min({quoted(column)}) as {name}" for column, name in texts.items())
    warehouse.execute(
        f'create table parts.{quoted(texts_name(part))} as select "x_TagSetId", {moved} from {table}'
        ' where "x_TagSetId" is not null group by 1'
    )
    for column in texts:
        warehouse.execute(f"alter table {table} drop column {quoted(column)}")


def _take_prices_apart(warehouse: Warehouse, part: str) -> None:
    """Keep of the ids of prices what the ids of SKUs do not say."""
    table = f"parts.{quoted(part)}"
    warehouse.execute(
        f"update {table} set tier_start_amount = nullif(try_cast(split_part(\"SkuPriceId\", '/', -1) as double), 0)"
    )
    for name in ("SkuPriceId", "x_EffectiveCostProvider"):
        warehouse.execute(f"alter table {table} drop column if exists {quoted(name)}")


def _keep_rates(warehouse: Warehouse, part: str) -> None:
    """Keep of costs in the currency of prices what one US dollar is."""
    table = f"parts.{quoted(part)}"
    rate = 'cast("EffectiveCost" as double) / nullif(cast("PricingCurrencyEffectiveCost" as double), 0)'
    warehouse.execute(
        f'update {table} set conversion_rate = case when "PricingCurrency" <> "BillingCurrency" then'
        f" coalesce(conversion_rate, {rate}) end"
    )
    for name in ("PricingCurrency", "PricingCurrencyEffectiveCost", "unused_cost"):
        warehouse.execute(f"alter table {table} drop column if exists {quoted(name)}")


def _columns(warehouse: Warehouse, part: str) -> set[str]:
    """Return the columns of a part."""
    rows = warehouse.rows(
        "select column_name from duckdb_columns() where database_name = current_database() and schema_name = 'parts'"
        " and table_name = ?",
        [part],
    )
    return {str(row[0]) for row in rows}
