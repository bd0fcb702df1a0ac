"""One night's ingestion: every source discovered, fetched and loaded; what fails is reported, the others go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from ingest import ledger
from ingest.checksums import Checksums
from ingest.delivery import Delivery
from ingest.discover import DATASETS, Discovered, discover
from ingest.errors import IngestError
from ingest.landed import create_macros
from ingest.landing import KEPT_VERSIONS, land, prune, remove_interrupted
from ingest.load import LoadOptions, load_delivery
from ingest.source import SourceSettings
from sql.parts import part_name, prepare, refresh_views, tags_name
from sql.warehouse import Warehouse

Progress = Callable[[str], None]


@dataclass(slots=True, kw_only=True)
class IngestReport:
    """What a night's ingestion came to."""

    loaded: list[ledger.LoadRecord] = field(default_factory=list)
    unchanged: list[Delivery] = field(default_factory=list)
    problems: list[IngestError] = field(default_factory=list)
    passed_over: dict[str, list[str]] = field(default_factory=dict)
    without_data: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """When, where to, and how strict."""

    landing: Path
    now: datetime
    accept_shrink: bool = False
    months: frozenset[date] | None = None
    """Months to load again whether they changed or not; None loads what changed."""


def ingest(
    warehouse: Warehouse, sources: Sequence[SourceSettings], options: IngestOptions, progress: Progress = lambda _: None
) -> IngestReport:
    """Load what the sources newly deliver. Problems are collected in the report, never raised."""
    prepare(warehouse)
    create_macros(warehouse)
    remove_interrupted(options.landing)
    checksums = Checksums(warehouse, int(options.now.timestamp() * 1_000_000_000))
    report = IngestReport()
    for source in sources:
        progress(f"{source.name}: looking for deliveries")
        found = _discovered(source, warehouse, checksums, report)
        for delivery in found.deliveries:
            _ingest_delivery(warehouse, delivery, source, sources, options, report, progress)
    checksums.save()
    return report


def drop_source(warehouse: Warehouse, source: str) -> int:
    """Take every part of a source out of force and drop it; returns how many there were."""
    rows = warehouse.rows("select billing_month from ops.load where is_current and source = ? order by 1", [source])
    with warehouse.transaction():
        for (month,) in rows:
            assert isinstance(month, date)
            name = part_name(source, month)
            ledger.retire(warehouse, source, month, [name, tags_name(name)])
        refresh_views(warehouse)
    warehouse.checkpoint()
    return len(rows)


def _discovered(
    source: SourceSettings, warehouse: Warehouse, checksums: Checksums, report: IngestReport
) -> Discovered:
    """Return what a source offers; a source that cannot be listed offers nothing and is a problem."""
    try:
        found = discover(source, warehouse, checksums)
    except IngestError as error:
        report.problems.append(error.located(source=source.name))
        return Discovered()
    report.problems += found.problems
    if found.passed_over:
        report.passed_over[source.name] = found.passed_over
    if not found.deliveries and not found.problems:
        report.without_data.append(source.name)
    return found


def _ingest_delivery(
    warehouse: Warehouse,
    delivery: Delivery,
    source: SourceSettings,
    sources: Sequence[SourceSettings],
    options: IngestOptions,
    report: IngestReport,
    progress: Progress,
) -> None:
    """Fetch and load one delivery, unless it is loaded already or another source has taken over its month."""
    month = delivery.billing_month
    current = ledger.current_load(warehouse, source.name, month)
    forced = options.months is not None and month in options.months
    if current is not None and current[0] == delivery.version and not forced:
        report.unchanged.append(delivery)
        return
    if current is None and _is_taken_over(warehouse, source, sources, delivery):
        report.unchanged.append(delivery)
        return
    progress(f"{source.name}: loading {month:%Y-%m}")
    try:
        landed = land(options.landing, delivery)
        loading = LoadOptions(loaded_at=options.now, accept_shrink=options.accept_shrink)
        report.loaded.append(load_delivery(warehouse, landed, source, DATASETS[source.kind], loading))
    except IngestError as error:
        report.problems.append(error.located(source=source.name, billing_month=month))
        return
    prune(options.landing, source.name, month, ledger.versions(warehouse, source.name, month)[:KEPT_VERSIONS])


def _is_taken_over(
    warehouse: Warehouse, source: SourceSettings, sources: Sequence[SourceSettings], delivery: Delivery
) -> bool:
    """Return whether a source that replaces this one holds the month, and this one was loaded before."""
    successors = [other.name for other in sources if other.replaces == source.name]
    return any(ledger.current_load(warehouse, name, delivery.billing_month) is not None for name in successors)
