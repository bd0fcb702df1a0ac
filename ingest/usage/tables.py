"""Tables of text with columns known by name, each value checked before it is cast: CSV, parquet, tags of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from ingest.delivery import DeliveredFile
from ingest.errors import LoadRefused, SourceUnreadable
from ingest.explain import explained
from ingest.usage.csv_file import csv_explained, csv_reader, header_of, line_of_record
from sql.contract import Column, Table
from sql.warehouse import Warehouse, literal, quoted

READABLE = (".csv", ".csv.gz", ".parquet")
_CASTS: Mapping[str, str] = {
    "TIMESTAMP": "instant({value})",
    "DATE": "try_cast(case when length({value}) = 7 then {value} || '-01' else {value} end as date)",
    "DOUBLE": "try_cast({value} as double)",
    "BOOLEAN": "try_cast({value} as boolean)",
    "BIGINT": "try_cast({value} as bigint)",
}
"""How text is cast, by the type of the column; null is a value that cannot be."""
_STATES: Mapping[str, Sequence[str]] = {
    "completed": ("completed", "complete", "succeeded", "success", "finished", "done", "passed"),
    "failed": ("failed", "failure", "error", "crashed"),
    "cancelled": ("cancelled", "canceled", "killed", "stopped", "aborted"),
    "timeout": ("timeout", "timed_out", "deadline"),
    "oom": ("oom", "out_of_memory", "oomkilled"),
    "node_fail": ("node_fail", "node_failure", "boot_fail"),
    "preempted": ("preempted", "evicted", "interrupted"),
    "requeued": ("requeued",),
    "resized": ("resized", "resizing"),
    "running": ("running",),
    "pending": ("pending", "queued", "scheduled"),
}
"""What is known by which words; every other is unknown."""
_KINDS = ("batch", "array_task", "interactive", "notebook", "service")


def read_table(warehouse: Warehouse, file: DeliveredFile) -> list[str]:
    """Read a file as text to the temporary table `given`, with `line`; return its columns in lower case."""
    if file.size == 0:
        raise SourceUnreadable("the file is empty (0 bytes)", file=file.name, hint="a header is the least it has")
    if file.name.lower().endswith(".parquet"):
        return _read_parquet(warehouse, file)
    names = header_of(file)
    _refuse_doubled(names, file)
    try:
        _make_given(warehouse, csv_reader(file, names), header_lines=1)
    except duckdb.Error as error:
        raise csv_explained(error, file) from error
    return names


def _read_parquet(warehouse: Warehouse, file: DeliveredFile) -> list[str]:
    try:
        _make_given(warehouse, f"read_parquet({literal(str(file.path))}, hive_partitioning = false)", header_lines=0)
    except duckdb.Error as error:
        raise explained(error, file.name) from error
    columns = [str(row[0]) for row in warehouse.rows("select column_name from (describe given) offset 1")]
    names = [name.strip().lower() for name in columns]
    _refuse_doubled(names, file)
    for column, name in zip(columns, names, strict=True):
        if column != name:
            warehouse.execute(f"alter table given rename {quoted(column)} to {quoted(name)}")
    return names


def _make_given(warehouse: Warehouse, reader: str, *, header_lines: int) -> None:
    """Write what a table function gives to `given`, numbered in the order of the file."""
    try:
        warehouse.execute("set preserve_insertion_order = true")
        warehouse.execute(
            f"create or replace temporary table given as select row_number() over () + {header_lines} as line,"
            f" columns(*)::varchar from {reader}"
        )
    finally:
        warehouse.execute("set preserve_insertion_order = false")


def _refuse_doubled(names: Sequence[str], file: DeliveredFile) -> None:
    """Raise LoadRefused where two columns have one name."""
    doubled = [name for name, number in Counter(names).items() if number > 1]
    if doubled:
        raise LoadRefused(
            f"line 1: the header names {doubled[0]} {names.count(doubled[0])} times",
            file=file.name,
            hint="give each column a name of its own; the last good version stays loaded",
        )


def value_of(column: Column) -> str:
    """Return the expression that casts a column of `given`; an empty text is null."""
    value = f"nullif(trim({quoted(column.name)}), '')"
    if column.type.startswith("DECIMAL"):
        return f"try_cast({value} as {column.type})"
    return _CASTS.get(column.type, "{value}").format(value=value)


def cluster_of(names: Sequence[str]) -> str:
    """Return the expression for the cluster: the row's own, else that of the variable `source_cluster`."""
    of_source = "getvariable('source_cluster')"
    return f"coalesce(nullif(trim(cluster), ''), {of_source})" if "cluster" in names else of_source


def kind_of(names: Sequence[str]) -> str:
    """Return the expression for the kind of a run; what says nothing is a batch run."""
    return "coalesce(nullif(lower(trim(kind)), ''), 'batch')" if "kind" in names else "'batch'"


def state_of() -> str:
    """Return the expression for the state by its word."""
    word = "lower(replace(replace(trim(state), '-', '_'), ' ', '_'))"
    cases = " ".join(
        f"when {word} in ({', '.join(map(literal, words))}) then {literal(state)}" for state, words in _STATES.items()
    )
    return f"case {cases} else 'unknown' end"


def selected(table: Table, names: Sequence[str], others: Mapping[str, str]) -> str:
    """Return the list of columns of `table` that `given` has, or that `others` has an expression for."""
    return ", ".join(
        f"{others.get(column.name) or value_of(column)} as {quoted(column.name)}"
        for column in table.columns
        if column.name in others or column.name in names
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How a refusal names what it is of."""

    row: str = "null"
    """Expression for what names a row; null for its line in the file."""
    prefix: str = ""
    """Before the name of a column."""


LINES = Wording()


def refuse_bad_values(
    warehouse: Warehouse, file: DeliveredFile, columns: Iterable[Column], needed: str, wording: Wording = LINES
) -> None:
    """Raise LoadRefused for the first row with a value that cannot be, or without the column that is `needed`."""
    checks = [(f"coalesce(trim({quoted(needed)}), '') = ''", f"'has no {needed}'")]
    checks += [check for column in columns for check in _checks(column, wording.prefix + column.name)]
    bad = " ".join(f"when {condition} then {words}" for condition, words in checks)
    found = warehouse.row(
        f"select line, {wording.row}, fault from (select *, case {bad} end as fault from given) where fault is not null"
        " order by line limit 1"
    )
    if found is not None:
        place = found[1] or f"line {_line_in(file, int(str(found[0])))}"
        raise LoadRefused(
            f"{place} {found[2]}",
            file=file.name,
            hint="the last good version stays loaded; docs/runs.md says what each column holds",
        )


def _line_in(file: DeliveredFile, number: int) -> int:
    """Return the line of a file that a row of `given` begins on; in parquet, the row itself."""
    if file.name.lower().endswith(".parquet"):
        return number
    # A blank line is a row without a value where there is one column, and none where there are several.
    return line_of_record(file, number, is_blank_counted=len(header_of(file)) == 1)


def _checks(column: Column, name: str) -> Iterator[tuple[str, str]]:
    """Yield the conditions under which a value of a column cannot be, each with the words for it."""
    value, cast = quoted(column.name), value_of(column)
    if column.name == "kind":
        kinds = ", ".join(map(literal, _KINDS))
        yield f"lower(trim(kind)) not in ('', {kinds})", f"'{name} is none of {', '.join(_KINDS)}: ' || kind"
    if column.type != "VARCHAR":
        yield f"coalesce(trim({value}), '') <> '' and {cast} is null", f"'{name} cannot be read: ' || {value}"
    if column.type in {"DOUBLE", "BIGINT"} or column.type.startswith("DECIMAL"):
        yield (
            f"{cast} is not null and not ({cast} between 0 and 1e30)",
            f"'{name} must not be negative: ' || {value}",
        )
