"""Parts: one physical table per (source, billing month), and the FOCUS view over them.

A part is *lean*: it stores what differs from row to row. What is constant for its export kind, or follows from other
columns, stands in `models/staging/<staging>.view.sql`, a SELECT over the reserved relation `part`; what is constant
for the part (source, load, month) is written into the view as literals, so that DuckDB skips every part that a filter
on month or source rules out. A swap is `create or replace` of one table; the view is made again in the same
transaction, because its literals change with every load. A view text stands there once per kind of export.

Reads `ops.load`; written by `ingest.load`; read by the model runner (`relation_over`) and by people (the view).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from sql.contract import (
    ANALYSIS_TABLES,
    COST_AND_USAGE,
    FINGERPRINT,
    META,
    OPS_TABLES,
    SCHEMAS,
    SETTINGS_TABLES,
    SPLIT_COST,
    STAGING_OF,
    TAG_SET,
    Table,
)
from sql.errors import ModelError
from sql.meta import is_prepared, read_meta, write_meta
from sql.warehouse import Warehouse, literal, quoted

_VIEWS = {table.full_name: table for table in (COST_AND_USAGE, TAG_SET, SPLIT_COST)}
PARTITIONED = tuple(_VIEWS)
"""Relations that are made of parts: a model that is built by month reads one month of them."""

_PART_REFERENCE = re.compile(r"\bfrom\s+part\b", re.IGNORECASE)
_COMMENT_LINE = re.compile(r"^\s*--.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The load that a part now holds."""

    source: str
    billing_month: date
    load_id: str
    export_kind: str
    name: str
    has_split: bool = False
    """Whether a table of split costs stands beside it."""


def part_name(source: str, billing_month: date) -> str:
    """Return the table name of a part in schema `parts`."""
    return f"{source}__{billing_month:%Y_%m}"


def tags_name(part: str) -> str:
    """Return the name of the table beside a part that holds its tag sets."""
    return f"{part}__tags"


def split_name(part: str) -> str:
    """Return the name of the table beside a part that holds its split costs; most parts have none."""
    return f"{part}__split"


def tables_of(part: str) -> tuple[str, ...]:
    """Return the names of the tables that a part may consist of, its charges first."""
    return part, tags_name(part), split_name(part)


def next_month(billing_month: date) -> date:
    """Return the first day of the month after `billing_month`."""
    return date(billing_month.year + billing_month.month // 12, billing_month.month % 12 + 1, 1)


def prepare(warehouse: Warehouse) -> None:
    """Create the schemas, the tables of `sql.contract`, the macros and the views over parts, where they are missing.

    Where a macro, a view text or the contract has changed since the file was last prepared, they are made again; a
    table of `settings` or `analysis` of another shape is replaced by an empty one, which the next build fills.
    """
    present = is_prepared(warehouse)
    if present and read_meta(warehouse, "view_hash") == view_hash():
        return
    with warehouse.transaction():
        for schema in SCHEMAS:
            warehouse.execute(f"create schema if not exists {schema}")
        for macro in _macro_texts():
            warehouse.execute(macro)
        for table in OPS_TABLES:
            warehouse.execute(table.create_statement())
            comment_on_table(warehouse, table)
        for table in (*SETTINGS_TABLES, *ANALYSIS_TABLES):
            _prepare_derived(warehouse, table)
        write_meta(warehouse, "view_hash", view_hash())
        refresh_views(warehouse)


def _prepare_derived(warehouse: Warehouse, table: Table) -> None:
    """Create a table whose content follows from elsewhere, anew where its columns have changed."""
    rows = warehouse.rows(
        "select column_name from duckdb_columns() where schema_name = ? and table_name = ? order by column_index",
        [table.schema, table.name],
    )
    if rows and [str(row[0]) for row in rows] != [column.name for column in table.columns]:
        warehouse.execute(f"drop table {table.full_name}")
        warehouse.execute(f"delete from {META.full_name} where key = ?", [f"settings:{table.full_name}"])
        warehouse.execute(f"delete from {FINGERPRINT.full_name} where model = ?", [table.full_name])
    warehouse.execute(table.create_statement())
    comment_on_table(warehouse, table)


@cache
def view_hash() -> str:
    """Return a hash of all that the FOCUS view is made of besides parts and ledger: contract, view texts, macros."""
    tables = (COST_AND_USAGE, TAG_SET, SPLIT_COST, *SETTINGS_TABLES, *ANALYSIS_TABLES)
    texts = [*map(str, tables), *(view_text(kind) for kind in sorted(STAGING_OF)), *_macro_texts()]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


@cache
def _macro_texts() -> tuple[str, ...]:
    """Return the statements that create the macros of schema `focus`, by file name."""
    return tuple(entry.read_text(encoding="utf-8") for entry in _entries("macros", "focus"))


def _entries(*folder: str) -> list[Traversable]:
    """Return the SQL files of a folder of this package, by name."""
    entries = [entry for entry in files("sql").joinpath(*folder).iterdir() if entry.name.endswith(".sql")]
    return sorted(entries, key=lambda entry: entry.name)


def current_parts(warehouse: Warehouse) -> list[Part]:
    """Return the parts in force, by source and month."""
    rows = warehouse.rows(
        "select load.source, load.billing_month, load.load_id, load.export_kind, load.part,"
        " split.table_name is not null from ops.load as load left join"
        " (select table_name from duckdb_tables() where database_name = current_database() and schema_name = 'parts')"
        " as split on split.table_name = load.part || '__split'"
        " where load.is_current order by load.source, load.billing_month"
    )
    return [
        Part(
            source=str(row[0]),
            billing_month=_as_date(row[1]),
            load_id=str(row[2]),
            export_kind=str(row[3]),
            name=str(row[4]),
            has_split=bool(row[5]),
        )
        for row in rows
    ]


def refresh_views(warehouse: Warehouse) -> None:
    """Make the views of `PARTITIONED` again over the parts in force, with their comments."""
    parts = current_parts(warehouse)
    for table in _VIEWS.values():
        warehouse.execute(f"create or replace view {table.full_name} as {relation_over(table.full_name, parts)}")
        comment_on_table(warehouse, table, kind="view")


def relation_over(relation: str, parts: Sequence[Part]) -> str:
    """Return the SELECT that gives `relation` over just these parts, columns in contract order and of its types."""
    table = _VIEWS[relation]
    branches = _branches(table, parts)
    if not branches:
        columns = ", ".join(f"cast(null as {column.type}) as {quoted(column.name)}" for column in table.columns)
        return f"select {columns} where false"
    columns = ", ".join(
        f"cast({quoted(column.name)} as {column.type}) as {quoted(column.name)}" for column in table.columns
    )
    return f"select {columns} from ({' union all by name '.join(branches)})"


@cache
def view_text(export_kind: str) -> str:
    """Return the view SELECT of a kind without comments; it must read the relation `part` once."""
    name = f"{STAGING_OF[export_kind]}.view.sql"
    text = _COMMENT_LINE.sub("", files("sql").joinpath("models", "staging", name).read_text(encoding="utf-8"))
    if len(_PART_REFERENCE.findall(text)) != 1:
        raise ModelError(name, "must read the relation `part` exactly once")
    return text.strip().rstrip(";")


def comment_on_table(warehouse: Warehouse, table: Table, kind: str = "table") -> None:
    """Attach the descriptions of the contract, so that people who open the file see them."""
    statements = [f"comment on {kind} {table.full_name} is {literal(table.description)}"]
    statements += [
        f"comment on column {table.full_name}.{quoted(column.name)} is {literal(column.description)}"
        for column in table.columns
    ]
    warehouse.execute(";\n".join(statements))


def _branches(table: Table, parts: Sequence[Part]) -> list[str]:
    """Return the SELECTs whose union is `table` over these parts."""
    if table is COST_AND_USAGE:
        return _charge_branches(parts)
    if table is SPLIT_COST:
        return [_split_branch(part) for part in parts if part.has_split]
    return [_tag_branch(part) for part in parts]


def _charge_branches(parts: Sequence[Part]) -> list[str]:
    """Return one SELECT per view text, over the union of all parts that it is for.

    The text stands there once and not once per part: with thirteen months, planning a query took 135 ms otherwise.
    """
    stored: dict[str, list[str]] = {}
    for part in parts:
        stored.setdefault(view_text(part.export_kind), []).append(_stored(part))
    return [_reading(text, " union all by name ".join(tables)) for text, tables in stored.items()]


def _reading(text: str, union: str) -> str:
    """Return a view text whose relation `part` is `union`."""
    return f"select * from ({_PART_REFERENCE.sub(lambda _: f'from ({union})', text)})"


def _stored(part: Part) -> str:
    """Return the SELECT of the stored columns of a part beside the literals of its load."""
    month, following = part.billing_month, next_month(part.billing_month)
    return (
        f'select *, {literal(part.source)} as "x_Source", {literal(part.load_id)} as "x_LoadId",'
        f" date '{month}' as \"x_BillingMonth\", timestamp '{month} 00:00:00' as \"BillingPeriodStart\","
        f" timestamp '{following} 00:00:00' as \"BillingPeriodEnd\" from parts.{quoted(part.name)}"
    )


def _tag_branch(part: Part) -> str:
    """Return the SELECT of the tag sets of one part."""
    return (
        f"select {literal(part.source)} as source, date '{part.billing_month}' as billing_month,"
        f" tag_set_id, tag_key, tag_value from parts.{quoted(tags_name(part.name))}"
    )


def _split_branch(part: Part) -> str:
    """Return the SELECT of the split costs of one part."""
    return (
        f"select {literal(part.source)} as source, date '{part.billing_month}' as billing_month,"
        f' "x_TagSetId" as tag_set_id, * from parts.{quoted(split_name(part.name))}'
    )


def _as_date(value: object) -> date:
    """Return a DATE that DuckDB gave as a date."""
    if not isinstance(value, date):
        raise TypeError(f"expected a date, got {type(value).__name__}")
    return value
