"""`overrun status` for people and for programs. Pure but for the stream that it writes to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, TextIO

from overrun.exits import Exit
from overrun.status_currency import currency_json, currency_lines
from overrun.status_read import (
    CopyStatus,
    MonthStatus,
    Oddity,
    RunStatus,
    SourceStatus,
    Status,
    UnlistedNote,
)
from overrun.status_runs import run_source_lines, run_sources_json
from overrun.status_splits import split_json, split_lines
from overrun.terminal import UNKNOWN, print_table, size_text
from sql.text import shortened, visible

if TYPE_CHECKING:
    from alerts.outbox import OutboxMessage
    from sql.state import Problem

SCHEMA_VERSION = 1
"""Of the JSON that this command prints."""
ODDITIES_SHOWN = 5
PROBLEMS_SHOWN = 10
MESSAGES_SHOWN = 5
MONTHS_SHOWN = 3
PROJECTS_SHOWN = 10
RULES_SHOWN = 10
BROKEN_SHOWN = 3
_TEXT_LIMIT = 300


def print_status(status: Status, stream: TextIO) -> None:
    """Print the status, one block per question, to `stream`."""
    for line in _running(status):
        stream.write(f"{line}\n")
    if status.runs:
        stream.write("\nLast runs\n")
        print_table(("started (UTC)", "command", "as of", "ended"), [_run_row(run) for run in status.runs], stream)
    if status.sources:
        stream.write("\nSources\n")
        print_table(_SOURCE_COLUMNS, [_source_row(source) for source in status.sources], stream)
    elif not status.run_sources:
        stream.write("\nNo source is configured.\n")
    for line in (
        *run_source_lines(status.run_sources),
        *_settlement(status.sources),
        *_notes(status.sources),
        *_unmatched(status),
        *split_lines(status.splits),
        *currency_lines(status.currency),
        *_landed(status),
        *_unlisted(status.unlisted),
        *_failures(status.failed),
        *_messages(status),
        *_copies(status.copies),
    ):
        stream.write(f"{visible(line)}\n")


_SOURCE_COLUMNS = (
    "source",
    "months",
    "charges",
    "last loaded (UTC)",
    "last usage",
    "complete through",
    "behind",
    "state",
)


def _running(status: Status) -> Iterator[str]:
    """Say whether a run is under way, and whether any has been."""
    if status.running_pid is not None:
        process = f"process {status.running_pid}" if status.running_pid else "another process"
        yield f"A run is under way ({process}); what follows is what was published before it."
    elif not status.has_run:
        yield "No night has run yet: run overrun nightly."
    else:
        yield "No run is under way."


def _run_row(status: RunStatus) -> tuple[object, ...]:
    run = status.run
    return (_minute(run.started_at), run.command, run.as_of.isoformat(), _end(status))


def _end(status: RunStatus) -> str:
    """Say how a run ended."""
    run = status.run
    if status.is_under_way:
        return "under way"
    if run.finished_at is None or run.exit_code is None:
        return "killed before its end; the next run makes up for it"
    seconds = max(int((run.finished_at - run.started_at).total_seconds()), 0)
    known = {int(code): code.meaning for code in Exit}
    return f"{run.exit_code} {known.get(run.exit_code, 'unknown code')} ({seconds} s)"


def _source_row(source: SourceStatus) -> tuple[object, ...]:
    if not source.months:
        return (source.source, 0, 0, None, None, None, None, "no data yet")
    state = f"{source.state}, retired" if source.is_retired else source.state
    behind = None if source.days_behind is None else f"{source.days_behind} d"
    return (
        source.source,
        f"{source.months} ({_month(source.first_month)} to {_month(source.last_month)})",
        source.rows,
        None if source.last_loaded_at is None else _minute(source.last_loaded_at),
        source.last_usage_date,
        source.complete_through,
        behind,
        state,
    )


def _settlement(sources: Sequence[SourceStatus]) -> Iterator[str]:
    """Yield how settled the last months of each source are, and which were restated."""
    if any(source.settlement for source in sources):
        yield from ("", "Months")
    for source in sources:
        if source.settlement:
            yield f"  {source.source}: {', '.join(map(_month_status, source.settlement[:MONTHS_SHOWN]))}"
        restated = [month for month in source.settlement if month.status == "restated"]
        if restated:
            yield f"  {source.source}: restated after it was final: {', '.join(map(_restated, restated))}"
        if source.provisional_from is not None:
            yield f"  {source.source}: {_provisional(source.provisional_from, source.observed_lag_days)}"


def _month_status(month: MonthStatus) -> str:
    """Return `2026-10 estimated (1 of 2 entities invoiced)`."""
    is_partly = month.status == "estimated" and month.entities_invoiced
    share = f" ({month.entities_invoiced} of {month.invoicing_entities} entities invoiced)" if is_partly else ""
    # Each charge naming its invoice is the usual way, and not worth a word.
    is_otherwise = month.status == "final" and month.final_by not in {None, "invoice ids"}
    reason = f" ({month.final_by})" if is_otherwise else ""
    return f"{_month(month.billing_month)} {month.status}{share}{reason}"


def _provisional(day: date, lag_days: int | None) -> str:
    """Return `usage from 2026-11-19 on may still grow (exported within 2 days of the usage, as observed)`."""
    observed = "" if lag_days is None else f" (exported within {_counted(lag_days, 'day')} of the usage, as observed)"
    return f"usage from {day} on may still grow{observed}"


def _restated(month: MonthStatus) -> str:
    """Return `2026-08 (final on 2026-09-06)`."""
    final = f" (final on {month.was_final_at:%Y-%m-%d})" if month.was_final_at else ""
    return f"{_month(month.billing_month)}{final}"


def _landed(status: Status) -> Iterator[str]:
    """Yield how much has landed, and where."""
    if not status.landed:
        return
    yield from ("", f"Landed files in {status.landing}")
    for landed in status.landed:
        versions, months = _counted(landed.versions, "version"), _counted(landed.months, "month")
        yield f"  {landed.source}: {versions} of {months}, {size_text(landed.size)}"


def _notes(sources: Sequence[SourceStatus]) -> Iterator[str]:
    """Yield what is odd about the loads in force, per source."""
    for source in sources:
        lines = [*map(_oddity, source.oddities[:ODDITIES_SHOWN])]
        hidden = len(source.oddities) - ODDITIES_SHOWN
        if hidden > 0:
            lines.append(f"... {hidden} more: overrun status --json, or ops.load_count")
        if source.months_without_resource_ids:
            lines.append(
                f"no resource ids in {_counted(source.months_without_resource_ids, 'month')}: the export was made"
                " without them, so that costs by resource are missing"
            )
        if source.months_unproven:
            lines.append(
                f"effective cost is unproven in {_counted(source.months_unproven, 'month')}: see"
                " amortisation_gap_cost in marts.reconciliation"
            )
        if source.silent_projects:
            lines.append(_silent(source))
        if source.rules_broken:
            lines.append(_broken(source.rules_broken))
        if lines:
            yield from ("", f"In what is loaded of {source.source}")
            yield from (f"  {line}" for line in lines)


def _unmatched(status: Status) -> Iterator[str]:
    """Yield attribution rules that match nothing, with what was probably meant."""
    if status.unmatched:
        yield ""
        yield "Attribution rules that match nothing"
    for rule in status.unmatched[:RULES_SHOWN]:
        yield f"  rule {rule.rule_number}: {shortened(rule.rule, _TEXT_LIMIT)}"
        if rule.condition is None:
            yield "    its conditions never hold for the same charge"
        else:
            nearest = "" if rule.nearest is None else f'; nearest is "{shortened(rule.nearest, _TEXT_LIMIT)}"'
            yield f"    nothing meets {rule.condition}{nearest}"
    if len(status.unmatched) > RULES_SHOWN:
        yield f"  and {len(status.unmatched) - RULES_SHOWN} more"


def _broken(rules: Sequence[tuple[str, int]]) -> str:
    """Say which rules of FOCUS are broken most."""
    shown = ", ".join(f"{rule} {rows}" for rule, rows in rules[:BROKEN_SHOWN])
    more = f" and {len(rules) - BROKEN_SHOWN} more" if len(rules) > BROKEN_SHOWN else ""
    return f"{_counted(len(rules), 'rule')} of FOCUS broken, charges each: {shown}{more} (marts.conformance)"


def _silent(source: SourceStatus) -> str:
    """Say which enabled projects have no charges."""
    names, count = source.silent_projects, len(source.silent_projects)
    shown = ", ".join(shortened(name, 60) for name in names[:PROJECTS_SHOWN])
    more = f" and {count - PROJECTS_SHOWN} more" if count > PROJECTS_SHOWN else ""
    has = "has" if count == 1 else "have"
    return (
        f"{_counted(count, 'project')} with billing enabled {has} no charges in {_month(source.last_month)}:"
        f" {shown}{more}"
    )


def _unlisted(unlisted: Sequence[UnlistedNote]) -> Iterator[str]:
    """Yield what was not listed, and why."""
    for item in unlisted:
        what, stays = _UNLISTED[item.kind]
        of = f" of {item.source}" if item.source else ""
        yield ""
        yield f"{what}{of} not listed in {_counted(item.runs, 'run')}: {stays} those that were listed last"
        yield f"  warning: {shortened(item.message, _TEXT_LIMIT)}"
        if item.hint:
            yield f"  hint: {shortened(item.hint, _TEXT_LIMIT)}"


_UNLISTED = {
    "AccountsUnlisted": ("Accounts", "names and tags are"),
    "ProjectsUnlisted": ("Projects", "names are"),
    "PricesUnlisted": ("Prices", "prices are"),
}
"""What each kind of note is about, and what stands."""


def _oddity(oddity: Oddity) -> str:
    subject = f", {shortened(oddity.subject, 60)}" if oddity.subject else ""
    return f"{oddity.rows} rows {oddity.effect}: {oddity.rule}{subject} ({_counted(oddity.months, 'month')})"


def _failures(failed: Sequence[RunStatus]) -> Iterator[str]:
    """Yield what failed and why, unless a later night has made up for it."""
    for status in failed:
        yield from ("", f"Failed in {status.run.command} of {_minute(status.run.started_at)}")
        for problem in status.problems[:PROBLEMS_SHOWN]:
            yield from _problem(problem)
        if len(status.problems) > PROBLEMS_SHOWN:
            yield f"  ... {len(status.problems) - PROBLEMS_SHOWN} more: overrun status --json"


def _problem(problem: Problem) -> Iterator[str]:
    yield f"  error: {shortened(problem.message, _TEXT_LIMIT)}"
    if problem.hint:
        yield f"  hint: {shortened(problem.hint, _TEXT_LIMIT)}"


def _messages(status: Status) -> Iterator[str]:
    """Yield what is in the outbox and not delivered, or not to all."""
    for title, messages in (
        ("Messages that wait", status.waiting),
        ("Messages given up", status.dead),
        ("Messages that some recipients did not get", status.partly),
    ):
        if not messages:
            continue
        yield from ("", f"{title}: {len(messages)}")
        yield from (_message(message) for message in messages[-MESSAGES_SHOWN:])
        if len(messages) > MESSAGES_SHOWN:
            yield f"  ... {len(messages) - MESSAGES_SHOWN} more: overrun status --json"
    if status.kept:
        yield from ("", f"Messages without a channel, shown when they were made and kept: {status.kept}")


def _message(message: OutboxMessage) -> str:
    from alerts.render import subject

    tries = _counted(message.attempts, "try", "tries")
    reason = shortened(message.last_error or "not tried yet", _TEXT_LIMIT)
    later = f", again after {_minute(message.not_before)}" if message.not_before and message.status == "pending" else ""
    return f"  {message.channel}: {subject(message.message)} ({tries}{later}; {reason})"


def _copies(copies: Sequence[CopyStatus]) -> Iterator[str]:
    """Yield when each published copy was replaced."""
    if copies:
        yield from ("", "Copies for people")
    for copy in copies:
        if copy.replaced_at is None:
            yield f"  {copy.path}: not published yet"
            continue
        touched = "; it has been changed or removed since, the next night replaces it" if copy.is_touched else ""
        yield f"  {copy.path}: replaced {_minute(copy.replaced_at)} UTC{touched}"


def status_as_json(status: Status) -> dict[str, object]:
    """Return the status as JSON values; instants in UTC."""
    return {
        "schema_version": SCHEMA_VERSION,
        "as_of": status.as_of.isoformat(),
        "has_run": status.has_run,
        "running_pid": status.running_pid,
        "runs": [_run_json(run) for run in status.runs],
        "failed": [_run_json(run) for run in status.failed],
        "sources": [_source_json(source) for source in status.sources],
        "run_sources": run_sources_json(status.run_sources),
        "unlisted_accounts": _unlisted_json(status, "AccountsUnlisted"),
        "unlisted_projects": _unlisted_json(status, "ProjectsUnlisted"),
        "unlisted_prices": _unlisted_json(status, "PricesUnlisted"),
        "waiting": [_message_json(message) for message in status.waiting],
        "dead": [_message_json(message) for message in status.dead],
        "partly": [_message_json(message) for message in status.partly],
        "kept": status.kept,
        "landed": {
            "path": None if status.landing is None else str(status.landing),
            "versions": sum(landed.versions for landed in status.landed),
            "bytes": sum(landed.size for landed in status.landed),
            "sources": [
                {
                    "source": landed.source,
                    "months": landed.months,
                    "versions": landed.versions,
                    "bytes": landed.size,
                }
                for landed in status.landed
            ],
        },
        "unmatched_rules": [
            {
                "rule_number": rule.rule_number,
                "rule": rule.rule,
                "condition": rule.condition,
                "nearest": rule.nearest,
            }
            for rule in status.unmatched
        ],
        "splits": split_json(status.splits),
        "currency": currency_json(status.currency),
        "copies": [
            {"path": str(copy.path), "replaced_at": _instant(copy.replaced_at), "is_touched": copy.is_touched}
            for copy in status.copies
        ],
    }


def _unlisted_json(status: Status, kind: str) -> list[dict[str, object]]:
    return [
        {"source": item.source, "runs": item.runs, "message": item.message, "hint": item.hint}
        for item in status.unlisted
        if item.kind == kind
    ]


def _run_json(status: RunStatus) -> dict[str, object]:
    run = status.run
    return {
        "command": run.command,
        "as_of": run.as_of.isoformat(),
        "started_at": _instant(run.started_at),
        "finished_at": _instant(run.finished_at),
        "exit_code": run.exit_code,
        "is_under_way": status.is_under_way,
        "is_killed": status.is_killed,
        "problems": [
            {
                "source": problem.source,
                "billing_month": _month(problem.billing_month) if problem.billing_month else None,
                "kind": problem.code,
                "message": problem.message,
                "hint": problem.hint,
            }
            for problem in status.problems
        ],
    }


def _source_json(source: SourceStatus) -> dict[str, object]:
    return {
        "source": source.source,
        "kind": source.kind,
        "is_retired": source.is_retired,
        "state": source.state,
        "months": source.months,
        "first_month": _month(source.first_month) if source.first_month else None,
        "last_month": _month(source.last_month) if source.last_month else None,
        "rows": source.rows,
        "last_loaded_at": _instant(source.last_loaded_at),
        "last_usage_date": _day(source.last_usage_date),
        "complete_through": _day(source.complete_through),
        "provisional_from": _day(source.provisional_from),
        "observed_lag_days": source.observed_lag_days,
        "days_behind": source.days_behind,
        "months_without_resource_ids": source.months_without_resource_ids,
        "months_unproven": source.months_unproven,
        "projects_without_charges": list(source.silent_projects),
        "rules_broken": [{"rule": rule, "rows": rows} for rule, rows in source.rules_broken],
        "month_status": [_month_json(month) for month in source.settlement],
        "odd_input": [
            {"rule": odd.rule, "effect": odd.effect, "subject": odd.subject, "rows": odd.rows, "months": odd.months}
            for odd in source.oddities
        ],
    }


def _month_json(month: MonthStatus) -> dict[str, object]:
    return {
        "billing_month": _month(month.billing_month),
        "status": month.status,
        "invoicing_entities": month.invoicing_entities,
        "entities_invoiced": month.entities_invoiced,
        "was_final_at": _instant(month.was_final_at),
        "final_by": month.final_by,
    }


def _message_json(message: OutboxMessage) -> dict[str, object]:
    from alerts.render import subject

    return {
        "route": message.route,
        "channel": message.channel,
        "kind": message.kind,
        "subject": subject(message.message),
        "status": message.status,
        "attempts": message.attempts,
        "not_before": _instant(message.not_before),
        "last_error": message.last_error,
        "created_at": _instant(message.created_at),
    }


def _minute(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M}"


def _instant(instant: datetime | None) -> str | None:
    return None if instant is None else f"{instant:%Y-%m-%dT%H:%M:%SZ}"


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _month(month: date | None) -> str:
    return UNKNOWN if month is None else f"{month:%Y-%m}"


def _counted(count: int, noun: str, plural: str | None = None) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"
