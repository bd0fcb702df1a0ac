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
    OPS_TABLES,
    SCHEMAS,
    SETTINGS_TABLES,
    SPLIT_COST,
    STAGING_OF,
    TAG_SET,
    USAGE_TABLES,
    Table,
)
from sql.errors import ModelError
from sql.meta import is_prepared, read_meta, write_meta
from sql.settings import forget_settings
from sql.warehouse import Warehouse, literal, quoted

_VIEWS = {table.full_name: table for table in (COST_AND_USAGE, TAG_SET, SPLIT_COST)}
PARTITIONED = tuple(_VIEWS)
"""Relations that are made of parts: a model that is built by month reads one month of them."""

_ASIDE = "__aside"
_ASIDE_NAME = rf"__\d{{4}}_\d{{2}}{_ASIDE}(__[a-z_]+)?"
"""How the name of a table of a part that is written aside ends: a source may be called anything."""
_PART_REFERENCE = re.compile(r"\bfrom\s+part\b", re.IGNORECASE)
_TAG_TEXT_REFERENCE = re.compile(r"\bfrom\s+tag_text\b", re.IGNORECASE)
_TAGGED = re.compile(r"\bleft join tagged using \([^)]*\)")
_TAGGED_COLUMN = re.compile(r"\bas (\"?\w+\"?),")
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


def texts_name(part: str) -> str:
    """Return the name of the table beside a part that holds the JSON text of its tags, where rows have its id alone."""
    return f"{part}__tag_texts"


def aside_name(part: str) -> str:
    """Return the name that a part is written under before it takes the place of the one in force."""
    return f"{part}{_ASIDE}"


def tables_of(part: str) -> tuple[str, ...]:
    """Return the names of the tables that a part may consist of, its charges first."""
    return part, tags_name(part), split_name(part), texts_name(part)


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
        for table in USAGE_TABLES:
            _prepare_kept(warehouse, table)
        for table in (*SETTINGS_TABLES, *ANALYSIS_TABLES):
            _prepare_derived(warehouse, table)
        write_meta(warehouse, "view_hash", view_hash())
        refresh_views(warehouse)


def _prepare_kept(warehouse: Warehouse, table: Table) -> None:
    """Create a table whose content nothing else has, or add the columns that it lacks."""
    warehouse.execute(table.create_statement())
    for column in table.columns:
        warehouse.execute(f"alter table {table.full_name} add column if not exists {quoted(column.name)} {column.type}")
    comment_on_table(warehouse, table)


def _prepare_derived(warehouse: Warehouse, table: Table) -> None:
    """Create a table whose content follows from elsewhere, anew where its columns have changed."""
    rows = warehouse.rows(
        "select column_name from duckdb_columns() where schema_name = ? and table_name = ? order by column_index",
        [table.schema, table.name],
    )
    if rows and [str(row[0]) for row in rows] != [column.name for column in table.columns]:
        warehouse.execute(f"drop table {table.full_name}")
        forget_settings(warehouse, table)
        warehouse.execute(f"delete from {FINGERPRINT.full_name} where model = ?", [table.full_name])
    warehouse.execute(table.create_statement())
    comment_on_table(warehouse, table)


@cache
def view_hash() -> str:
    """Return a hash of all that the FOCUS view is made of besides parts and ledger: contract, view texts, macros."""
    tables = (COST_AND_USAGE, TAG_SET, SPLIT_COST, *SETTINGS_TABLES, *ANALYSIS_TABLES, *USAGE_TABLES)
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


def rename_part(warehouse: Warehouse, old: str, new: str) -> None:
    """Give the tables of a part another name; those that had it are dropped."""
    for before, after in zip(tables_of(old), tables_of(new), strict=True):
        warehouse.execute(f"drop table if exists parts.{quoted(after)}")
        warehouse.execute(f"alter table if exists parts.{quoted(before)} rename to {quoted(after)}")


def drop_aside(warehouse: Warehouse) -> None:
    """Drop parts that were written and did not take their place."""
    rows = warehouse.rows(
        "select table_name from duckdb_tables() where database_name = current_database() and schema_name = 'parts'"
        " and regexp_matches(table_name, ?)",
        [f"{_ASIDE_NAME}$"],
    )
    for (name,) in rows:
        warehouse.execute(f"drop table parts.{quoted(str(name))}")


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


def relation_over(relation: str, parts: Sequence[Part], *, has_texts: bool = True) -> str:
    """Return the SELECT that gives `relation` over just these parts, columns in contract order and of its types.

    Without texts, `TEXT_COLUMNS` may be null: a query that reads none of them is then spared the join, which DuckDB
    leaves out by itself in some plans only.
    """
    table = _VIEWS[relation]
    branches = _branches(table, parts, has_texts=has_texts)
    if not branches:
        columns = ", ".join(f"cast(null as {column.type}) as {quoted(column.name)}" for column in table.columns)
        return f"select {columns} where false"
    columns = ", ".join(
        f"cast({quoted(column.name)} as {column.type}) as {quoted(column.name)}" for column in table.columns
    )
    return f"select {columns} from ({' union all by name '.join(branches)})"


@cache
def view_text(export_kind: str, *, has_texts: bool = True) -> str:
    """Return the view SELECT of a kind without comments; it must read the relation `part` once.

    It may join `tagged` too: what `<staging>.tagged.view.sql` makes of the texts of tags of parts whose rows have their
    id alone. Without texts, all of that is null.
    """
    name = f"{STAGING_OF[export_kind]}.view.sql"
    text = _view_file(name)
    if _TAGGED.search(text):
        tagged = _view_file(f"{STAGING_OF[export_kind]}.tagged.view.sql")
        nulls = ", ".join(f"cast(null as varchar) as {column}" for column in _TAGGED_COLUMN.findall(tagged))
        joined = f"cross join (select {nulls}) as tagged"
        if has_texts:
            joined = _TAGGED.findall(text)[0].replace("tagged", f"({tagged}) as tagged")
        text = _TAGGED.sub(lambda _: joined, text)
    if len(_PART_REFERENCE.findall(text)) != 1:
        raise ModelError(name, "must read the relation `part` exactly once")
    return text


def _view_file(name: str) -> str:
    """Return a text of the views without its comments."""
    text = _COMMENT_LINE.sub("", files("sql").joinpath("models", "staging", name).read_text(encoding="utf-8"))
    return text.strip().rstrip(";")


def comment_on_table(warehouse: Warehouse, table: Table, kind: str = "table") -> None:
    """Attach the descriptions of the contract, so that people who open the file see them."""
    statements = [f"comment on {kind} {table.full_name} is {literal(table.description)}"]
    statements += [
        f"comment on column {table.full_name}.{quoted(column.name)} is {literal(column.description)}"
        for column in table.columns
    ]
    warehouse.execute(";\n".join(statements))


def _branches(table: Table, parts: Sequence[Part], *, has_texts: bool) -> list[str]:
    """Return the SELECTs whose union is `table` over these parts."""
    if table is COST_AND_USAGE:
        return _charge_branches(parts, has_texts=has_texts)
    if table is SPLIT_COST:
        return [_split_branch(part) for part in parts if part.has_split]
    return [_tag_branch(part) for part in parts]


def _charge_branches(parts: Sequence[Part], *, has_texts: bool) -> list[str]:
    """Return one SELECT per view text, over the union of all parts that it is for.

    The text stands there once and not once per part: with thirteen months, planning a query took 135 ms otherwise.
    """
    read_alike: dict[str, list[Part]] = {}
    for part in parts:
        read_alike.setdefault(view_text(part.export_kind, has_texts=has_texts), []).append(part)
    return [_reading(text, alike) for text, alike in read_alike.items()]


def _reading(text: str, parts: Sequence[Part]) -> str:
    """Return a view text whose relations `part` and `tag_text` are those of `parts`."""
    charges, texts = (" union all by name ".join(map(select, parts)) for select in (_stored, _tag_texts))
    text = _PART_REFERENCE.sub(lambda _: f"from ({charges}) as part", text)
    return f"select * from ({_TAG_TEXT_REFERENCE.sub(lambda _: f'from ({texts})', text)})"


def _tag_texts(part: Part) -> str:
    """Return the SELECT of the texts of a part's tags."""
    return (
        f'select *, {literal(part.source)} as "x_Source", date \'{part.billing_month}\' as "x_BillingMonth"'
        f" from parts.{quoted(texts_name(part.name))}"
    )


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
