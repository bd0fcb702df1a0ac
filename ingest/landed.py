"""The temporary view `landed`: the files of one delivery as the columns that staging reads.

One SELECT per group of files of one shape; absent columns are NULL. Beside each field that is converted stands
`bad_<field>`: what was delivered where that did not convert, else NULL, so that the scan counts it in passing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from importlib.resources import files

import duckdb

from ingest.dataset import Dataset, Described, FileGroup, field_names, flattened
from ingest.errors import SourceUnreadable
from ingest.fields import CONVERTED, SQL_TYPES, Field, conversion, folded, rest, unconverted
from ingest.formats import EXTRA_FIELD, DeliveredColumn, row_position, table_function
from sql.parts import next_month
from sql.warehouse import Warehouse, quoted

_WORD = re.compile(r"\w+")
MACROS = (
    "instant",
    "finite_number",
    "without_empty_tags",
    "tag_set_id",
    "gcp_credits",
    "gcp_tags",
    "gcp_commitments",
    "gcp_focus",
    "not_json",
    "aws_region_of_usage_type",
    "aws_amortised",
)


def create_macros(warehouse: Warehouse) -> None:
    """Create the temporary macros that conversions use."""
    for name in MACROS:
        warehouse.execute(macro_text(name))


@cache
def macro_text(name: str) -> str:
    """Return the text of `sql/macros/landed/<name>.sql`."""
    return files("sql").joinpath("macros", "landed", f"{name}.sql").read_text(encoding="utf-8")


def create_landed_view(
    warehouse: Warehouse,
    described: Described,
    month: date | None,
    *,
    is_padded: bool = False,
    read_by: str | None = None,
) -> None:
    """Make the view `landed` over a delivery; with `month`, over the rows of that month alone.

    With `is_padded`, CSV rows that do not fit their header are read too, and `is_uneven` says which. With `read_by`,
    the text of the query that will read it, fields that the text does not name are NULL: tags out of a thousand
    columns take as long to plan as the rest to read.
    """
    words = None if read_by is None else frozenset(_WORD.findall(f"{read_by} {described.dataset.month}"))
    body = "\nunion all\n".join(
        _group_select(described.dataset, group, position, words, is_padded=is_padded)
        for position, group in enumerate(described.groups, start=1)
    )
    if month is not None:
        instant = described.dataset.month
        body = (
            f"select * from ({body})\n"
            f"where {instant} >= timestamp '{month}' and {instant} < timestamp '{next_month(month)}' or is_uneven"
        )
    try:
        warehouse.execute(f"create or replace temporary view landed as {body}")
    except duckdb.BinderException as error:
        first_line = str(error).split("\n", 1)[0]
        raise SourceUnreadable(
            f"the columns do not have the types of such an export ({first_line})",
            hint="check `kind` of the [[source]]",
        ) from error


def unknown_columns(described: Described) -> list[str]:
    """Return the delivered columns that no field takes, in order of appearance."""
    known = frozenset().union(*(field_names(item) for item in described.dataset.fields))
    names = dict.fromkeys(column.name for column in described.columns())
    return [name for name in names if folded(name) not in known and not described.dataset.is_expected(name)]


def by_folded_name(columns: Iterable[DeliveredColumn]) -> Mapping[str, Sequence[DeliveredColumn]]:
    """Return the columns by their folded names, in order; headers that differ in case only are under one."""
    named: dict[str, list[DeliveredColumn]] = {}
    for column in columns:
        named.setdefault(folded(column.name), []).append(column)
    return named


def columns_of(item: Field, named: Mapping[str, Sequence[DeliveredColumn]]) -> list[DeliveredColumn]:
    """Return the columns, given by folded name, that deliver a field, best name first."""
    names = dict.fromkeys(folded(name) for name in (item.name, *item.aliases))
    return [column for name in names for column in named.get(name, ())]


def _group_select(
    dataset: Dataset, group: FileGroup, position: int, words: frozenset[str] | None, *, is_padded: bool
) -> str:
    """Return the SELECT over the files of one shape; with `words`, values of the fields among them alone."""
    columns = list(flattened(group.shape.columns))
    named = by_folded_name(columns)
    derived = dataset.derive(columns)
    items = [
        "filename as file_name",
        f"{position} as file_group",
        f"{row_position(group.shape, position)} as row_number",
        f"{_unevenness(group, is_padded=is_padded)} as is_uneven",
    ]
    for item in dataset.fields:
        is_read = words is None or words.issuperset(_WORD.findall(item.name))
        items += _field_items(item, columns_of(item, named), derived, dataset.null_text, is_read=is_read)
    source = table_function(group.shape, [file.path for file in group.files], is_padded=is_padded)
    return f"select {', '.join(items)} from {source}"


def _unevenness(group: FileGroup, *, is_padded: bool) -> str:
    """Return the expression for whether a row has more or fewer fields than the header."""
    if group.shape.format != "csv" or not is_padded:
        return "false"
    return f"({EXTRA_FIELD} is not null or {group.shape.columns[-1].reference} is null)"


def _field_items(
    item: Field, found: Sequence[DeliveredColumn], derived: Mapping[str, str], null_text: str | None, *, is_read: bool
) -> list[str]:
    """Return the select items of one field: its value, and the delivered text where that did not convert."""
    sql_type = SQL_TYPES[item.type]
    expressions = [conversion(item, column, null_text) for column in found]
    expressions += [derived[item.name]] if item.name in derived else []
    items = [f"cast({_first_of(expressions if is_read else [])} as {sql_type}) as {quoted(item.name)}"]
    if item.type in CONVERTED:
        failures = [failure for column in found if (failure := unconverted(item, column, null_text))]
        failures += [derived[f"bad_{item.name}"]] if f"bad_{item.name}" in derived else []
        items.append(f"cast({_first_of(failures)} as varchar) as {quoted('bad_' + item.name)}")
    if item.is_billed:
        rests = [rest(column, null_text) for column in found]
        items.append(f"cast({_first_of(rests)} as decimal(38, 24)) as {quoted('rest_' + item.name)}")
    return items


def _first_of(expressions: Sequence[str]) -> str:
    """Return one expression that takes the first that is not null."""
    if not expressions:
        return "null"
    return expressions[0] if len(expressions) == 1 else f"coalesce({', '.join(expressions)})"
