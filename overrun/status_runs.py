"""What `overrun status` says of sources of runs and of capacity: how much of each is loaded, and since when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from overrun.published import has_relation
from sql.contract import RUN, RUN_TOTAL
from sql.text import shortened, visible
from sql.usage import unknown_words

if TYPE_CHECKING:
    from overrun.config import Config
    from sql.warehouse import Warehouse

_WORDS_SHOWN = 5
_WORD_LIMIT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSourceStatus:
    """One source; without anything loaded, its counts are 0."""

    source: str
    kind: str | None
    """None where the configuration no longer names it."""
    files: int = 0
    attempts: int = 0
    stale: int = 0
    """Attempts that are said to run though nobody has seen them for a day."""
    odd: int = 0
    """Rows that end before they begin."""
    unknown_states: tuple[tuple[str, int], ...] = ()
    """Words for states that nothing is known of, each with its rows."""
    loaded_at: datetime | None = None


def read_run_sources(config: Config, warehouse: Warehouse | None) -> list[RunSourceStatus]:
    """Return the configured sources in the order of the file, then those that are retired."""
    configured = {source.name: source.kind for source in config.run_sources}
    loaded: dict[str, RunSourceStatus] = {}
    if warehouse is not None and has_relation(warehouse, "ops.usage_load"):
        rows = warehouse.rows(
            "with loads as (select source, count(*) filter (is_current) as files,"
            " coalesce(sum(rows_odd) filter (is_current), 0)::bigint as odd, max(loaded_at) as loaded_at"
            " from ops.usage_load group by source having files > 0),"
            " attempts as (select source, count(*) as attempts, count(*) filter (is_stale) as stale"
            " from core.run_attempt group by source)"
            " select source, files, coalesce(attempts, 0), coalesce(stale, 0), odd, loaded_at"
            " from loads left join attempts using (source) order by source"
        )
        told = " union all ".join(
            f"select source, state, state_raw from {table.full_name}" for table in (RUN, RUN_TOTAL)
        )
        words = unknown_words(warehouse, f"({told})")
        for source, files, attempts, stale, odd, loaded_at in rows:
            loaded[str(source)] = RunSourceStatus(
                source=str(source),
                kind=configured.get(str(source)),
                files=int(str(files)),
                attempts=int(str(attempts)),
                stale=int(str(stale)),
                odd=int(str(odd)),
                unknown_states=tuple((word, number) for name, word, number in words if name == source),
                loaded_at=loaded_at if isinstance(loaded_at, datetime) else None,
            )
    names = [*configured, *(name for name in loaded if name not in configured)]
    return [loaded.get(name) or RunSourceStatus(source=name, kind=configured.get(name)) for name in names]


def run_source_lines(sources: Sequence[RunSourceStatus]) -> Iterator[str]:
    """Yield one line per source; none where no source tells of runs."""
    if sources:
        yield ""
        yield "Runs"
    for source in sources:
        kind = source.kind or "retired"
        if source.loaded_at is None:
            yield f"  {source.source} ({kind}): nothing loaded yet"
            continue
        notes = [f"{source.attempts} attempts"] if source.attempts else []
        notes += [f"{source.stale} of them stale"] if source.stale else []
        notes += [f"{source.odd} rows end before they begin"] if source.odd else []
        unknown = sum(number for _, number in source.unknown_states)
        notes += [f"{unknown} rows of unknown state ({counted_words(source.unknown_states)})"] if unknown else []
        counted = ", ".join([f"{source.files} files", *notes])
        yield f"  {source.source} ({kind}): {counted}; last loaded {source.loaded_at:%Y-%m-%d %H:%M} UTC"


def counted_words(words: Sequence[tuple[str, int]]) -> str:
    """Return words with their numbers, as far as they are shown."""
    shown = [f"{shortened(visible(word), _WORD_LIMIT)} {number}" for word, number in words[:_WORDS_SHOWN]]
    more = [f"{len(words) - _WORDS_SHOWN} more"] if len(words) > _WORDS_SHOWN else []
    return ", ".join([*shown, *more])


def run_sources_json(sources: Sequence[RunSourceStatus]) -> list[dict[str, object]]:
    """Return the sources as JSON values."""
    return [
        {
            "source": source.source,
            "kind": source.kind,
            "files": source.files,
            "attempts": source.attempts,
            "stale": source.stale,
            "odd_rows": source.odd,
            "unknown_states": dict(source.unknown_states),
            "loaded_at": None if source.loaded_at is None else f"{source.loaded_at.isoformat()}Z",
        }
        for source in sources
    ]
