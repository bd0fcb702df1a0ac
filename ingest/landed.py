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
from ingest.privacy import Privacy, set_privacy
from sql.parts import next_month
from sql.warehouse import Warehouse, quoted

_WORD = re.compile(r"\w+")
_LABEL_TEXTS = ("tags_text", "cost_categories_text")
"""Fields that are made of the columns of a row's labels."""
MACROS = (
    "instant",
    "finite_number",
    "without_empty_tags",
    "tag_set_id",
    "gcp_credits",
    "gcp_invoice_month",
    "gcp_tags",
    "gcp_commitments",
    "gcp_focus",
    "not_json",
    "private",
    "aws_region_of_usage_type",
    "aws_amortised",
)


def create_macros(warehouse: Warehouse, privacy: Privacy | None = None) -> None:
    """Create the temporary macros that conversions use, and set what they hide."""
    set_privacy(warehouse, privacy)
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
    is_labelled: bool = False,
) -> None:
    """Make the view `landed` over a delivery; with `month`, over the rows of that month alone.

    With `is_padded`, CSV rows that do not fit their header are read too, and `is_uneven` says which. With `read_by`,
    the text of the query that will read it, fields that the text does not name are NULL: tags out of a thousand
    columns take as long to plan as the rest to read. Where it `is_labelled`, a row has the `tag_set_id` of its
    combination in the tables of `create_label_sets`, and no text of tags.
    """
    words = None if read_by is None else frozenset(_WORD.findall(f"{read_by} {described.dataset.month}"))
    body = "\nunion all\n".join(
        _group_select(described.dataset, group, position, words, is_padded=is_padded, is_labelled=is_labelled)
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


def create_label_sets(warehouse: Warehouse, described: Described) -> list[str]:
    """Work out the tags of each combination of the columns that they are made of; return the temporary tables.

    Rows repeat few combinations, and JSON text and its hash take longer than a join. None where a group of files has
    its tags otherwise: a CSV file would have to be read once more.
    """
    if not all(
        group.shape.format == "parquet" and _label_columns(described.dataset, group) for group in described.groups
    ):
        return []
    for position, group in enumerate(described.groups, start=1):
        warehouse.execute(f"create or replace temporary table {_labels_name(position)} as {_labels(described, group)}")
    return [_labels_name(position) for position, _ in enumerate(described.groups, start=1)]


def _labels(described: Described, group: FileGroup) -> str:
    """Return the SELECT of the combinations that the files of one shape have."""
    columns = _label_columns(described.dataset, group)
    derived = described.dataset.derive(list(flattened(group.shape.columns)))
    keys = ", ".join(f"{column} as label_{number}" for number, column in enumerate(columns))
    tags, categories = (derived[name] for name in _LABEL_TEXTS)
    source = table_function(group.shape, [file.path for file in group.files])
    return (
        "select *, tag_set_id(tags_text, cost_categories_text) as tag_set_id from ("
        f"select {keys}, private_tags({tags}) as tags_text, {categories} as cost_categories_text"
        f" from (select distinct {', '.join(columns)} from {source}))"
    )


def _label_columns(dataset: Dataset, group: FileGroup) -> Sequence[str]:
    """Return the columns that tell a row's combination of labels, where they do so cheaply."""
    return () if dataset.label_columns is None else dataset.label_columns(list(flattened(group.shape.columns)))


def _labels_name(position: int) -> str:
    """Return the name of the temporary table of the combinations of one group of files."""
    return f"label_set_{position}"


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
    dataset: Dataset,
    group: FileGroup,
    position: int,
    words: frozenset[str] | None,
    *,
    is_padded: bool,
    is_labelled: bool,
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
    if dataset.label_columns is not None:
        items.append(f"{'labels.tag_set_id' if is_labelled else 'cast(null as ubigint)'} as tag_set_id")
    unread = _LABEL_TEXTS if is_labelled else ()
    for item in dataset.fields:
        is_read = item.name not in unread and (words is None or words.issuperset(_WORD.findall(item.name)))
        items += _field_items(item, columns_of(item, named), derived, dataset.null_text, is_read=is_read)
    source = table_function(group.shape, [file.path for file in group.files], is_padded=is_padded)
    if is_labelled:
        source += _label_join(_label_columns(dataset, group), position)
    return f"select {', '.join(items)} from {source}"


def _label_join(columns: Sequence[str], position: int) -> str:
    """Return the join of rows to their combination."""
    conditions = (
        f"delivered.{column} is not distinct from labels.label_{number}" for number, column in enumerate(columns)
    )
    keys = ", ".join(f"label_{number}" for number, _ in enumerate(columns))
    labels = f"(select {keys}, tag_set_id from {_labels_name(position)})"
    return f" as delivered left join {labels} as labels on {' and '.join(conditions)}"


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
