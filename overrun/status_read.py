"""What `overrun status` knows, read from the published copy and the state store: never from the warehouse.

So it works during a night and says what that night has not published yet. Nothing is judged here but how far a source
is behind, which grows with the day on which somebody asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.errors import AccountsUnlisted, PricesUnlisted, ProjectsUnlisted
from ingest.landing import LandedSource, count_landed
from overrun.attribution_unmatched import UnmatchedRule, unmatched_rules
from overrun.published import has_column, has_relation, open_copy
from overrun.status_currency import CurrencyStatus, read_currency
from overrun.status_runs import RunSourceStatus, read_run_sources
from overrun.status_splits import SplitStatus, read_splits
from sql.errors import DirectoryUnwritable
from sql.lock import holder
from sql.state import Problem, Run, StateStore

if TYPE_CHECKING:
    from alerts.outbox import OutboxMessage
    from overrun.config import Config
    from sql.warehouse import Warehouse

RUNS_SHOWN = 5
_RUNS_LOOKED_AT = 200
_LATE_DAYS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """One run and how it ended; its problems where nothing later has made up for them."""

    run: Run
    is_under_way: bool
    problems: tuple[Problem, ...] = ()

    @property
    def is_killed(self) -> bool:
        """Whether it never came to its end."""
        return self.run.finished_at is None and not self.is_under_way


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """Input of one source that was loaded all the same, or rows dropped or added, summed over its months."""

    rule: str
    effect: str
    subject: str
    rows: int
    months: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthStatus:
    """How settled one month of a source is: a row of `marts.month_status`."""

    billing_month: date
    status: str
    invoicing_entities: int
    entities_invoiced: int
    was_final_at: datetime | None
    final_by: str | None = None
    """invoice ids, entered invoice or quiet days; None where nothing makes it final."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """What is loaded of one source; `kind` None where the configuration no longer names it."""

    source: str
    kind: str | None
    months: int = 0
    first_month: date | None = None
    last_month: date | None = None
    rows: int = 0
    last_loaded_at: datetime | None = None
    last_usage_date: date | None = None
    complete_through: date | None = None
    provisional_from: date | None = None
    """First day that may still grow."""
    observed_lag_days: int | None = None
    """Days from usage to its export, on 95 % of the days of the latest loaded month."""
    days_behind: int | None = None
    state: str = "no data"
    is_retired: bool = False
    months_without_resource_ids: int = 0
    months_unproven: int = 0
    oddities: tuple[Oddity, ...] = ()
    settlement: tuple[MonthStatus, ...] = ()
    """The newest month first; nothing before the first build."""
    silent_projects: tuple[str, ...] = ()
    """Projects with billing enabled that have no charges in the last loaded month."""
    rules_broken: tuple[tuple[str, int], ...] = ()
    """Rules of FOCUS that charges break, and how many do over all months; the most frequent first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlistedNote:
    """What has not been listed in the last `runs` runs that asked; why, in the last."""

    kind: str
    """Name of the error: AccountsUnlisted, ProjectsUnlisted or PricesUnlisted."""
    source: str | None
    """None for prices, which belong to no source."""
    runs: int
    message: str
    hint: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyStatus:
    """One published copy; `is_touched` where it is not as a publish left it."""

    path: Path
    replaced_at: datetime | None
    is_touched: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """All of it."""

    as_of: date
    has_run: bool
    running_pid: int | None
    runs: tuple[RunStatus, ...] = ()
    failed: tuple[RunStatus, ...] = ()
    """Runs whose problems are not made up for by a later one."""
    sources: tuple[SourceStatus, ...] = ()
    unlisted: tuple[UnlistedNote, ...] = ()
    copies: tuple[CopyStatus, ...] = ()
    waiting: tuple[OutboxMessage, ...] = ()
    dead: tuple[OutboxMessage, ...] = ()
    partly: tuple[OutboxMessage, ...] = ()
    """Sent, but refused for some recipients, by a channel that has sent nothing to all of them since."""
    kept: int = 0
    landing: Path | None = None
    landed: tuple[LandedSource, ...] = ()
    unmatched: tuple[UnmatchedRule, ...] = ()
    """Attribution rules that match nothing that is loaded."""
    splits: SplitStatus | None = None
    currency: CurrencyStatus | None = None
    run_sources: tuple[RunSourceStatus, ...] = ()


@dataclass(slots=True)
class _FromState:
    """What the state store says."""

    runs: list[Run] = field(default_factory=list)
    problems: dict[str, tuple[Problem, ...]] = field(default_factory=dict)
    unlisted: tuple[UnlistedNote, ...] = ()
    copies: tuple[CopyStatus, ...] = ()
    outbox: list[OutboxMessage] = field(default_factory=list)
    partly: list[OutboxMessage] = field(default_factory=list)


def read_status(config: Config, as_of: date) -> Status:
    """Return where things stand; raises StateError, WarehouseLocked or CommandFailed."""
    pid = holder(config.lock)
    try:
        known = _read_state(config) if config.state.is_file() else _FromState()
    except DirectoryUnwritable as error:
        error.hint = (
            "run it as the user of the night: SQLite reads a store in WAL mode only where it may write beside it"
        )
        raise
    runs = _with_ends(known.runs, is_running=pid is not None)
    channels = {channel.id for channel in config.alerts.channels}
    sources = _configured_only(config)
    run_sources = read_run_sources(config, None)
    unmatched: tuple[UnmatchedRule, ...] = ()
    splits: SplitStatus | None = None
    currency: CurrencyStatus | None = None
    if config.publish.is_file():
        with open_copy(config.publish) as warehouse:
            sources = _read_sources(warehouse, config, as_of)
            unmatched = unmatched_rules(warehouse)
            splits = read_splits(warehouse)
            currency = read_currency(warehouse)
            run_sources = read_run_sources(config, warehouse)
    return Status(
        as_of=as_of,
        has_run=bool(known.runs),
        running_pid=pid,
        runs=tuple(runs[:RUNS_SHOWN]),
        failed=_still_failed(runs, known.problems),
        sources=tuple(sources),
        unlisted=known.unlisted,
        copies=known.copies,
        waiting=tuple(message for message in known.outbox if message.status in {"pending", "sending"}),
        dead=tuple(message for message in known.outbox if message.status == "dead"),
        partly=tuple(message for message in known.partly if message.channel in channels),
        kept=sum(message.status == "kept" for message in known.outbox),
        landing=config.landing,
        landed=tuple(count_landed(config.landing)),
        unmatched=unmatched,
        splits=splits,
        currency=currency,
        run_sources=tuple(run_sources),
    )


def _read_state(config: Config) -> _FromState:
    from alerts.outbox import read_outbox, read_partly_sent

    with StateStore.open_read_only(config.state) as state:
        runs = state.last_runs(_RUNS_LOOKED_AT)
        return _FromState(
            runs=runs,
            problems={run.run_id: _failures(state, run.run_id) for run in _last_of_each_command(runs)},
            unlisted=_unlisted(state, runs),
            copies=tuple(
                _copy(state, path)
                for path in (config.publish, *(publication.path for publication in config.publications))
            ),
            outbox=read_outbox(state, "pending", "sending", "dead", "kept"),
            partly=read_partly_sent(state),
        )


_NOTES = (AccountsUnlisted.__name__, ProjectsUnlisted.__name__, PricesUnlisted.__name__)
"""Codes of what is noted, and no failure."""


def _failures(state: StateStore, run_id: str) -> tuple[Problem, ...]:
    """Return the problems of a run that are failures: what was not listed is none."""
    return tuple(problem for problem in state.problems(run_id) if problem.code not in _NOTES)


def _unlisted(state: StateStore, runs: Sequence[Run]) -> tuple[UnlistedNote, ...]:
    """Return what the last run that asked could not list, and in how many in a row."""
    asking = [run.run_id for run in runs if run.command in {"nightly", "ingest"} and run.finished_at is not None]
    noted: dict[str, dict[tuple[str, str | None], tuple[str, str | None]]] = {}
    for run_id, kind, source, message, hint in state.rows(
        f"select run_id, code, source, message, hint from problem where code in ({', '.join('?' * len(_NOTES))})",
        _NOTES,
    ):
        noted.setdefault(run_id, {})[kind, source] = (message, hint)
    latest = noted.get(asking[0], {}) if asking else {}
    return tuple(
        UnlistedNote(
            kind=kind,
            source=source,
            runs=_in_a_row([(kind, source) in noted.get(run_id, {}) for run_id in asking]),
            message=message,
            hint=hint,
        )
        for (kind, source), (message, hint) in latest.items()
    )


def _in_a_row(outcomes: Sequence[bool]) -> int:
    """Return how many of the first outcomes are true."""
    return next((index for index, outcome in enumerate(outcomes) if not outcome), len(outcomes))


def _with_ends(runs: Sequence[Run], *, is_running: bool) -> list[RunStatus]:
    """Tell the run under way, the newest without an end while the lock is held, from those that were killed."""
    open_ids = [run.run_id for run in runs if run.finished_at is None]
    under_way = open_ids[0] if is_running and open_ids and open_ids[0] == runs[0].run_id else None
    return [RunStatus(run=run, is_under_way=run.run_id == under_way) for run in runs]


def _last_of_each_command(runs: Sequence[Run]) -> list[Run]:
    """Return the latest ended run of each command, newest first."""
    last: dict[str, Run] = {}
    for run in runs:
        if run.finished_at is not None:
            last.setdefault(run.command, run)
    return list(last.values())


def _still_failed(runs: Sequence[RunStatus], problems: dict[str, tuple[Problem, ...]]) -> tuple[RunStatus, ...]:
    """Return the runs with problems that no later night, which takes every step, has made up for."""
    failed = []
    for status in runs:
        found = problems.get(status.run.run_id, ())
        if found:
            failed.append(RunStatus(run=status.run, is_under_way=False, problems=found))
        if status.run.command == "nightly" and status.run.finished_at is not None:
            break
    return tuple(failed)


def _copy(state: StateStore, path: Path) -> CopyStatus:
    """Return how a published copy stands against what the last publish left."""
    left = state.published(path)
    if left is None:
        return CopyStatus(path=path, replaced_at=None, is_touched=path.exists())
    replaced_at = datetime.fromtimestamp(left.modified_ns // 1_000_000_000, UTC)
    try:
        stat = path.stat()
    except OSError:
        return CopyStatus(path=path, replaced_at=replaced_at, is_touched=True)
    is_same = (stat.st_size, stat.st_mtime_ns, stat.st_ino) == (left.size, left.modified_ns, left.inode)
    return CopyStatus(path=path, replaced_at=replaced_at, is_touched=not is_same)


def _configured_only(config: Config) -> list[SourceStatus]:
    """Return the configured sources before anything is published."""
    return [SourceStatus(source=source.name, kind=source.kind) for source in config.sources]


def _read_sources(warehouse: Warehouse, config: Config, as_of: date) -> list[SourceStatus]:
    """Return the configured sources in the order of the file, then those that are retired."""
    oddities = _oddities(warehouse)
    freshness = _freshness(warehouse)
    configured = {source.name: source.kind for source in config.sources}
    loaded = {
        str(row[0]): row
        for row in warehouse.rows(
            "select source, count(*), min(billing_month), max(billing_month), sum(rows_loaded)::bigint, max(loaded_at),"
            " count(*) filter (not has_resource_ids), count(*) filter (effective_cost_state = 'unproven')"
            " from ops.load where is_current group by source order by source"
        )
    }
    names = [*configured, *(name for name in loaded if name not in configured)]
    sources = [
        _source(name, configured.get(name), loaded[name], freshness.get(name), oddities.get(name, ()), as_of)
        if name in loaded
        else SourceStatus(source=name, kind=configured[name])
        for name in names
    ]
    settlement, silent, broken = _settlement(warehouse), _silent_projects(warehouse), _rules_broken(warehouse)
    return [
        replace(
            source,
            settlement=settlement.get(source.source, ()),
            silent_projects=silent.get(source.source, ()),
            rules_broken=broken.get(source.source, ()),
        )
        for source in sources
    ]


def _source(
    name: str,
    kind: str | None,
    load: Sequence[object],
    freshness: Sequence[object] | None,
    oddities: tuple[Oddity, ...],
    as_of: date,
) -> SourceStatus:
    """Put together what ledger and `marts.data_freshness` say about one source."""
    usage, complete, behind, judged_on, provisional, lag = freshness if freshness is not None else (None,) * 6
    days_behind = _number(behind) if behind is not None else None
    if days_behind is not None and isinstance(judged_on, date):
        days_behind += max((as_of - judged_on) // timedelta(days=1), 0)
    is_late = days_behind is not None and days_behind > _LATE_DAYS
    return SourceStatus(
        source=name,
        kind=kind,
        months=_number(load[1]),
        first_month=_date(load[2]),
        last_month=_date(load[3]),
        rows=_number(load[4]),
        last_loaded_at=load[5].replace(tzinfo=UTC) if isinstance(load[5], datetime) else None,
        last_usage_date=_date(usage),
        complete_through=_date(complete),
        provisional_from=_date(provisional),
        observed_lag_days=None if lag is None else _number(lag),
        days_behind=days_behind,
        state="no usage" if days_behind is None else "late" if is_late else "fresh",
        is_retired=kind is None,
        months_without_resource_ids=_number(load[6]),
        months_unproven=_number(load[7]),
        oddities=oddities,
    )


def _freshness(warehouse: Warehouse) -> dict[str, tuple[object, ...]]:
    """Return last usage, complete through, days behind, judged on, provisional from and observed lag of each source.

    Nothing before the first build, or where an earlier version made the copy.
    """
    if not has_column(warehouse, "marts.data_freshness", "provisional_from"):
        return {}
    rows = warehouse.rows(
        "select source, last_usage_date, complete_through, days_behind, as_of, provisional_from, observed_lag_days"
        " from marts.data_freshness"
    )
    return {str(row[0]): tuple(row[1:]) for row in rows}


def _silent_projects(warehouse: Warehouse) -> dict[str, tuple[str, ...]]:
    """Return the enabled projects of each source without a charge in its last loaded month; none before a build."""
    if not (has_relation(warehouse, "ops.project") and has_relation(warehouse, "core.attribution")):
        return {}
    rows = warehouse.rows(
        "with last as (select source, max(billing_month) as billing_month from ops.load where is_current group by 1)"
        " select source, list(distinct sub_account_id order by sub_account_id) from ops.project as listed"
        " inner join last using (source)"
        " where is_enabled and not exists (select 1 from core.attribution as charged where charged.source = last.source"
        " and charged.billing_month = last.billing_month and charged.sub_account_id = listed.sub_account_id)"
        " group by source"
    )
    return {str(source): tuple(map(str, names)) for source, names in rows if isinstance(names, list)}


def _rules_broken(warehouse: Warehouse) -> dict[str, tuple[tuple[str, int], ...]]:
    """Return the rules of FOCUS that each source breaks; none before a build, or where an earlier version made it."""
    if not has_relation(warehouse, "marts.conformance"):
        return {}
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for source, rule, rows in warehouse.rows(
        "select source, rule, sum(violating_rows)::bigint as broken from marts.conformance group by all"
        " order by source, broken desc, rule"
    ):
        found[str(source)] = (*found.get(str(source), ()), (str(rule), _number(rows)))
    return found


def _settlement(warehouse: Warehouse) -> dict[str, tuple[MonthStatus, ...]]:
    """Return how settled the months of each source are, newest first; nothing before the first build."""
    if not has_column(warehouse, "marts.month_status", "final_by"):
        return {}
    rows = warehouse.rows(
        "select source, billing_month, status, invoicing_entities, entities_invoiced, was_final_at, final_by"
        " from marts.month_status order by source, billing_month desc"
    )
    found: dict[str, list[MonthStatus]] = {}
    for source, month, status, entities, invoiced, was_final_at, final_by in rows:
        if isinstance(month, date):
            found.setdefault(str(source), []).append(
                MonthStatus(
                    billing_month=month,
                    status=str(status),
                    invoicing_entities=_number(entities),
                    entities_invoiced=_number(invoiced),
                    was_final_at=was_final_at.replace(tzinfo=UTC) if isinstance(was_final_at, datetime) else None,
                    final_by=None if final_by is None else str(final_by),
                )
            )
    return {source: tuple(months) for source, months in found.items()}


def _oddities(warehouse: Warehouse) -> dict[str, tuple[Oddity, ...]]:
    """Return what is counted in the loads in force, rows dropped and added first, then the most frequent."""
    rows = warehouse.rows(
        "select load.source, counts.rule, counts.effect, counts.subject, sum(counts.rows)::bigint as counted,"
        " count(distinct load.billing_month) from ops.load_count as counts inner join ops.load as load using (load_id)"
        " where load.is_current and counts.rows > 0 group by all"
        " order by load.source, any_value(counts.effect = 'noted'), counted desc, counts.rule, counts.subject"
    )
    found: dict[str, tuple[Oddity, ...]] = {}
    for source, rule, effect, subject, counted, months in rows:
        oddity = Oddity(
            rule=str(rule),
            effect=str(effect),
            subject=str(subject or ""),
            rows=_number(counted),
            months=_number(months),
        )
        found[str(source)] = (*found.get(str(source), ()), oddity)
    return found


def _number(value: object) -> int:
    return int(str(value))


def _date(value: object) -> date | None:
    return value if isinstance(value, date) else None
