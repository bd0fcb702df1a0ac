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
from sql.contract import FINGERPRINT, LOAD, META, SCHEMA_VERSION, WHOLE
from sql.errors import ModelError
from sql.meta import write_meta
from sql.model import Model, digest_of, load_models, verify
from sql.parts import PARTITIONED, Part, current_parts, relation_over, view_hash
from sql.settings import settings_hashes
from sql.warehouse import Warehouse, literal, quoted

Unit = tuple[str, str]
"""(model, month as YYYY-MM-DD), or WHOLE for a full model and for the view over a model's months."""
Progress = Callable[[str], None]


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
    stored: Mapping[Unit, str]

    @cached_property
    def months(self) -> list[str]:
        """Return the months that any part holds, oldest first."""
        return sorted({part.billing_month.isoformat() for part in self.parts})

    def load_ids(self, months: Sequence[str]) -> str:
        """Return the loads in force of these months, and the texts that turn their parts into charges."""
        chosen = [part for part in self.parts if part.billing_month.isoformat() in months]
        return digest_of([view_hash(), *(f"{part.source}:{part.load_id}" for part in chosen)])

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
    built: list[tuple[str, str | None]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


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
    )
    with warehouse.transaction():
        _verify_once(warehouse, ordered)
        for unit in gone:
            _drop_unit(work, unit)
        for model in ordered:
            with _model_errors(model):
                _build_model(work, model)
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
    for model in models:
        for month in [] if model.is_full else inputs.months:
            window = _window(model, month, inputs.months)
            planned[model.full_name, month] = _fingerprint(model, window, by_name, inputs, planned)
        over = (
            _fingerprint(model, inputs.months, by_name, inputs, planned) if model.is_full else ",".join(inputs.months)
        )
        planned[model.full_name, WHOLE] = digest_of([model.digest, over])
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
            pieces += [name, inputs.settings.get(name, "")]
        else:
            pieces += [name, inputs.written(name) if name.startswith("analysis.") else inputs.loads]
    return digest_of(pieces)


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
        stored={(str(row[0]), str(row[1])): str(row[2]) for row in stored},
    )


def _verify_once(warehouse: Warehouse, models: Sequence[Model]) -> None:
    """Check the texts with a parser, unless this warehouse has already been built from the same texts."""
    digest = digest_of(sorted(model.digest for model in models))
    if warehouse.value(f"select value from {META.full_name} where key = 'models_verified'") != digest:
        verify(models)
        write_meta(warehouse, "models_verified", digest)


def _build_model(work: _Build, model: Model) -> None:
    """Build what is stale of one model, check it, and record its fingerprints."""
    name = model.full_name
    months = [month for month in work.inputs.months if (name, month) in work.stale]
    if not months and (name, WHOLE) not in work.stale:
        return
    _drop_unless(work, "table" if model.is_full else "view", model.full_name)
    if model.is_full:
        _build_unit(work, model, name, WHOLE)
    for month in months:
        _drop_unless(work, "view" if model.is_view else "table", month_table(name, month))
        _build_unit(work, model, month_table(name, month), month)
    if not model.is_full:
        _make_view(work, model)
    _describe(work, model)
    _record(work, name, [*months, WHOLE])


def _build_unit(work: _Build, model: Model, table: str, month: str) -> None:
    """Build one table and check it."""
    where = model.full_name if model.is_full else f"{model.full_name} {month[:7]}"
    work.progress(where)
    relations = {} if model.is_full else _relations(work, model, month)
    kind = "view" if model.is_view else "table"
    work.warehouse.execute(f"create or replace {kind} {table} as {model.query.spliced(relations)}")
    check_columns(model, _columns(work.warehouse, f"select * from {table}"))
    check_key(work.warehouse, model, table, None if model.is_full else month)
    work.warnings += run_checks(work.warehouse, model, relations | {model.full_name: table}, where)
    work.built.append((model.full_name, None if model.is_full else month))


def _relations(work: _Build, model: Model, month: str) -> dict[str, str]:
    """Return what the references of a month-built model mean while it builds `month`."""
    window = _window(model, month, work.inputs.months)
    parts = [part for part in work.inputs.parts if part.billing_month.isoformat() in window]
    relations = {name: f"({relation_over(name, parts)})" for name in PARTITIONED if name in model.dependencies}
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


def _columns(warehouse: Warehouse, query: str) -> list[tuple[str, str]]:
    """Return the columns and types that a query gives."""
    return [(str(row[0]), str(row[1])) for row in warehouse.rows(f"describe {query}")]


def _describe(work: _Build, model: Model) -> None:
    """Attach the purpose and the column descriptions, which replacing a table or view has taken away."""
    kind = "table" if model.is_full else "view"
    statements = [f"comment on {kind} {model.full_name} is {literal(model.purpose)}"]
    for column, _ in _columns(work.warehouse, f"select * from {model.full_name}"):
        text = _description(work.models, model, column)
        if text:
            statements.append(f"comment on column {model.full_name}.{quoted(column)} is {literal(text)}")
    work.warehouse.execute(";\n".join(statements))


def _description(models: Mapping[str, Model], model: Model, column: str) -> str | None:
    """Return what the model says about a column, else what a model that it reads says."""
    if column in model.descriptions:
        return model.descriptions[column]
    upstream = (_description(models, models[name], column) for name in sorted(model.dependencies & models.keys()))
    return next((text for text in upstream if text), None)


def _record(work: _Build, model: str, months: Sequence[str]) -> None:
    """Write the fingerprints of the units just built."""
    marks = ", ".join("?" for _ in months)
    work.warehouse.execute(
        f"delete from {FINGERPRINT.full_name} where model = ? and billing_month::varchar in ({marks})", [model, *months]
    )
    rows = ", ".join("(?, ?::date, ?)" for _ in months)
    values = [value for month in months for value in (model, month, work.planned[model, month])]
    work.warehouse.execute(f"insert into {FINGERPRINT.full_name} values {rows}", values)


def _drop_unit(work: _Build, unit: Unit) -> None:
    """Drop a month whose parts are gone, or a model that no file describes any more."""
    name, month = unit
    _drop_unless(work, None, name if month == WHOLE else month_table(name, month))
    work.warehouse.execute(
        f"delete from {FINGERPRINT.full_name} where model = ? and billing_month = ?::date", list(unit)
    )


def _drop_unless(work: _Build, kept_kind: str | None, relation: str) -> None:
    """Drop what bears the name `relation` unless it is a `kept_kind`: a replace cannot turn a table into a view."""
    schema, name = relation.split(".", 1)
    found = work.warehouse.value(
        "select case when table_type = 'VIEW' then 'view' else 'table' end from information_schema.tables"
        " where table_schema = ? and table_name = ?",
        [schema, name.strip('"')],
    )
    if found is not None and found != kept_kind:
        work.warehouse.execute(f"drop {found} {relation}")


@contextmanager
def _model_errors(model: Model) -> Iterator[None]:
    """Name the model in what DuckDB says about its SQL."""
    try:
        yield
    except (duckdb.ProgrammingError, duckdb.DataError) as error:
        raise ModelError(model.full_name, str(error)) from error
