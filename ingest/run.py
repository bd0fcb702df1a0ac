"""One night's ingestion: every source discovered, fetched and loaded; what fails is reported, the others go on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from ingest import ledger
from ingest.checksums import Checksums
from ingest.conversion import mark_converted
from ingest.delivery import Delivery, Offer
from ingest.discounts import is_spread_otherwise
from ingest.discover import DATASETS, Discovered, Vanished, discover
from ingest.drop import drop_month
from ingest.errors import IngestError, LoadRefused, SourceUnreadable
from ingest.gcp.silent import GCP_KINDS, silent_projects
from ingest.landed import create_macros
from ingest.landing import (
    land,
    landed_version,
    note_in_force,
    prune,
    remove_fetched,
    remove_interrupted,
)
from ingest.load import LoadOptions, load_delivery
from ingest.privacy import Privacy
from ingest.retention import KeepLanded, kept_versions
from ingest.source import SourceSettings
from ingest.unpack import remove_unpacked
from sql.parts import drop_aside, prepare
from sql.warehouse import Warehouse

Progress = Callable[[str], None]


@dataclass(slots=True, kw_only=True)
class IngestReport:
    """What a night's ingestion came to."""

    loaded: list[ledger.LoadRecord] = field(default_factory=list)
    unchanged: list[Delivery | Offer] = field(default_factory=list)
    problems: list[IngestError] = field(default_factory=list)
    passed_over: dict[str, list[str]] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    """By source, what somebody should know though nothing failed."""
    without_data: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """When, where to, and how strict."""

    landing: Path
    now: datetime
    """UTC, without zone, as the ledger keeps it."""
    accept_shrink: bool = False
    months: frozenset[date] | None = None
    """Months to load again whether they changed or not; None loads what changed."""
    keep_landed: KeepLanded = "open-months"
    privacy: Privacy | None = None
    """What is hidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ingesting:
    """One night's ingestion under way."""

    warehouse: Warehouse
    sources: Sequence[SourceSettings]
    options: IngestOptions
    progress: Progress
    report: IngestReport
    checksums: Checksums
    offered: set[tuple[str, date]] = field(default_factory=set)
    """(source, month) of tonight's deliveries."""


def ingest(
    warehouse: Warehouse, sources: Sequence[SourceSettings], options: IngestOptions, progress: Progress = lambda _: None
) -> IngestReport:
    """Load what the sources newly deliver. Problems are collected in the report, never raised."""
    prepare(warehouse)
    mark_converted(warehouse, options.privacy)
    create_macros(warehouse, options.privacy)
    remove_interrupted(options.landing)
    remove_unpacked(warehouse)
    drop_aside(warehouse)
    checksums = Checksums(warehouse, int(options.now.replace(tzinfo=UTC).timestamp() * 1_000_000_000))
    work = _Ingesting(
        warehouse=warehouse,
        sources=sources,
        options=options,
        progress=progress,
        report=IngestReport(),
        checksums=checksums,
    )
    for source in sources:
        progress(f"{source.name}: looking for deliveries")
        offered = _discovered(work, source, checksums).deliveries
        for delivery in offered:
            _ingest_delivery(work, source, delivery)
        if source.kind in GCP_KINDS:
            work.report.notes.setdefault(source.name, []).extend(silent_projects(warehouse, source.name))
        _ingest_landed(work, source, {delivery.billing_month for delivery in offered})
        _remove_fetched(work, source)
    for source_name, month in ledger.months(warehouse):
        if (source_name, month) not in work.offered:
            _tidy(work, source_name, month)
    _report_absent(work.report, options.months)
    checksums.save()
    return work.report


def _report_absent(report: IngestReport, months: frozenset[date] | None) -> None:
    """Add a problem for each month that was asked for and that no source offers, nor has landed."""
    handled = {load.delivery.billing_month for load in report.loaded}
    handled |= {offered.billing_month for offered in report.unchanged}
    handled |= {problem.billing_month for problem in report.problems if problem.billing_month is not None}
    report.problems += [
        SourceUnreadable("no source offers this month, and nothing of it has landed", billing_month=month)
        for month in sorted((months or frozenset()) - handled)
    ]


def _discovered(work: _Ingesting, source: SourceSettings, checksums: Checksums) -> Discovered:
    """Return what a source offers; a source that cannot be listed offers nothing and is a problem."""
    report = work.report
    try:
        months = work.options.months or frozenset()
        found = discover(source, work.warehouse, checksums, work.options.landing, months)
    except IngestError as error:
        report.problems.append(error.located(source=source.name))
        return Discovered()
    report.problems += found.problems
    for gone in found.vanished:
        _settle_vanished(work, source, gone, checksums)
    report.notes[source.name] = found.notes
    if found.passed_over:
        report.passed_over[source.name] = found.passed_over
    if not found.deliveries and not found.problems:
        _note_silence(work, source)
    return found


def _note_silence(work: _Ingesting, source: SourceSettings) -> None:
    """Note a source without any delivery: normal before its first, a problem after, unless another took it over."""
    rows = work.warehouse.rows("select billing_month from ops.load where is_current and source = ?", [source.name])
    months = sum(1 for (month,) in rows if isinstance(month, date) and source.covers(month))
    if not months:
        work.report.without_data.append(source.name)
        return
    work.report.problems.append(
        SourceUnreadable(
            f"nothing is delivered any more, though {months} months are loaded",
            source=source.name,
            hint="check `location`; if the source has ended, remove its [[source]]: its charges stay",
        )
    )


def _settle_vanished(work: _Ingesting, source: SourceSettings, gone: Vanished, checksums: Checksums) -> None:
    """Refuse that a month loses all its rows, or take it out of force where that was said to be right."""
    warehouse, month = work.warehouse, gone.billing_month
    current = ledger.current_load(warehouse, source.name, month)
    if current is None or not source.covers(month):
        return
    if work.options.accept_shrink:
        drop_month(warehouse, source.name, month)
        return
    checksums.forget(gone.file)
    work.report.problems.append(
        LoadRefused(
            f"no file has rows of this month any more, though it had; {current[1]} are loaded",
            source=source.name,
            billing_month=month,
            file=gone.file.name,
            hint="if that is right, run again with --accept-shrink; else deliver the month's rows again",
        )
    )


def _ingest_delivery(work: _Ingesting, source: SourceSettings, offered: Delivery | Offer) -> None:
    """Fetch and load one delivery, unless it is loaded already or another source has taken over its month."""
    warehouse, options, month = work.warehouse, work.options, offered.billing_month
    work.offered.add((source.name, month))
    try:
        delivery = _wanted(work, source, offered)
        if delivery is None:
            work.report.unchanged.append(offered)
        else:
            work.progress(f"{source.name}: loading {month:%Y-%m}")
            landed = land(options.landing, delivery)
            loading = LoadOptions(loaded_at=options.now, accept_shrink=options.accept_shrink, sources=work.sources)
            work.report.loaded.append(load_delivery(warehouse, landed, source, DATASETS[source.kind], loading))
    except IngestError as error:
        work.report.problems.append(error.located(source=source.name, billing_month=month))
        return
    _tidy(work, source.name, month)


def _wanted(work: _Ingesting, source: SourceSettings, offered: Delivery | Offer) -> Delivery | None:
    """Return the delivery that is to be loaded, fetched, or None: what was fetched may turn out to be nothing new."""
    if not _is_wanted(work, source, offered):
        return None
    delivery = _fetched(work, offered) if isinstance(offered, Offer) else offered
    return delivery if _is_wanted(work, source, delivery) else None


def _fetched(work: _Ingesting, offer: Offer) -> Delivery:
    """Return an offer's delivery: landed already, or else fetched; its checksums are remembered before it is loaded."""
    if offer.version is not None:
        landed = landed_version(work.options.landing, offer.source, offer.billing_month, offer.version)
        if landed is not None:
            return landed
    work.progress(f"{offer.source}: fetching {offer.billing_month:%Y-%m}")
    delivery = offer.fetch()
    work.checksums.save()
    return delivery


def _ingest_landed(work: _Ingesting, source: SourceSettings, offered: Collection[date]) -> None:
    """Load months that are offered no more from what has landed of them, where something asks for it.

    That is their name among the options, or discounts of commitments that changed.
    """
    held = {month for name, month in ledger.months(work.warehouse) if name == source.name}
    changed = {month for month in held - set(offered) if is_spread_otherwise(work.warehouse, source, month)}
    for month in sorted({*(work.options.months or ()), *changed}):
        current = ledger.current_load(work.warehouse, source.name, month)
        if month not in offered and source.covers(month) and current is not None:
            landed = landed_version(work.options.landing, source.name, month, current[0])
            if landed is not None:
                _ingest_delivery(work, source, landed)


def _remove_fetched(work: _Ingesting, source: SourceSettings) -> None:
    """Remove what was fetched and is not wanted any more; what a month with a problem has so far stays for the next."""
    unsettled = {problem.billing_month for problem in work.report.problems if problem.source == source.name}
    if not isinstance(source.location, Path) and None not in unsettled:
        remove_fetched(work.options.landing, source.name, {month for month in unsettled if month is not None})


def _tidy(work: _Ingesting, source: str, month: date) -> None:
    """Note the landed version in force and remove what nothing needs; each night, since a kill may have come before."""
    options = work.options
    current = ledger.current_load(work.warehouse, source, month)
    if current is not None:
        note_in_force(options.landing, source, month, current[0])
    kept = kept_versions(work.warehouse, source, month, options.keep_landed, options.now)
    prune(options.landing, source, month, kept)


def _is_wanted(work: _Ingesting, source: SourceSettings, delivery: Delivery | Offer) -> bool:
    """Return whether a delivery is to be loaded: it is new, or its month was asked for by name."""
    month = delivery.billing_month
    current = ledger.current_load(work.warehouse, source.name, month)
    if current is None:
        successors = [other.name for other in work.sources if other.replaces == source.name]
        return not any(ledger.current_load(work.warehouse, name, month) for name in successors)
    forced = work.options.months is not None and month in work.options.months
    return forced or current[0] != delivery.version or is_spread_otherwise(work.warehouse, source, month)
