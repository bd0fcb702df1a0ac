"""What sources tell of use, and which months of it changed: the hashes that the model runner compares.

The rows of `usage` are written by `ingest` and kept for good. Of each table `ops.meta` has a hash by month, so that a
night with today's runs builds nothing of last year anew: a model that is built by month may look at rows of its month,
of the one before and of the one after, since a provider bills some use a month late.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date

from sql.contract import CAPACITY, META, RUN, RUN_NODE, RUN_TOTAL, USAGE_TABLES, Table
from sql.meta import read_meta, write_meta
from sql.model import digest_of
from sql.parts import next_month
from sql.warehouse import Warehouse

UsageHashes = Mapping[str, str]
"""Month (YYYY-MM-DD) -> hash of the rows of that month; under ALWAYS that of rows which may be of any month."""

_KEY = "usage:"
ALWAYS = ""
_MONTHS: Mapping[str, str] = {
    # A run without an end may turn out to have gone on until today.
    RUN.full_name: "case when ended_at is null then [null] else list_transform(generate_series("
    "date_trunc('month', coalesce(started_at, ended_at)), greatest(ended_at, coalesce(started_at, ended_at)),"
    " interval 1 month), lambda month: month::date) end",
    RUN_NODE.full_name: "[month]",
    RUN_TOTAL.full_name: "[null]",
    CAPACITY.full_name: "[null]",
}
"""The months that a row is of, null for any."""
USAGE_DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    table.full_name: {column.name: column.description for column in table.columns} for table in USAGE_TABLES
}


def usage_hashes(warehouse: Warehouse) -> dict[str, UsageHashes]:
    """Return the hashes of every table of use that has been written."""
    rows = warehouse.rows(f"select key, value from {META.full_name} where starts_with(key, ?)", [_KEY])
    return {str(key).removeprefix(_KEY): json.loads(str(value)) for key, value in rows}


def usage_digest(hashes: UsageHashes, month: str | None) -> str:
    """Return one hash of all months, or of those that building `month` may read."""
    if month is None:
        return digest_of(f"{key}:{hashes[key]}" for key in sorted(hashes))
    first = date.fromisoformat(month)
    before = date(first.year - (first.month == 1), (first.month - 2) % 12 + 1, 1)
    near = (ALWAYS, *(day.isoformat() for day in (before, first, next_month(first))))
    return digest_of(f"{key}:{hashes.get(key, '')}" for key in near)


def unknown_words(warehouse: Warehouse, rows: str) -> list[tuple[str, str, int]]:
    """Return (source, word, rows) of states that nothing is known of, the most frequent first.

    `rows` is a relation with source, state and state_raw. A source that says "unknown" knows what it says.
    """
    found = warehouse.rows(
        "select source, coalesce(nullif(trim(state_raw), ''), '(empty)') as word, count(*) as number"
        f" from {rows} where state = 'unknown' and lower(trim(coalesce(state_raw, ''))) <> 'unknown'"
        " group by all order by source, number desc, word"
    )
    return [(str(source), str(word), int(str(number))) for source, word, number in found]


def mark_usage(warehouse: Warehouse, tables: Iterable[Table]) -> None:
    """Note what these tables hold now; part of the transaction that wrote them."""
    for table in tables:
        columns = ", ".join(f'"{column.name}"' for column in table.columns)
        rows = warehouse.rows(
            f"select coalesce(month::varchar, ''), count(*), sum(row_hash::hugeint)::varchar from ("
            f" select unnest({_MONTHS[table.full_name]}) as month, hash({columns}) as row_hash from {table.full_name})"
            " group by 1 order by 1"
        )
        hashes = {str(month): f"{count}:{total}" for month, count, total in rows}
        if hashes or read_meta(warehouse, _KEY + table.full_name) is not None:
            write_meta(warehouse, _KEY + table.full_name, json.dumps(hashes))
