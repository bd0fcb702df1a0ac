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

FieldType = Literal["text", "money", "number", "instant", "json"]

SQL_TYPES: dict[FieldType, str] = {
    "text": "VARCHAR",
    "money": MONEY,
    "number": "DOUBLE",
    "instant": "TIMESTAMP",
    "json": "VARCHAR",
}
CONVERTED: frozenset[FieldType] = frozenset({"money", "number", "instant", "json"})
LARGEST_MONEY = "1e25"
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
    if column.type in {"DOUBLE", "FLOAT"}:
        value = column.reference
        return f"case when not isfinite({value}) or abs({value}) >= {LARGEST_MONEY} then cast({value} as varchar) end"
    if field.type == "money":
        return f"case when {conversion(field, column, null_text)} is null then cast({column.reference} as varchar) end"
    return None


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
        return f"({column.reference} at time zone 'UTC')"
    return f"cast({column.reference} as timestamp)"


def _json(column: DeliveredColumn, null_text: str | None) -> str:
    """Return JSON text without white space; nested types are written as JSON."""
    if is_text(column):
        text = text_of(column, null_text)
        return f"case when json_valid({text}) then cast(json({text}) as varchar) end"
    return f"cast(to_json({column.reference}) as varchar)"
