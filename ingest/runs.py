"""Exports that write each run beside the earlier ones: only the newest complete run counts, since runs repeat rows.

A run is a folder whose name is an instant to the minute (`20261103T0512Z`, `2026-11-03_05-12-00`), one named `run=...`,
or one below a period's folder (`20261001-20261031`, as Azure has it). Runs of one parent, a month's or table's folder,
repeat each other. A folder that is named by a day alone is no run: such exports add up.

A run is complete where a mark stands in its folder: `_SUCCESS`, or a manifest. Where no run has one, a run that is
named by its instant counts as complete an hour after its last file; runs of other names are then refused.

Shards of one name (`p-000000000000.parquet`) in one folder are of one run. Written over by a run with fewer shards,
those of the earlier run are left behind: BigQuery's `overwrite = true` removes nothing. They are passed over where they
bear the highest numbers and were written an hour or more before the rest; any other mixture is refused.

Source: BigQuery documentation, "EXPORT DATA statement".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ingest.errors import SourceUnreadable

_SETTLED_NS = 60 * 60 * 1_000_000_000
"""Between the files of two runs, and after the last of one."""
_INSTANT = re.compile(r"(?:\w+=)?(\d{4}-?\d{2}-?\d{2}[T_-]?\d{2}[:_-]?\d{2}(?:[:_-]?\d{2})?)Z?", re.ASCII)
_NAMED_RUN = re.compile(r"(?:run|run_id|export_run|execution)=.+", re.IGNORECASE)
_PERIOD = re.compile(r"\d{8}-\d{8}")
_SHARD = re.compile(r"(?P<stem>.*)(?P<number>\d{12})(?P<suffix>\.\D.*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Written:
    """A file, and when it was written [ns since 1970]."""

    path: PurePath
    at_ns: int


def of_newest_runs(files: Sequence[Written], now_ns: int) -> tuple[list[Written], list[str]]:
    """Return the files that are in no run or in the newest complete one of its folder, and what is passed over.

    Raises SourceUnreadable where nothing tells which run counts.
    """
    runs: dict[PurePath, dict[str, list[Written]]] = {}
    kept: list[Written] = []
    for file in files:
        folder = _run_of(file.path)
        if folder is None:
            kept.append(file)
        else:
            runs.setdefault(folder.parent, {}).setdefault(folder.name, []).append(file)
    passed_over: list[str] = []
    for parent, found in sorted(runs.items()):
        newest = next(iter(found)) if len(found) == 1 else _newest(parent, found, now_ns)
        kept += found[newest]
        passed_over += [
            f"{name} (a run of {parent.name or 'the bucket'} that does not count)" for name in found if name != newest
        ]
    return sorted(kept, key=lambda file: file.path), passed_over


def without_leftovers(files: Sequence[Written]) -> tuple[list[Written], list[str]]:
    """Return the files without shards that an earlier run left behind, and the names of those.

    Raises SourceUnreadable where shards of several runs are mixed.
    """
    shards: dict[tuple[PurePath, str, str], list[tuple[int, Written]]] = {}
    for file in files:
        found = _SHARD.fullmatch(file.path.name)
        if found:
            key = (file.path.parent, found["stem"], found["suffix"])
            shards.setdefault(key, []).append((int(found["number"]), file))
    left = {file.path for group in shards.values() for file in _leftovers(group)}
    kept = [file for file in files if file.path not in left]
    return kept, [f"{path.name} (left behind by an earlier run)" for path in sorted(left)]


def _leftovers(shards: Sequence[tuple[int, Written]]) -> list[Written]:
    """Return the shards of one name that are of an earlier run."""
    by_time = sorted(shards, key=lambda shard: shard[1].at_ns)
    split = 0
    for position in range(1, len(by_time)):
        if by_time[position][1].at_ns - by_time[position - 1][1].at_ns >= _SETTLED_NS:
            split = position
    earlier, newest = by_time[:split], by_time[split:]
    if earlier and min(number for number, _ in earlier) < max(number for number, _ in newest):
        raise SourceUnreadable(
            "shards of one name were written by several runs, whose rows would count twice",
            file=newest[-1][1].path.name,
            hint="empty the folder before each export (overwrite = true removes nothing), or give each run a folder",
        )
    return [file for _, file in earlier]


def _run_of(path: PurePath) -> PurePath | None:
    """Return the folder of the run that a file belongs to, or None."""
    for folder in reversed(path.parents):
        name = folder.name
        if _INSTANT.fullmatch(name) or _NAMED_RUN.fullmatch(name) or _PERIOD.fullmatch(folder.parent.name):
            return folder
    return None


def _newest(parent: PurePath, runs: dict[str, list[Written]], now_ns: int) -> str:
    """Return the name of the newest complete run."""
    complete = {name: files for name, files in runs.items() if any(_is_mark(file.path, name) for file in files)}
    if not complete and all(_INSTANT.fullmatch(name) for name in runs):
        complete = {name: files for name, files in runs.items() if now_ns - _last(files) >= _SETTLED_NS}
    ranks = {
        name: _rank(name, files, by_name=all(map(_INSTANT.fullmatch, complete))) for name, files in complete.items()
    }
    newest = [name for name, rank in ranks.items() if rank == max(ranks.values())]
    if len(newest) != 1:
        raise SourceUnreadable(
            f"{len(runs)} runs of {parent.name or 'the bucket'} lie side by side, and each may hold the month to date",
            hint="keep the newest run of each period only, or let the export overwrite its files; a run with a"
            " _SUCCESS file or a manifest in its folder is known to be complete",
        )
    return newest[0]


def _rank(name: str, files: Sequence[Written], *, by_name: bool) -> tuple[str, int]:
    """Return what orders runs: the instant of their names, or when the last file was written."""
    found = _INSTANT.fullmatch(name)
    digits = re.sub(r"\D", "", found[1]).ljust(14, "0") if found and by_name else ""
    return digits, 0 if digits else _last(files)


def _last(files: Sequence[Written]) -> int:
    return max(file.at_ns for file in files)


def _is_mark(path: PurePath, run: str) -> bool:
    """Return whether a file directly in a run's folder says that the run is complete."""
    name = path.name.lower()
    return path.parent.name == run and (name.startswith("_success") or name.endswith("manifest.json"))
