"""The night: lock, ingest, build, analyse, publish, alert, in the order in which data flows.

Each step is also a command. A source that fails does not stop the others; a build that fails as a whole leaves last
night's tables and published copy, and no conclusions are drawn from it. What was queued before is still sent. The worst
exit code speaks for the night.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

import structlog

from alerts.run import DeliveryReport, conclude, deliver
from analysis.run import analyse
from analysis.waste_run import follow_waste
from ingest.accounts import refresh_accounts
from ingest.checksums import Checksums
from ingest.conversion import mark_converted, needs_rebuild
from ingest.errors import IngestError, Unlisted
from ingest.ledger import LoadRecord
from ingest.prices import refresh_prices
from ingest.privacy import resolve_privacy
from ingest.projects import refresh_projects
from ingest.rebuild import rebuild
from ingest.rename import apply_renames
from ingest.run import IngestOptions, IngestReport, ingest
from ingest.usage.kept import rename_usage
from ingest.usage.load import UsageReport, load_usage
from overrun.closed_months import closed_rows, follow_renames
from overrun.config import Config
from overrun.exchange_rates import MISSING_RATE, MODEL, exchange_rate_rows, rate_missing, read_rates
from overrun.exits import Exit, code_of, worst
from overrun.invoice_checks import check_rows
from overrun.invoices import entered_invoices, invoice_rows
from overrun.rate_file import WrittenRate
from overrun.settings_tables import Finality, Organisation, settings_rows
from overrun.status_runs import counted_words
from overrun.status_splits import read_unshared
from overrun.waste_dismissals import dismissal_rows
from sql.contract import ACCOUNT, ACCOUNT_TAG, PROJECT
from sql.errors import CheckFailed, DirectoryUnwritable, DiskFull, WarehouseError, WarehouseLocked
from sql.excerpt import publish_excerpt
from sql.files import make_directory, remove, remove_tree, temporary_beside
from sql.lock import run_lock
from sql.parts import drop_aside, next_month, prepare
from sql.publish import PublishReport, log_of, publish, spill_of
from sql.runner import BuildReport, build, is_current
from sql.settings import replace_settings
from sql.state import Problem, StateStore
from sql.warehouse import Warehouse

if TYPE_CHECKING:
    from alerts.outbox import OutboxMessage

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class NightOptions:
    """What a run was asked for."""

    as_of: date
    now: datetime
    environ: Mapping[str, str]
    accept_shrink: bool = False
    months: frozenset[date] | None = None
    """Months to load again whether they changed or not."""
    say: Say = lambda _: None


@dataclass(slots=True, kw_only=True)
class NightReport:
    """What a run came to, step by step; None for a step that was not taken."""

    ingested: IngestReport | None = None
    usage: UsageReport | None = None
    unlisted: list[Unlisted] = field(default_factory=list)
    """Names, projects and prices that were not listed: noted, and no failure."""
    built: BuildReport | None = None
    analysed: bool | None = None
    published: list[PublishReport] = field(default_factory=list)
    queued: list[OutboxMessage] = field(default_factory=list)
    delivered: DeliveryReport | None = None
    failures: list[Exception] = field(default_factory=list)

    @property
    def problems(self) -> list[Exception]:
        """Return every failure, of sources and of steps."""
        of_costs = self.ingested.problems if self.ingested else []
        of_runs = self.usage.problems if self.usage else []
        return [*of_costs, *of_runs, *self.failures]

    @property
    def exit_code(self) -> Exit:
        """Return the code that speaks for the run."""
        codes = [code_of(error) or Exit.FAULT for error in self.problems]
        if self.delivered is not None and not self.delivered.is_complete:
            codes.append(Exit.UNDELIVERED)
        return worst(codes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run that holds the lock: what its steps work on."""

    config: Config
    options: NightOptions
    state: StateStore
    report: NightReport
    rates: tuple[WrittenRate, ...] = ()
    """Exchange rates of the file that the configuration names."""


@contextmanager
def run(config: Config, command: str, options: NightOptions) -> Iterator[Run]:
    """Hold the lock, open the state store and keep the record of the run; raises RunLocked.

    A broken file of exchange rates is a broken configuration: nothing begins.
    """
    with run_lock(config.lock):
        make_directory(config.state.parent)
        with StateStore.open(config.state) as state:
            run_id = uuid4().hex
            state.start_run(run_id, command, options.as_of, now=options.now)
            report = NightReport()
            exit_code = Exit.FAULT
            try:
                rates = read_rates(config.currency)
                yield Run(config=config, options=options, state=state, report=report, rates=rates)
                exit_code = report.exit_code
            except BaseException as error:
                exit_code = Exit.INTERRUPTED if isinstance(error, KeyboardInterrupt) else code_of(error) or Exit.FAULT
                if isinstance(error, Exception):
                    report.failures.append(error)
                raise
            finally:
                _keep_record(state, run_id, report, exit_code)


def run_night(config: Config, options: NightOptions) -> NightReport:
    """Run every step; raises only where nothing can be done at all (lock, unwritable directory)."""
    with run(config, "nightly", options) as night:
        is_built = _steps_in_warehouse(night)
        if is_built:
            publish_step(night)
        alert_step(night, is_concluding=is_built)
        return night.report


@contextmanager
def open_warehouse(night: Run) -> Iterator[Warehouse]:
    """Open the warehouse; one made by another conversion is made anew from landed files first."""
    settings = night.config.warehouse
    privacy = resolve_privacy(night.config.privacy, night.options.environ)
    make_directory(settings.path.parent)
    with Warehouse.open(settings) as warehouse:
        _remove_interrupted(night.config)
        is_outdated = needs_rebuild(warehouse, privacy)
        if not is_outdated:
            prepare(warehouse)
            mark_converted(warehouse, privacy)
            drop_aside(warehouse)
            yield warehouse
    if is_outdated:
        night.options.say(
            "the warehouse was made by another version or another [privacy]: making it anew from landed files"
        )
        rebuild(settings, night.config.sources, night.config.landing, night.options.now, night.options.say, privacy)
        with Warehouse.open(settings) as warehouse:
            yield warehouse


def _remove_interrupted(config: Config) -> None:
    """Remove what a killed run left half made; to be called while the warehouse is open, so that nobody else's goes.

    What did not fit in memory lies beside the database until DuckDB next needs that folder, which may be never.
    """
    databases = (config.warehouse.path, config.publish, *(further.path for further in config.publications))
    for temporary in map(temporary_beside, databases):
        for leftover in (temporary, log_of(temporary)):
            if leftover.exists():
                remove(leftover)
        remove_tree(spill_of(temporary))
    if config.warehouse.temp_directory is None:
        remove_tree(spill_of(config.warehouse.path))


def ingest_step(night: Run, warehouse: Warehouse) -> None:
    """Fetch and load what sources newly deliver; prices come before, since they fill costs at list."""
    apply_renames(warehouse, night.config.sources, night.config.landing)
    rename_usage(warehouse, night.config.run_sources)
    _refresh_prices(night, warehouse)
    options = IngestOptions(
        landing=night.config.landing,
        now=night.options.now.astimezone(UTC).replace(tzinfo=None),
        accept_shrink=night.options.accept_shrink,
        months=night.options.months,
        keep_landed=night.config.keep_landed,
        privacy=resolve_privacy(night.config.privacy, night.options.environ),
    )
    night.report.ingested = ingest(warehouse, night.config.sources, options, night.options.say)
    log = structlog.get_logger()
    for load in night.report.ingested.loaded:
        log.info(
            "delivery_loaded",
            source=load.delivery.source,
            billing_month=f"{load.delivery.billing_month:%Y-%m}",
            rows=load.rows_loaded,
        )
        _tell_of_gap(load, night.options.as_of)
    _load_runs(night, warehouse)
    _refresh_listed(night, warehouse)


def _load_runs(night: Run, warehouse: Warehouse) -> None:
    """Load what sources of runs newly tell."""
    now = night.options.now.astimezone(UTC)
    checksums = Checksums(warehouse, int(now.timestamp() * 1_000_000_000))
    night.report.usage = load_usage(
        warehouse, night.config.run_sources, checksums, now.replace(tzinfo=None), night.options.say
    )
    for file in night.report.usage.loaded:
        structlog.get_logger().info(
            "runs_loaded", source=file.source, file=file.file, rows=file.rows_read, changed=file.rows_changed
        )
        if file.passed_over:
            structlog.get_logger().warning(
                "columns_not_read", source=file.source, file=file.file, columns=", ".join(file.passed_over)
            )
    for source, words in night.report.usage.unknown_states.items():
        structlog.get_logger().warning("states_unknown", source=source, words=counted_words(words.most_common()))


def _refresh_prices(night: Run, warehouse: Warehouse) -> None:
    """Ask for prices, and tell what was not listed."""
    today = night.options.now.astimezone(UTC).date()
    refusals = refresh_prices(warehouse, night.config.prices, today, night.options.say)
    _tell_unlisted(night, "prices_not_listed", refusals)


def _refresh_listed(night: Run, warehouse: Warehouse) -> None:
    """Ask for names of accounts and projects, and tell what was not listed."""
    config, say = night.config, night.options.say
    privacy = resolve_privacy(config.privacy, night.options.environ)
    _tell_unlisted(night, "accounts_not_listed", refresh_accounts(warehouse, config.sources, say, privacy))
    _tell_unlisted(night, "projects_not_listed", refresh_projects(warehouse, config.sources, say))


def _tell_unlisted(night: Run, event: str, refusals: Sequence[Unlisted]) -> None:
    """Tell what a provider did not list; the night goes on with what it last listed."""
    night.report.unlisted += refusals
    for refusal in refusals:
        structlog.get_logger().warning(event, source=refusal.source, reason=str(refusal), hint=refusal.hint)


def _tell_of_gap(load: LoadRecord, as_of: date) -> None:
    """Tell that effective costs of commitments do not tie; in an open month fees of all of it stand against a part."""
    gaps = [commitment for commitment in load.commitments if commitment.has_gap]
    if not gaps:
        return
    log = structlog.get_logger()
    tell = log.warning if as_of >= next_month(load.delivery.billing_month) else log.info
    widest = max(gaps, key=lambda commitment: abs(commitment.gap_cost))
    tell(
        "effective_cost_unproven",
        source=load.delivery.source,
        billing_month=f"{load.delivery.billing_month:%Y-%m}",
        commitments=len(gaps),
        widest_gap=f"{widest.gap_cost:f} {widest.billing_currency}",
        commitment=widest.commitment_discount_id,
    )


def build_step(night: Run, warehouse: Warehouse) -> None:
    """Write the settings tables, build what changed, draw conclusions."""
    organisation = Organisation(
        accounts=warehouse.rows(
            f"select * from {ACCOUNT.full_name} union all"
            f" select source, sub_account_id, min(sub_account_name) from {PROJECT.full_name} group by all"
        ),
        tags=warehouse.rows(f"select * from {ACCOUNT_TAG.full_name}"),
    )
    follow_renames(night.state, _renamed(warehouse, night.config))
    retired = retired_sources(warehouse, night.config)
    kept = {name for name, _, _ in retired}
    finality = Finality(
        invoices=invoice_rows(entered_invoices(night.state)),
        retired=[row for row in warehouse.rows("select * from settings.quiet_source") if row[0] in kept],
        checks=check_rows(night.state),
    )
    rows = settings_rows(night.config, night.options.as_of, retired, organisation, finality)
    closed = closed_rows(warehouse, night.state, rows)
    exchange = exchange_rate_rows(night.config.currency, night.rates, warehouse, night.options.as_of)
    told = {"settings.exchange_rate": exchange, "settings.waste_dismissal": dismissal_rows(night.state)}
    changed = bool(replace_settings(warehouse, {**rows, **closed, **told}))
    with _named_rate(night):
        night.report.built = build(warehouse, progress=night.options.say)
    night.report.analysed = analyse(warehouse)
    if follow_waste(warehouse):
        # What a mart shows of a conclusion is built after it is drawn.
        night.report.analysed = True
        shown = build(warehouse, progress=night.options.say)
        night.report.built = BuildReport(
            built=[*night.report.built.built, *shown.built],
            warnings=[*night.report.built.warnings, *shown.warnings],
            changed=night.report.built.changed or shown.changed,
        )
    for warning in night.report.built.warnings:
        structlog.get_logger().warning("check_warned", check=warning)
    _tell_of_unshared(night, warehouse)
    if changed or night.report.built.changed or night.report.analysed:
        warehouse.checkpoint()


def _tell_of_unshared(night: Run, warehouse: Warehouse) -> None:
    """Tell of the months just built what splits took and found nobody for."""
    built = night.report.built.built if night.report.built else []
    months = {month for model, month in built if model == "core.shared_cost"}
    if not night.config.splits or not months:
        return
    for cost in read_unshared(warehouse):
        if cost.billing_month.isoformat() in months:
            structlog.get_logger().warning(
                "split_without_weights",
                split=cost.split_name,
                billing_month=f"{cost.billing_month:%Y-%m}",
                effective_cost=f"{cost.effective_cost:f} {cost.billing_currency}",
                hint="nobody has a weight: the cost stays where it is attributed, seen as shared",
            )


@contextmanager
def _named_rate(night: Run) -> Iterator[None]:
    """Say of a check that found no exchange rate which pair and day it is, and where to add it."""
    try:
        yield
    except CheckFailed as error:
        if error.model != MODEL or error.check != MISSING_RATE or night.config.currency is None:
            raise
        raise rate_missing(error, night.config.currency, night.rates, night.options.as_of) from error


def _renamed(warehouse: Warehouse, config: Config) -> list[tuple[str, str]]:
    """Return (old, new) names of sources whose loads have all gone over to the new name."""
    held = {row[0] for row in warehouse.rows("select distinct source from ops.load")}
    return [
        (source.was, source.name)
        for source in config.sources
        if source.was is not None and source.was not in held and source.name in held
    ]


def publish_step(night: Run, *, force: bool = False) -> None:
    """Replace the copy for people where anything is new; the warehouse must be closed."""
    config = night.config
    if not config.warehouse.path.exists():
        return
    night.options.say("publishing")
    with _kept_failures(night):
        with open_warehouse(night) as warehouse:
            if not is_current(warehouse):
                raise WarehouseError("the tables are not built from what is loaded", hint="run overrun build first")
            build_id = content_id(warehouse)
        keep = night.report.published.append
        keep(publish(config.warehouse.path, config.publish, build_id, night.state, force=force))
        for further in config.publications:
            keep(publish_excerpt(config.warehouse, config.publish, further.path, further.teams, build_id, night.state))
    for copy in night.report.published:
        if copy.writer_pid is not None:
            structlog.get_logger().warning("published_copy_open_for_writing", path=str(copy.path), pid=copy.writer_pid)


def alert_step(night: Run, *, is_concluding: bool = True) -> None:
    """Queue what teams have to be told, and send what is due."""
    config, options = night.config, night.options
    if is_concluding and config.warehouse.path.exists():
        with open_warehouse(night) as warehouse:
            night.report.queued = conclude(warehouse, night.state, config.alerts, options.as_of, options.now)
    night.report.delivered = deliver(night.state, config.alerts, options.environ, options.now)
    delivered = night.report.delivered
    for event, messages in (
        ("message_undelivered", delivered.undelivered),
        ("message_refused_by_some", delivered.partly),
    ):
        for message in messages:
            structlog.get_logger().warning(event, route=message.route, channel=message.channel, reason=message.reason)


def content_id(warehouse: Warehouse) -> str:
    """Return a hash of everything that the tables were built from: equal ids, equal published copies."""
    return str(
        warehouse.value(
            "select md5(string_agg(line, ',' order by line)) from ("
            " select concat_ws(' ', model, billing_month, fingerprint) as line from ops.fingerprint"
            " union all select concat_ws(' ', key, value) from ops.meta"
            " union all select concat_ws(' ', source, billing_month, load_id, sequence) from ops.load"
            " union all select concat_ws(' ', source, file, version) from ops.usage_load)"
        )
    )


def retired_sources(warehouse: Warehouse, config: Config) -> list[tuple[str, str | None, int]]:
    """Return the sources that hold charges though the configuration no longer names them."""
    named = {source.name for source in config.sources}
    rows = warehouse.rows(
        "select load.source, any_value(earlier.kind), coalesce(max(earlier.settle_days), 0) from ops.load as load"
        " left join settings.source as earlier on earlier.source = load.source where load.is_current"
        " group by 1 order by 1"
    )
    return [
        (str(row[0]), None if row[1] is None else str(row[1]), int(str(row[2]))) for row in rows if row[0] not in named
    ]


def _steps_in_warehouse(night: Run) -> bool:
    """Ingest and build; return whether the build stands, so that it can be published."""
    with _kept_failures(night), open_warehouse(night) as warehouse:
        ingest_step(night, warehouse)
        build_step(night, warehouse)
    return not night.report.failures


@contextmanager
def _kept_failures(night: Run) -> Iterator[None]:
    """Keep a failure of a step in the report, so that the night goes on to what it still can do."""
    try:
        yield
    except (WarehouseLocked, DirectoryUnwritable):
        raise
    except (WarehouseError, IngestError) as error:
        night.report.failures.append(error)


def _keep_record(state: StateStore, run_id: str, report: NightReport, exit_code: Exit) -> None:
    """Write what failed, and how the run ended; a disk that is full for this too is told once."""
    now = datetime.now(UTC)
    try:
        for error in [*report.problems, *report.unlisted]:
            state.record_problem(
                run_id,
                Problem(
                    source=getattr(error, "source", None),
                    billing_month=getattr(error, "billing_month", None),
                    code=type(error).__name__,
                    message=str(error),
                    hint=getattr(error, "hint", None),
                    at=now,
                ),
            )
        state.finish_run(run_id, int(exit_code), now=now)
    except DiskFull as error:
        if not any(isinstance(known, DiskFull) for known in report.failures):
            report.failures.append(error)
