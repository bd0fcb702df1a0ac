"""The demo: sample exports, two nights on them, and what people get to see.

The folder is marked as ours. Only what a demo made is ever removed from it, and a folder without the mark that holds
anything is left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING

from overrun.config import Config, load_config
from overrun.demo.configuration import EXPORTS, write_configuration
from overrun.demo.exports import write_exports
from overrun.exits import CommandFailed, Exit
from overrun.night import NightOptions, NightReport, run_night
from overrun.published import open_copy
from sql.files import make_directory, remove, remove_tree, write_text
from sql.lock import holder

if TYPE_CHECKING:
    from alerts.message import Message

MARKER = ".overrun-demo"
NIGHTS = (date(2026, 11, 19), date(2026, 11, 20))
"""Mornings on which the providers delivered, each with its night."""
_AT = time(3, 0, tzinfo=UTC)
"""When a night runs: what a month was when it was loaded follows from this, so the demo is the same on any day."""

QUERIES: tuple[tuple[str, str], ...] = (
    (
        "what each team cost by month",
        "select billing_month, team, sum(effective_cost)::decimal(18,2) as effective_cost, billing_currency"
        " from marts.monthly_cost group by all order by billing_month, effective_cost desc",
    ),
    (
        "the dearest resources of November",
        "select project, service_name, resource_id, sum(effective_cost)::decimal(18,2) as effective_cost"
        " from marts.resource_daily_cost where billing_month = '2026-11-01' and resource_id is not null"
        " group by all order by effective_cost desc limit 10",
    ),
    (
        "the proof that the tables tie to what was delivered",
        "select source, billing_month, delivered_cost, mart_cost, ties from marts.reconciliation order by all",
    ),
)
"""What each query to try is about, and the query."""

_PROJECTS = """
    select
        project,
        team,
        cast(sum(effective_cost) as decimal(18, 2)) as effective_cost,
        cast(sum(billed_cost) as decimal(18, 2)) as billed_cost,
        billing_currency
    from marts.project_daily_cost
    where billing_month = '2026-11-01'
    group by project, team, billing_currency
    order by effective_cost desc
    limit 8
"""
_BUDGETS = """
    select
        budget_id,
        state,
        cast(spent_amount as decimal(18, 2)) as spent_amount,
        cast(limit_amount as decimal(18, 2)) as limit_amount,
        spent_percent,
        billing_currency
    from marts.budget_status
    order by spent_percent desc
"""
_MADE = ("finance.duckdb", "finance.duckdb.wal", "warehouse.duckdb", "warehouse.duckdb.wal", "state.sqlite")
_MADE_FOLDERS = ("exports", "landing", "warehouse.duckdb.tmp")

Say = Callable[[str], None]
Rows = list[tuple[object, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResult:
    """What there is to see after both nights."""

    config: Config
    reports: tuple[NightReport, ...]
    projects: Rows
    """(project, team, effective_cost, billed_cost, billing_currency) of November, dearest first."""
    budgets: Rows
    """(budget_id, state, spent_amount, limit_amount, spent_percent, billing_currency), most spent first."""

    def messages(self, night: int) -> list[Message]:
        """Return the messages that a night queued."""
        return [queued.message for queued in self.reports[night].queued]


def run_demo(folder: Path, say: Say) -> DemoResult:
    """Make the demo anew in `folder` and run both nights; raises CommandFailed where the folder is not ours."""
    clear(folder)
    make_directory(folder)
    write_text(folder / MARKER, "Made by overrun demo, which replaces what it made here.\n")
    file = folder / "overrun.toml"
    write_configuration(file)
    config = load_config(file, {})
    reports = []
    for as_of in NIGHTS:
        say(f"writing what both providers delivered by {as_of}")
        write_exports(folder / EXPORTS, as_of)
        say(f"the night of {as_of}")
        reports.append(
            run_night(config, NightOptions(as_of=as_of, now=datetime.combine(as_of, _AT), environ={}, say=say))
        )
    with open_copy(config.publish) as warehouse:
        projects, budgets = warehouse.rows(_PROJECTS), warehouse.rows(_BUDGETS)
    return DemoResult(config=config, reports=tuple(reports), projects=projects, budgets=budgets)


def clear(folder: Path) -> None:
    """Remove what an earlier demo made in `folder`; anything else that lies there stays.

    Raises CommandFailed where the folder holds something and no demo made it, or where a night runs in it.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise CommandFailed(f"{folder} is not a folder", code=Exit.USAGE, hint="name another with --directory")
    if not (folder / MARKER).is_file():
        if any(folder.iterdir()):
            raise CommandFailed(
                f"{folder} holds files that no demo made",
                code=Exit.USAGE,
                hint="name a new folder with --directory; nothing was touched",
            )
        return
    pid = holder(folder / "warehouse.duckdb.lock")
    if pid is not None:
        raise CommandFailed(
            f"a night runs in {folder} (process {pid})", code=Exit.LOCKED, hint="wait until it has ended"
        )
    for name in _MADE_FOLDERS:
        remove_tree(folder / name)
    for name in (*_MADE, "state.sqlite-wal", "state.sqlite-shm", "overrun.toml"):
        remove(folder / name)
