"""The warehouse made anew from landed files: after a new conversion, or because somebody asks for it.

The new file is built beside the old one, every month from the landed version in force; a month whose landed files were
pruned is copied from the old warehouse, where this version's view still reads its part. Control totals must equal those
of the old ledger. Then one rename puts the new file in place: a crash at any point leaves the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb

from ingest import ledger
from ingest.conversion import is_hidden_alike, mark_converted
from ingest.discover import ALL_DATASETS, DATASETS
from ingest.earlier import bring_up_to_date
from ingest.errors import LoadRefused
from ingest.invoiced import count_invoiced
from ingest.landed import create_macros
from ingest.landing import RECORD, read_landed, version_in_force
from ingest.load import LoadOptions, load_delivery
from ingest.privacy import Privacy
from ingest.source import SourceSettings
from ingest.usage.kept import hide_in_runs
from sql.contract import (
    ACCOUNT,
    ACCOUNT_TAG,
    COST_AND_USAGE,
    LEDGER_TABLES,
    LOAD,
    META,
    PRICE,
    PROJECT,
    QUERY_COST,
    SETTINGS_TABLES,
    STAGING_OF,
    USAGE_LOAD,
    USAGE_TABLES,
    WASTE_EVALUATED,
    WASTE_STATE,
    Table,
)
from sql.files import remove, rename, temporary_beside
from sql.meta import key_of_part
from sql.parts import part_name, prepare, refresh_views, tables_of
from sql.publish import log_of
from sql.usage import mark_usage
from sql.warehouse import Warehouse, WarehouseSettings, literal, quoted

Progress = Callable[[str], None]
WASTE_TABLES = (WASTE_STATE, WASTE_EVALUATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A month that the old warehouse, or the landing directory, holds."""

    source: str
    billing_month: date
    version: str


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a warehouse is made anew from."""

    sources: Sequence[SourceSettings]
    landing: Path
    now: datetime
    progress: Progress
    privacy: Privacy | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildReport:
    """Months made from landed files, and months copied from the old warehouse."""

    loaded: int
    copied: int


def rebuild(
    settings: WarehouseSettings,
    sources: Sequence[SourceSettings],
    landing: Path,
    now: datetime,
    progress: Progress = lambda _: None,
    privacy: Privacy | None = None,
) -> RebuildReport:
    """Make the warehouse anew and put it in place; raises IngestError or WarehouseError, and the old one stands."""
    temporary = temporary_beside(settings.path)
    for leftover in (temporary, log_of(temporary)):
        remove(leftover)
    if settings.path.exists():
        # A killed run may have left committed loads in the log: opening and closing writes them into the file.
        with Warehouse.open(settings):
            pass
    try:
        with Warehouse.open(replace(settings, path=temporary)) as fresh:
            report = _fill(fresh, settings.path, _Wanted(sources, landing, now, progress, privacy))
            fresh.checkpoint()
    except BaseException:
        remove(temporary)
        remove(log_of(temporary))
        raise
    remove(log_of(settings.path))
    rename(temporary, settings.path)
    return report


def _fill(fresh: Warehouse, old: Path, wanted: _Wanted) -> RebuildReport:
    """Load or copy every month that is held, then take over the history of the ledger."""
    prepare(fresh)
    mark_converted(fresh, wanted.privacy)
    create_macros(fresh, wanted.privacy)
    has_old = old.exists()
    if has_old:
        fresh.execute(f"attach {literal(str(old))} as old (read_only)")
        # Before the months: loads fill costs at list from it.
        _take_over(fresh, PRICE, "true")
    held = _held_in_ledger(fresh) if has_old else _held_in_landing(wanted.landing)
    is_alike = has_old and is_hidden_alike(_made_by(fresh), wanted.privacy)
    loaded = copied = 0
    for month in held:
        wanted.progress(f"{month.source}: rebuilding {month.billing_month:%Y-%m}")
        if (_directory(wanted.landing, month) / RECORD).is_file():
            _load(fresh, month, wanted.sources, wanted.landing, wanted.now)
            loaded += 1
        else:
            _see_that_it_is_hidden(month, is_alike=is_alike)
            _copy_part(fresh, month)
            copied += 1
    if has_old:
        _prove(fresh)
        _take_over_history(fresh)
        _take_over_retired_sources(fresh)
        _take_over_accounts(fresh, with_tags=is_alike)
        _take_over_usage(fresh)
        fresh.execute("detach old")
    return RebuildReport(loaded=loaded, copied=copied)


def _made_by(fresh: Warehouse) -> str:
    """Return the conversion that the old warehouse was made by."""
    return str(fresh.value("select max(value) from old.ops.meta where key = 'conversion_hash'") or "")


def _see_that_it_is_hidden(held: Held, *, is_alike: bool) -> None:
    """Raise LoadRefused for a month that would be copied with what is to be hidden now."""
    if not is_alike:
        raise LoadRefused(
            "the landed files were removed, and it was loaded with another [privacy] or another key",
            source=held.source,
            billing_month=held.billing_month,
            hint="deliver the month's files again, or set [privacy] back",
        )


def _held_in_ledger(fresh: Warehouse) -> list[Held]:
    """Return the months that the old ledger has in force."""
    rows = fresh.rows(
        "select source, billing_month, version from old.ops.load where is_current order by source, billing_month"
    )
    return [_held(row) for row in rows]


def _held(row: tuple[object, ...]) -> Held:
    """Return a row of the old ledger."""
    source, month, version = row
    if not isinstance(month, date):
        raise TypeError("billing_month is a date")
    return Held(source=str(source), billing_month=month, version=str(version))


def _held_in_landing(landing: Path) -> list[Held]:
    """Return the landed version in force of each month, where there is no ledger any more."""
    held: list[Held] = []
    for month in sorted(landing.glob("*/????-??")):
        version = version_in_force(month)
        if version is not None:
            first = date.fromisoformat(f"{month.name}-01")
            held.append(Held(source=month.parent.name, billing_month=first, version=version))
    return held


def _directory(landing: Path, held: Held) -> Path:
    """Return where a month's version landed."""
    return landing / held.source / f"{held.billing_month:%Y-%m}" / held.version


def _load(fresh: Warehouse, held: Held, sources: Sequence[SourceSettings], landing: Path, now: datetime) -> None:
    """Load a month from its landed files; a source that is configured no more is recognised by its files."""
    delivery = read_landed(_directory(landing, held), held.source, held.billing_month)
    configured = {source.name: source for source in sources}
    retired = SourceSettings(name=held.source, kind="focus-export", location=landing)
    source = configured.get(held.source, retired)
    datasets = DATASETS[source.kind] if held.source in configured else ALL_DATASETS
    options = LoadOptions(loaded_at=now.astimezone(UTC).replace(tzinfo=None), accept_shrink=True)
    load_delivery(fresh, delivery, source, datasets, options)


def _copy_part(fresh: Warehouse, held: Held) -> None:
    """Copy the tables of a part and its ledger rows as they stand."""
    names = tables_of(part_name(held.source, held.billing_month))
    present = fresh.rows(
        "select table_name from duckdb_tables() where database_name = 'old' and schema_name = 'parts'"
        " and list_contains(?, table_name) order by table_name",
        [list(names)],
    )
    with fresh.transaction():
        for name in (str(row[0]) for row in present):
            fresh.execute(f"create table parts.{quoted(name)} as from old.parts.{quoted(name)}")
        kind = fresh.value(
            "select export_kind from old.ops.load where is_current and source = ? and billing_month = ?",
            [held.source, held.billing_month],
        )
        bring_up_to_date(fresh, names[0], STAGING_OF[str(kind)])
        _take_over(fresh, META, "key = ?", [key_of_part(names[0])])
        for table in LEDGER_TABLES:
            in_force = (
                "load_id in (select load_id from old.ops.load where is_current and source = ? and billing_month = ?)"
            )
            condition = f"{in_force} and is_current" if table is LOAD else in_force
            _take_over(fresh, table, condition, [held.source, held.billing_month])
        _see_that_it_fits(fresh, held)
        _count_missing_invoices(fresh, held)


def _see_that_it_fits(fresh: Warehouse, held: Held) -> None:
    """Make the view again; raises LoadRefused where this version's view does not read the copied part."""
    try:
        refresh_views(fresh)
    except duckdb.BinderException as error:
        raise LoadRefused(
            "the landed files were removed, and the loaded part is of a version that is read no more",
            source=held.source,
            billing_month=held.billing_month,
            hint="deliver the month's files again, or run the earlier version",
        ) from error


def _count_missing_invoices(fresh: Warehouse, held: Held) -> None:
    """Say how far a copied month is invoiced, where the version that loaded it did not."""
    load_id = str(
        fresh.value(
            "select load_id from ops.load where is_current and source = ? and billing_month = ?",
            [held.source, held.billing_month],
        )
    )
    if fresh.value("select count(*) from ops.load_invoice where load_id = ?", [load_id]) == 0:
        charges = f'(select * from {COST_AND_USAGE.full_name} where "x_LoadId" = {literal(load_id)})'
        ledger.record_invoiced(fresh, load_id, count_invoiced(fresh, charges))


def _prove(fresh: Warehouse) -> None:
    """Raise where a month does not come to what the old ledger says."""
    difference = fresh.row(
        "with totals as ("
        " select l.source, l.billing_month, t.billing_account_id, t.billing_currency, t.billed_cost"
        " from ops.load as l inner join ops.load_total as t using (load_id) where l.is_current),"
        " earlier as ("
        " select l.source, l.billing_month, t.billing_account_id, t.billing_currency, t.billed_cost"
        " from old.ops.load as l inner join old.ops.load_total as t using (load_id) where l.is_current)"
        " (from totals except all from earlier) union all (from earlier except all from totals)"
    )
    if difference is not None:
        raise LoadRefused(
            f"the rebuilt month does not come to what is loaded: {difference[4]} {difference[3]} of {difference[2]}",
            source=str(difference[0]),
            billing_month=difference[1] if isinstance(difference[1], date) else None,
            hint="the old warehouse stands; if a rule of conversion changed on purpose, remove the warehouse file and"
            " run overrun rebuild again",
        )


def _take_over_history(fresh: Warehouse) -> None:
    """Copy the superseded loads of the old ledger, and number the loads in force as they were."""
    with fresh.transaction():
        fresh.execute(
            "update ops.load set sequence = earlier.sequence, loaded_at = earlier.loaded_at"
            " from old.ops.load as earlier where earlier.is_current and earlier.source = load.source"
            " and earlier.billing_month = load.billing_month"
        )
        _take_over(fresh, LOAD, "not is_current")
        for table in LEDGER_TABLES[1:]:
            _take_over(fresh, table, f"load_id not in (select load_id from {table.full_name})")


def _take_over_retired_sources(fresh: Warehouse) -> None:
    """Keep what the old warehouse knows of sources; the next build replaces those that are still configured."""
    with fresh.transaction():
        for table in SETTINGS_TABLES:
            if table.full_name in {"settings.source", "settings.quiet_source"}:
                _take_over(fresh, table, "true")


def _take_over_accounts(fresh: Warehouse, *, with_tags: bool) -> None:
    """Keep what organisations and billing accounts last listed, what queries billed and since when what is wasted.

    No file says it.

    Tags of accounts are hidden as those of charges, and listed again by the next night.
    """
    with fresh.transaction():
        for table in (ACCOUNT, *((ACCOUNT_TAG,) if with_tags else ()), PROJECT, QUERY_COST, *WASTE_TABLES):
            _take_over(fresh, table, "true")


def _take_over_usage(fresh: Warehouse) -> None:
    """Keep runs and capacity: sources list no more what is long past. What is to be hidden now is hashed on the way."""
    with fresh.transaction():
        for table in (*USAGE_TABLES, USAGE_LOAD):
            _take_over(fresh, table, "true")
        hide_in_runs(fresh)
        mark_usage(fresh, USAGE_TABLES)


def _take_over(fresh: Warehouse, table: Table, condition: str, parameters: Sequence[object] = ()) -> None:
    """Copy rows of an old ledger table, by the columns that both versions have; of one that only this has, none."""
    rows = fresh.rows(
        "select column_name from duckdb_columns() where database_name = 'old' and schema_name = ? and table_name = ?",
        [table.schema, table.name],
    )
    old = {str(row[0]) for row in rows}
    if not old:
        return
    columns = ", ".join(quoted(column.name) for column in table.columns if column.name in old)
    fresh.execute(
        f"insert into {table.full_name} by name select {columns} from old.{table.full_name} where {condition}",
        parameters,
    )
