"""Fields: the columns that staging reads, and how each is had from a column as delivered.

The temporary view `landed` gives one column per field, typed, absent ones NULL. Conversions never fail: what does not
convert is NULL, and `unconverted` gives it as delivered, so that one scan counts it and the loader decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ingest.formats import DeliveredColumn
from sql.contract import MONEY

FieldType = Literal["text", "money", "number", "instant", "json", "records"]

SQL_TYPES: dict[FieldType, str] = {
    "text": "VARCHAR",
    "money": MONEY,
    "number": "DOUBLE",
    "instant": "TIMESTAMP",
    "json": "VARCHAR",
    "records": "VARCHAR",
}
CONVERTED: frozenset[FieldType] = frozenset({"money", "number", "instant", "json", "records"})
LARGEST_MONEY = "1e25"
_RECORDS = r"'^\s*(\[\s*(\{|\]|null)|null\s*$)'"
"""How a list of records begins in JSON, quoted; the list may be null, and so may its records."""
_PUNCTUATION = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True, slots=True)
class Field:
    """A column that staging reads. `aliases` are other names that it is delivered under, best first."""

    name: str
    type: FieldType = "text"
    aliases: tuple[str, ...] = ()
    is_required: bool = False
    """A required field must be among the columns, and a value that does not convert fails the load."""
    is_strict: bool = False
    """A value that does not convert fails the load, though the column may be absent."""
    is_counted_absent: bool = False
    """Where no column delivers it, that is counted: the bill is another without it."""
    is_billed: bool = False
    """A cost that the bill is made of: what is lost when it is rounded to 12 places is recorded."""


def folded(name: str) -> str:
    """Return `name` without case and punctuation: lineItem/UnblendedCost and line_item_unblended_cost fold to one."""
    return _PUNCTUATION.sub("", name.lower())


def conversion(field: Field, column: DeliveredColumn, null_text: str | None) -> str:
    """Return the expression that gives `column` as the type of `field`; `null_text` is a word that means null."""
    if field.type == "text":
        return text_of(column, null_text)
    if field.type == "json":
        return _json(column, null_text)
    if field.type == "records":
        return _records(column, null_text)
    if field.type == "instant":
        return _instant(column, null_text)
    return _money(column, null_text) if field.type == "money" else _number(column, null_text)


def text_of(column: DeliveredColumn, null_text: str | None) -> str:
    """Return the expression for a text: the empty text and `null_text` are null."""
    if column.type != "VARCHAR":
        return f"cast({column.reference} as varchar)"
    plain = f"nullif({column.reference}, '')"
    return plain if null_text is None else f"nullif({plain}, '{null_text}')"


def unconverted(field: Field, column: DeliveredColumn, null_text: str | None) -> str | None:
    """Return the expression for the delivered value where it did not convert, else null; None where all convert."""
    if is_text(column):
        text = text_of(column, null_text)
        return f"case when {conversion(field, column, null_text)} is null then {text} end"
    if field.type == "records" and not _is_list_of_records(column):
        return _text_where(f"{conversion(field, column, null_text)} is null", column.reference)
    if column.type in {"DOUBLE", "FLOAT"}:
        value = column.reference
        return _text_where(f"not isfinite({value}) or abs({value}) >= {LARGEST_MONEY}", value)
    if field.type == "money":
        return _text_where(f"{conversion(field, column, null_text)} is null", column.reference)
    return None


def _text_where(condition: str, value: str) -> str:
    """Return the text of a value where a condition holds, else null.

    The cast stands outside: DuckDB moves one of a record's member into the reading of the file, for every row.
    """
    return f"cast(case when {condition} then {value} end as varchar)"


def rest(column: DeliveredColumn, null_text: str | None) -> str:
    """Return what rounding to 12 places took from a delivered cost; null where nothing."""
    exact, value = "decimal(38, 24)", column.reference
    if is_text(column):
        text = text_of(column, null_text)
        difference = f"try_cast({text} as {exact}) - try_cast({_rounded(text)} as {exact})"
        return f"case when length({text}) > 13 or contains(lower({text}), 'e-') then {difference} end"
    if column.type in {"DOUBLE", "FLOAT"}:
        text = f"cast({value} as varchar)"
        difference = f"try_cast({text} as {exact}) - try_cast({_rounded(text)} as {exact})"
        return (
            f"case when cast(try_cast({value} as {MONEY}) as double) <> {value} then cast({difference} as {exact}) end"
        )
    if column.type.startswith("DECIMAL"):
        difference = f"try_cast({value} as {exact}) - try_cast(try_cast({value} as {MONEY}) as {exact})"
        return f"nullif({difference}, 0)"
    return f"cast(null as {exact})"


def is_text(column: DeliveredColumn) -> bool:
    """Return whether the column is delivered as text."""
    return column.type == "VARCHAR"


def _money(column: DeliveredColumn, null_text: str | None) -> str:
    """Return money rounded once to 12 places; a double by way of its shortest text unless 12 places reproduce it."""
    if is_text(column):
        return _rounded(text_of(column, null_text))
    value = column.reference
    if column.type in {"DOUBLE", "FLOAT"}:
        return (
            f"case when abs({value}) < 4096 and cast(try_cast({value} as {MONEY}) as double) = {value}"
            f" then try_cast({value} as {MONEY}) else {_rounded(f'cast({value} as varchar)')} end"
        )
    return f"try_cast({value} as {MONEY})"


def _rounded(text: str) -> str:
    """Return money from a text, rounded once.

    Rounding away digits in 128 bits is slow, so what is below a million is read in 64 bits: the same value.
    """
    return f"coalesce(try_cast({text} as decimal(18, 12)), try_cast({text} as {MONEY}))"


def _number(column: DeliveredColumn, null_text: str | None) -> str:
    """Return a quantity; what is not a finite number is null."""
    if is_text(column):
        return f"finite_number({text_of(column, null_text)})"
    if column.type in {"DOUBLE", "FLOAT"}:
        return f"case when isfinite({column.reference}) then {column.reference} end"
    return f"cast({column.reference} as double)"


def _instant(column: DeliveredColumn, null_text: str | None) -> str:
    """Return an instant in UTC; a time without zone is UTC."""
    if is_text(column):
        return f"instant({text_of(column, null_text)})"
    if column.type == "TIMESTAMP WITH TIME ZONE":
        # The same as `at time zone 'UTC'`, without its calendar: a tenth of the time.
        return f"make_timestamp(epoch_us({column.reference}))"
    return f"cast({column.reference} as timestamp)"


def _json(column: DeliveredColumn, null_text: str | None) -> str:
    """Return JSON text without white space; nested types are written as JSON."""
    if is_text(column):
        text = text_of(column, null_text)
        return f"case when json_valid({text}) then cast(json({text}) as varchar) end"
    return f"cast(to_json({column.reference}) as varchar)"


def _records(column: DeliveredColumn, null_text: str | None) -> str:
    """Return the JSON text of a list of records without white space; what is no such list is null."""
    if is_text(column):
        text = text_of(column, null_text)
        return f"case when json_valid({text}) and {_begins_with_record(text)} then cast(json({text}) as varchar) end"
    if column.type == "JSON":
        text = f"cast({column.reference} as varchar)"
        return f"case when {_begins_with_record(text)} then {_json(column, null_text)} end"
    if _is_list_of_records(column):
        return _json(column, null_text)
    # Without a record in the whole file, the items of a list have any type.
    return f"case when len({column.reference}) = 0 then '[]' end" if column.type.endswith("[]") else "null"


def _is_list_of_records(column: DeliveredColumn) -> bool:
    """Return whether the type of a column lets it hold nothing but lists of records."""
    return column.type.startswith("STRUCT(") and column.type.endswith(")[]")


def _begins_with_record(text: str) -> str:
    """Return the condition that a JSON text is a list of records; what it mostly is, is looked at first."""
    return f"(starts_with({text}, '[{{') or {text} = '[]' or regexp_matches({text}, {_RECORDS}))"
