"""The model runner: builds what changed, in dependency order, in one transaction.

A (model, month) is rebuilt when its fingerprint differs from the one in `ops.fingerprint`: a hash of the model's text,
of the fingerprints of what it reads, of the loads of that month and of the settings it reads. So a new rule, a new
load and a crash between load and build are all the same case, and a night with nothing new compares hashes only.

A model that is built by month is one table per month in schema `months` under a view of the model's name: a swap
replaces one small table. While a month is built, references to month-built relations are spliced to that month's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

import duckdb

from sql.checks import check_columns, check_key, run_checks
from sql.contract import FINGERPRINT, LOAD, SCHEMA_VERSION, WHOLE
from sql.errors import ModelError
from sql.meta import part_settings, write_meta
from sql.model import Model, Repetition, digest_of, load_models
from sql.parts import PARTITIONED, Part, current_parts, relation_over, view_hash
from sql.settings import dated_settings_hashes, settings_hashes
from sql.usage import USAGE_DESCRIPTIONS, UsageHashes, usage_digest, usage_hashes
from sql.warehouse import Warehouse, literal, quoted

Unit = tuple[str, str]
"""(model, month as YYYY-MM-DD), or WHOLE for a full model and for the view over a model's months."""
Progress = Callable[[str], None]
Columns = Sequence[tuple[str, str]]
"""Names and types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """What a build did."""

    built: list[tuple[str, str | None]]
    """(model, month), month None for a full model."""
    warnings: list[str]
    changed: bool


@dataclass(frozen=True, kw_only=True)
class _Inputs:
    """What fingerprints are made from, read once per build."""

    parts: Sequence[Part]
    loads: str
    settings: Mapping[str, str]
    dated_settings: Mapping[str, Mapping[str, str]]
    part_settings: Mapping[str, str]
    usage: Mapping[str, UsageHashes]
    stored: Mapping[Unit, str]

    @cached_property
    def months(self) -> list[str]:
        """Return the months that any part holds, oldest first."""
        return sorted({part.billing_month.isoformat() for part in self.parts})

    def load_ids(self, months: Sequence[str]) -> str:
        """Return the loads in force of these months, what they were made with, and what turns parts into charges."""
        chosen = [part for part in self.parts if part.billing_month.isoformat() in months]
        loads = [f"{part.source}:{part.load_id}{self.part_settings.get(part.name, '')}" for part in chosen]
        return digest_of([view_hash(), *loads])

    def settings_of(self, table: str, month: str | None) -> str:
        """Return the hash of a settings table, of a dated one through the end of `month` where that is not None."""
        if month is None or table not in self.dated_settings:
            return self.settings.get(table, "")
        hashes = self.dated_settings[table]
        return hashes.get(max((known for known in hashes if known <= month), default=""), "")

    def usage_of(self, table: str, month: str | None) -> str:
        """Return the hash of a table of use, or of its rows that building `month` may read."""
        return usage_digest(self.usage.get(table, {}), month)

    def written(self, table: str) -> str:
        """Return the stored fingerprints of a table that analysis writes."""
        return ",".join(f"{unit[1]}:{self.stored[unit]}" for unit in sorted(self.stored) if unit[0] == table)


@dataclass(kw_only=True)
class _Build:
    """One build under way."""

    warehouse: Warehouse
    models: Mapping[str, Model]
    inputs: _Inputs
    planned: Mapping[Unit, str]
    stale: frozenset[Unit]
    progress: Progress
    kinds: dict[str, str]
    """Whether each relation of the file was a table or a view before, by its name without quotes."""
    written: list[Unit] = field(default_factory=list)
    """Units whose fingerprints are to be recorded."""
    built: list[tuple[str, str | None]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    described: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """What is said about each (model, column) that was asked for: most models pass columns on."""


def build(
    warehouse: Warehouse, *, models: Sequence[Model] | None = None, progress: Progress | None = None
) -> BuildReport:
    """Bring every model up to date: all of it, or nothing.

    Raises ModelError or CheckFailed, and then the tables of the last build stand. A checkpoint is the caller's.
    """
    ordered = load_models() if models is None else models
    inputs = _read_inputs(warehouse)
    planned = plan(ordered, inputs)
    stale = frozenset(unit for unit, fingerprint in planned.items() if inputs.stored.get(unit) != fingerprint)
    gone = sorted(unit for unit in inputs.stored if unit not in planned and not unit[0].startswith("analysis."))
    if not stale and not gone:
        return BuildReport(built=[], warnings=[], changed=False)
    work = _Build(
        warehouse=warehouse,
        models={model.full_name: model for model in ordered},
        inputs=inputs,
        planned=planned,
        stale=stale,
        progress=progress or (lambda _: None),
        kinds=_kinds(warehouse),
    )
    with warehouse.transaction():
        for unit in gone:
            _drop_unit(work, unit)
        for model in ordered:
            with _model_errors(model):
                _build_model(work, model)
        _record(work, gone)
        write_meta(warehouse, "build_id", digest_of(f"{unit}{planned[unit]}" for unit in sorted(planned)))
    return BuildReport(built=work.built, warnings=work.warnings, changed=True)


def is_current(warehouse: Warehouse, *, models: Sequence[Model] | None = None) -> bool:
    """Return whether every model is built from what is loaded and configured now."""
    inputs = _read_inputs(warehouse)
    stored = {unit: text for unit, text in inputs.stored.items() if not unit[0].startswith("analysis.")}
    return plan(load_models() if models is None else models, inputs) == stored


def plan(models: Sequence[Model], inputs: _Inputs) -> dict[Unit, str]:
    """Return the fingerprint that each unit has when it is up to date; `models` in dependency order."""
    by_name = {model.full_name: model for model in models}
    planned: dict[Unit, str] = {}
    views: dict[str, str] = {}
    for model in models:
        for month in [] if model.is_full else inputs.months:
            window = _window(model, month, inputs.months)
            planned[model.full_name, month] = _fingerprint(model, window, by_name, inputs, planned)
        views[model.full_name] = _view_fingerprint(model, inputs, views)
        over = _fingerprint(model, inputs.months, by_name, inputs, planned) if model.is_full else ""
        planned[model.full_name, WHOLE] = digest_of([views[model.full_name], over])
    return planned


def month_table(model: str, month: str) -> str:
    """Return the quoted name of the table that holds one month of a month-built model."""
    return f"months.{quoted(f'{model}__{month[:4]}_{month[5:7]}')}"


def _fingerprint(
    model: Model, months: Sequence[str], models: Mapping[str, Model], inputs: _Inputs, planned: Mapping[Unit, str]
) -> str:
    """Return the hash of the model's text and of everything that these months of it are made from."""
    pieces = [str(SCHEMA_VERSION), model.digest]
    for name in sorted(model.dependencies):
        if name in models:
            spans = [WHOLE] if models[name].is_full else months
            pieces += [name, *(f"{month}:{planned[name, month]}" for month in spans)]
        elif name in PARTITIONED:
            pieces += [name, inputs.load_ids(months)]
        elif name.startswith("settings."):
            pieces += [name, inputs.settings_of(name, None if model.is_full else months[-1])]
        elif name.startswith("usage."):
            pieces += [name, inputs.usage_of(name, None if model.is_full else months[-1])]
        else:
            pieces += [name, inputs.written(name) if name.startswith("analysis.") else inputs.loads]
    return digest_of(pieces)


def _view_fingerprint(model: Model, inputs: _Inputs, views: Mapping[str, str]) -> str:
    """Return the hash of what the columns, types and descriptions of a model and the months under it follow from."""
    upstream = [views[name] for name in sorted(model.dependencies) if name in views]
    months = [] if model.is_full else inputs.months
    return digest_of([view_hash(), model.digest, model.description, *months, *upstream])


def _window(model: Model, month: str, months: Sequence[str]) -> list[str]:
    """Return the months that building `month` reads."""
    first = date.fromisoformat(month)
    for _ in range(model.lookback_months):
        first = date(first.year - (first.month == 1), (first.month - 2) % 12 + 1, 1)
    return [other for other in months if first.isoformat() <= other <= month]


def _read_inputs(warehouse: Warehouse) -> _Inputs:
    """Read the ledger, the settings' hashes and the stored fingerprints."""
    loads = warehouse.rows(
        f"select load_id, source, billing_month, sequence, is_current from {LOAD.full_name}"
        " order by source, billing_month, sequence, load_id"
    )
    stored = warehouse.rows(f"select model, billing_month, fingerprint from {FINGERPRINT.full_name}")
    return _Inputs(
        parts=current_parts(warehouse),
        loads=digest_of(str(row) for row in loads),
        settings=settings_hashes(warehouse),
        dated_settings=dated_settings_hashes(warehouse),
        part_settings=part_settings(warehouse),
        usage=usage_hashes(warehouse),
        stored={(str(row[0]), str(row[1])): str(row[2]) for row in stored},
    )


def _build_model(work: _Build, model: Model) -> None:
    """Build what is stale of one model and check it."""
    name = model.full_name
    months = [month for month in work.inputs.months if (name, month) in work.stale]
    if model.is_full and (name, WHOLE) in work.stale:
        _drop_unless(work, "table", name)
        _describe(work, model, _build_unit(work, model, name, WHOLE))
    for month in months:
        _drop_unless(work, "view" if model.is_view else "table", month_table(name, month))
        _build_unit(work, model, month_table(name, month), month)
    if not model.is_full and (name, WHOLE) in work.stale:
        _drop_unless(work, "view", name)
        _make_view(work, model)
        _describe(work, model, _columns(work.warehouse, f"select * from {name}"))
    work.written += [(name, month) for month in (*months, WHOLE) if (name, month) in work.stale]


def _build_unit(work: _Build, model: Model, table: str, month: str) -> Columns:
    """Build one table, check it and return its columns."""
    where = model.full_name if model.is_full else f"{model.full_name} {month[:7]}"
    work.progress(where)
    relations = {} if model.is_full else _relations(work, model, month)
    kind = "view" if model.is_view else "table"
    if model.repetition is None:
        work.warehouse.execute(f"create or replace {kind} {table} as {model.query.spliced(relations)}")
    else:
        _build_repeatedly(work, model, model.repetition, table, relations)
    columns = _columns(work.warehouse, f"select * from {table}")
    check_columns(model, columns)
    check_key(work.warehouse, model, table, None if model.is_full else month)
    work.warnings += run_checks(work.warehouse, model, relations | {model.full_name: table}, where)
    work.built.append((model.full_name, None if model.is_full else month))
    return columns


def _build_repeatedly(
    work: _Build, model: Model, repetition: Repetition, table: str, relations: Mapping[str, str]
) -> None:
    """Build a table by running the model over its own result, as often as its repetition says."""
    result = relations.get(repetition.start, repetition.start)
    count = int(str(work.warehouse.value(f"select count(*) from {repetition.over}")))
    for step in range(count):
        query = model.query.spliced({**relations, repetition.start: result})
        result = f"repeated_{step % 2}"
        work.warehouse.execute(f"create or replace temporary table {result} as {query}")
    work.warehouse.execute(f"create or replace table {table} as select * from {result}")
    for leftover in range(min(count, 2)):
        work.warehouse.execute(f"drop table temp.repeated_{leftover}")


def _relations(work: _Build, model: Model, month: str) -> dict[str, str]:
    """Return what the references of a month-built model mean while it builds `month`."""
    window = _window(model, month, work.inputs.months)
    parts = [part for part in work.inputs.parts if part.billing_month.isoformat() in window]
    relations = {
        name: f"({relation_over(name, parts, has_texts=model.reads_texts)})"
        for name in PARTITIONED
        if name in model.dependencies
    }
    for name in model.dependencies & work.models.keys():
        if not work.models[name].is_full:
            relations[name] = f"({_union(name, window)})" if len(window) > 1 else month_table(name, month)
    return relations


def _union(name: str, months: Sequence[str]) -> str:
    """Return the SELECT over these months of a model."""
    return " union all by name ".join(f"select * from {month_table(name, month)}" for month in months)


def _make_view(work: _Build, model: Model) -> None:
    """Make the view over the months again; over no months it still has the model's columns and types."""
    text = _union(model.full_name, work.inputs.months)
    if not text:
        columns = _columns(work.warehouse, model.query.text)
        check_columns(model, columns)
        text = f"select {', '.join(f'cast(null as {kind}) as {quoted(name)}' for name, kind in columns)} where false"
    work.warehouse.execute(f"create or replace view {model.full_name} as {text}")


def _columns(warehouse: Warehouse, query: str) -> Columns:
    """Return the columns and types that a query gives."""
    return [(str(row[0]), str(row[1])) for row in warehouse.rows(f"describe {query}")]


def _describe(work: _Build, model: Model, columns: Columns) -> None:
    """Attach the descriptions of the table and its columns, which replacing a table or view has taken away."""
    kind = "table" if model.is_full else "view"
    statements = [f"comment on {kind} {model.full_name} is {literal(model.description)}"]
    for column, _ in columns:
        text = _description(work, model, column)
        if text:
            statements.append(f"comment on column {model.full_name}.{quoted(column)} is {literal(text)}")
    work.warehouse.execute(";\n".join(statements))


def _description(work: _Build, model: Model, column: str) -> str | None:
    """Return what the model says about a column, else what a model or table of use that it reads says."""
    if column in model.descriptions:
        return model.descriptions[column]
    asked = (model.full_name, column)
    if asked not in work.described:
        read = (work.models[name] for name in sorted(model.dependencies & work.models.keys()))
        upstream = (_description(work, other, column) for other in read)
        told = (USAGE_DESCRIPTIONS[name].get(column) for name in sorted(model.dependencies & USAGE_DESCRIPTIONS.keys()))
        work.described[asked] = next((text for text in (*upstream, *told) if text), None)
    return work.described[asked]


def _record(work: _Build, gone: Sequence[Unit]) -> None:
    """Write the fingerprints of the units just built, and forget those of units that are gone."""
    forgotten = [*gone, *work.written]
    names, months = [name for name, _ in forgotten], [month for _, month in forgotten]
    work.warehouse.execute(
        f"delete from {FINGERPRINT.full_name} where (model, billing_month::varchar) in"
        " (select unnest(?::varchar[]), unnest(?::varchar[]))",
        [names, months],
    )
    written = [[name for name, _ in work.written], [month for _, month in work.written]]
    work.warehouse.execute(
        f"insert into {FINGERPRINT.full_name} select unnest(?::varchar[]), unnest(?::date[]), unnest(?::varchar[])",
        [*written, [work.planned[unit] for unit in work.written]],
    )


def _drop_unit(work: _Build, unit: Unit) -> None:
    """Drop a month whose parts are gone, or a model that no file describes any more."""
    name, month = unit
    _drop_unless(work, None, name if month == WHOLE else month_table(name, month))


def _drop_unless(work: _Build, kept_kind: str | None, relation: str) -> None:
    """Drop what bears the name `relation` unless it is a `kept_kind`: a replace cannot turn a table into a view."""
    found = work.kinds.get(relation.replace('"', ""))
    if found is not None and found != kept_kind:
        work.warehouse.execute(f"drop {found} {relation}")


def _kinds(warehouse: Warehouse) -> dict[str, str]:
    """Return whether each relation of the file is a table or a view, by its name without quotes."""
    rows = warehouse.rows(
        "select schema_name || '.' || table_name, 'table' from duckdb_tables() where database_name = current_database()"
        " union all"
        " select schema_name || '.' || view_name, 'view' from duckdb_views() where database_name = current_database()"
    )
    return {str(row[0]): str(row[1]) for row in rows}


@contextmanager
def _model_errors(model: Model) -> Iterator[None]:
    """Name the model in what DuckDB says about its SQL."""
    try:
        yield
    except (duckdb.ProgrammingError, duckdb.DataError) as error:
        raise ModelError(model.full_name, str(error)) from error
