"""Tables of text with columns known by name, each value checked before it is cast: CSV, parquet, tags of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from ingest.delivery import DeliveredFile
from ingest.errors import LoadRefused, SourceUnreadable
from ingest.explain import explained
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
    path = literal(str(file.path))
    is_parquet = file.name.lower().endswith(".parquet")
    reader = (
        f"read_parquet({path})"
        if is_parquet
        else f"read_csv({path}, header = true, all_varchar = true, delim = ',', quote = '\"', escape = '\"')"
    )
    try:
        warehouse.execute("set preserve_insertion_order = true")
        warehouse.execute(
            f"create or replace temporary table given as select row_number() over () + {int(not is_parquet)} as line,"
            f" columns(*)::varchar from {reader}"
        )
    except duckdb.Error as error:
        raise explained(error, file.name) from error
    finally:
        warehouse.execute("set preserve_insertion_order = false")
    names = [str(row[0]) for row in warehouse.rows("select column_name from (describe given) offset 1")]
    for name in names:
        if name != name.strip().lower():
            warehouse.execute(f"alter table given rename {quoted(name)} to {quoted(name.strip().lower())}")
    return [name.strip().lower() for name in names]


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

    row: str = "'line ' || line"
    """Expression for the row."""
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
        f"select {wording.row}, fault from (select *, case {bad} end as fault from given) where fault is not null"
        " order by line limit 1"
    )
    if found is not None:
        raise LoadRefused(
            f"{found[0]} {found[1]}",
            file=file.name,
            hint="the last good version stays loaded; docs/runs.md says what each column holds",
        )


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
