"""What the commands that run steps share: their options, progress for people who watch, and the report at the end."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import click

from overrun.exits import code_of
from overrun.options import Invocation
from sql.text import visible

if TYPE_CHECKING:
    from overrun.night import NightOptions, NightReport

SCHEMA_VERSION = 1
"""Of the JSON that these commands print."""


def now() -> datetime:
    """Return the present instant [UTC]; it is written into ledgers and messages, and decides nothing."""
    return datetime.now(UTC)


def run_options(
    invocation: Invocation,
    environ: Mapping[str, str],
    started: datetime,
    *,
    accept_shrink: bool = False,
    months: frozenset[date] | None = None,
) -> NightOptions:
    """Return the options of a run."""
    from overrun.night import NightOptions

    return NightOptions(
        as_of=invocation.as_of,
        now=started,
        environ=environ,
        accept_shrink=accept_shrink,
        months=months,
        say=progress(invocation),
    )


def progress(invocation: Invocation) -> _Progress:
    """Return what tells each step to people who watch, and nothing under cron."""
    return _Progress(is_on=invocation.verbosity >= 0 and sys.stderr.isatty() and not invocation.as_json)


class _Progress:
    """Writes one line per step to stderr."""

    def __init__(self, *, is_on: bool) -> None:
        self._is_on = is_on

    def __call__(self, step: str) -> None:
        """Tell one step."""
        if self._is_on:
            click.echo(f"  {visible(step)}", err=True)


def print_report(report: NightReport, invocation: Invocation) -> None:
    """Print what a run came to: problems on stderr always, the rest on a terminal, with -v, or as JSON."""
    if invocation.as_json:
        click.echo(json.dumps(_as_json(report)))
        return
    for error in report.problems:
        click.echo(f"error: {visible(str(error))}", err=True)
        hint = getattr(error, "hint", None)
        if hint:
            click.echo(f"\nhint: {visible(hint)}\n", err=True)
    for text in _kept_texts(report):
        click.echo(text)
    if invocation.verbosity > 0 or (invocation.verbosity == 0 and sys.stdout.isatty()):
        for line in _summary(report):
            click.echo(visible(line))


def _kept_texts(report: NightReport) -> list[str]:
    """Return the messages that no channel takes; they are kept, and this is where they are read."""
    from alerts.render import plain_text

    return [plain_text(queued.message, is_resent=False) for queued in report.queued if not queued.channel]


def _summary(report: NightReport) -> list[str]:
    """Return one line per step that was taken."""
    lines: list[str] = []
    if report.ingested is not None:
        lines.append(
            f"ingest: {len(report.ingested.loaded)} months loaded, {len(report.ingested.unchanged)} unchanged,"
            f" {len(report.ingested.problems)} problems"
        )
        lines += [f"  {source}: no data yet" for source in report.ingested.without_data]
        for source, names in report.ingested.passed_over.items():
            lines.append(f"  {source}: {len(names)} files passed over ({', '.join(names[:3])})")
        lines += [f"  {source}: note: {note}" for source, notes in report.ingested.notes.items() for note in notes]
    if report.usage is not None and (report.usage.loaded or report.usage.unchanged or report.usage.problems):
        changed = sum(file.rows_changed for file in report.usage.loaded)
        lines.append(
            f"runs: {len(report.usage.loaded)} files loaded, {report.usage.unchanged} unchanged,"
            f" {changed} rows changed, {len(report.usage.problems)} problems"
        )
    if report.built is not None:
        lines.append(f"build: {len(report.built.built)} tables built" if report.built.changed else "build: nothing new")
    for published in report.published:
        lines.append(f"publish: {published.path} {'replaced' if published.is_new else 'is current'}")
    if report.delivered is not None:
        sent, pending = report.delivered.sent, report.delivered.pending
        lines.append(f"alert: {len(report.queued)} messages queued, {sent} sent, {pending} waiting")
    return lines


def _as_json(report: NightReport) -> dict[str, object]:
    """Return the report as JSON values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "exit_code": int(report.exit_code),
        "loaded": [
            {
                "source": load.delivery.source,
                "billing_month": f"{load.delivery.billing_month:%Y-%m}",
                "rows_read": load.rows_read,
                "rows_loaded": load.rows_loaded,
            }
            for load in (report.ingested.loaded if report.ingested else [])
        ],
        "runs_loaded": [
            {"source": file.source, "file": file.file, "rows_read": file.rows_read, "rows_changed": file.rows_changed}
            for file in (report.usage.loaded if report.usage else [])
        ],
        "unchanged": len(report.ingested.unchanged) if report.ingested else 0,
        "notes": {source: notes for source, notes in report.ingested.notes.items() if notes} if report.ingested else {},
        "built": len(report.built.built) if report.built else 0,
        "published": [{"path": str(item.path), "is_new": item.is_new} for item in report.published],
        "queued": len(report.queued),
        "kept_messages": _kept_texts(report),
        "sent": report.delivered.sent if report.delivered else 0,
        "pending": report.delivered.pending if report.delivered else 0,
        "problems": [
            {
                "code": int(code_of(error) or 70),
                "source": getattr(error, "source", None),
                "billing_month": _month_text(error),
                "message": str(error),
                "hint": getattr(error, "hint", None),
            }
            for error in report.problems
        ],
    }


def _month_text(error: Exception) -> str | None:
    """Return the month that an error is about, YYYY-MM."""
    month = getattr(error, "billing_month", None)
    return f"{month:%Y-%m}" if month is not None else None
