"""What is measured, against which bar. Every ratio is a median of three pairs, taken in turn within this run."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import mkdtemp

from benchmarks.bigquery import storage_service
from benchmarks.configuration import attribution_rules, shared_costs, write_configuration
from benchmarks.exports import DATA, MONTH, SWAPS, deliver, month_before, paths_of
from benchmarks.fetching import OBJECTS, distant_bucket
from benchmarks.process import Figures, run_overrun, run_work
from benchmarks.queries import MARTS, questions, wide_queries

AS_OF = "2026-12-02"
PAIRS = 3
RULES = 200
SPLITS = 20
"""Splits of shared costs beside them."""
_GB = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One figure beside its bar; met where it is not above."""

    measure: str
    figure: float
    unit: str
    bar: float | None
    detail: str = ""

    @property
    def is_met(self) -> bool:
        """Return whether the figure is within its bar; without one it is for information."""
        return self.bar is None or self.figure <= self.bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure by its name: the folders of made-up exports that it reads, and the work."""

    name: str
    folders: tuple[str, ...]
    run: Callable[[], Iterator[Result]]


def load(folder: str, label: str, bar: float | None, peak_bar: float | None = None) -> Iterator[Result]:
    """Measure a load against the bare one, and its peak memory where that has a bar."""
    paths = paths_of(folder)
    loads, bares = _pairs(lambda: _warehouse_work("load", paths), lambda: _warehouse_work("bare", paths))
    ratio = _ratio([figures.work_seconds for figures in loads], [figures.work_seconds for figures in bares])
    seconds = f"{_median_work(loads):.1f} against {_median_work(bares):.1f} CPU s, {bares[0].said['columns']} columns"
    yield Result(measure=f"load {label}", figure=ratio, unit="x bare", bar=bar, detail=seconds)
    if peak_bar is not None:
        peak = max(figures.peak_mb for figures in loads)
        yield Result(measure=f"peak memory of the load {label}", figure=peak, unit="MB", bar=peak_bar)


def night(folder: str, label: str, peak_bar: float) -> Iterator[Result]:
    """Measure the first night over one month against the bare load, and its peak memory."""
    paths = paths_of(folder)
    nights, bares = _pairs(lambda: _first_night(paths), lambda: _warehouse_work("bare", paths))
    spent, least = [item.cpu_seconds for item in nights], [item.cpu_seconds for item in bares]
    seconds = f"{statistics.median(spent):.1f} against {statistics.median(least):.1f} CPU s"
    yield Result(measure=f"whole night {label}", figure=_ratio(spent, least), unit="x bare", bar=2.0, detail=seconds)
    peak = max(item.peak_mb for item in nights)
    yield Result(measure=f"peak memory of the night {label}", figure=peak, unit="MB", bar=peak_bar)


def wide() -> Iterator[Result]:
    """Measure `overrun ingest` of a report of 1,500 columns against 100 columns, and against DuckDB's bare reading."""
    [narrow_path], [wide_path] = paths_of("narrow"), paths_of("wide")
    ingests, narrows = _pairs(lambda: _ingest(wide_path), lambda: _ingest(narrow_path))
    spent, least = [item.cpu_seconds for item in ingests], [item.cpu_seconds for item in narrows]
    yield Result(
        measure="ingest of 1,500 columns",
        figure=_ratio(spent, least),
        unit="x narrow",
        bar=3.0,
        detail=f"{statistics.median(spent):.1f} against {statistics.median(least):.1f} CPU s, 20k rows of csv",
    )
    ingests, reads = _pairs(lambda: _ingest(wide_path), lambda: _warehouse_work("read", [wide_path]))
    spent, least = [item.cpu_seconds for item in ingests], [item.cpu_seconds for item in reads]
    yield Result(
        measure="ingest of 1,500 columns",
        figure=_ratio(spent, least),
        unit="x read",
        bar=1.3,
        detail=f"{statistics.median(spent):.1f} against {statistics.median(least):.1f} CPU s",
    )
    peak = max(item.peak_mb for item in ingests)
    yield Result(measure="peak memory of 1,500 columns", figure=peak, unit="MB", bar=800)


def startup() -> Iterator[Result]:
    """Measure `overrun --help`."""
    run_overrun("--help")
    seconds = [run_overrun("--help").cpu_seconds for _ in range(5)]
    yield Result(measure="overrun --help", figure=statistics.median(seconds), unit="CPU s", bar=0.15)


def fetch() -> Iterator[Result]:
    """Measure the fetch of many objects from a distant bucket against one after the other, by the clock."""
    with distant_bucket() as port:
        ours, plain = _pairs(lambda: _fetch_work("fetch", port), lambda: _fetch_work("fetch-plainly", port))
    seconds = [statistics.median(item.said["seconds"] for item in figures) for figures in (ours, plain)]
    ratio = _ratio([item.said["seconds"] for item in ours], [item.said["seconds"] for item in plain])
    detail = f"{seconds[0]:.1f} against {seconds[1]:.1f} s"
    yield Result(measure=f"fetch of {OBJECTS} objects", figure=ratio, unit="x one by one", bar=0.33, detail=detail)


def _fetch_work(work: str, port: str) -> Figures:
    """Run a fetch into a folder of its own."""
    with _folder() as folder:
        return run_work(work, port, folder)


def stream() -> Iterator[Result]:
    """Measure the memory of streaming a table of BigQuery to a landed file, at one million rows and at ten."""
    with storage_service() as port, _folder() as folder:
        for times in (1, 10):
            figures = run_work("stream", port, str(times), folder / f"{times}.parquet")
            detail = f"{figures.said['bytes'] / 1e6:.0f} MB of parquet, {figures.cpu_seconds:.0f} CPU s"
            measure = f"peak memory of streaming {times}M rows of BigQuery"
            yield Result(measure=measure, figure=figures.peak_mb, unit="MB", bar=500, detail=detail)


def attribution(folder: str, label: str, peak_bar: float) -> Iterator[Result]:
    """Measure attribution by many rules against one grouped scan, and a build after one of them changed."""
    with _folder() as place:
        deliver(place / "export", MONTH, paths_of(folder))
        configuration = write_configuration(place, tables=_rules_and_splits())
        _nightly(configuration)
        warehouse = place / "warehouse.duckdb"
        steps, scans = _pairs(lambda: run_work("attribute", warehouse), lambda: run_work("grouped-scan", warehouse))
        detail = f"{_median_work(steps):.1f} against {_median_work(scans):.1f} CPU s, {RULES} rules and {SPLITS} splits"
        ratio = _ratio([item.work_seconds for item in steps], [item.work_seconds for item in scans])
        yield Result(measure=f"attribution {label}", figure=ratio, unit="x grouped scan", bar=3.0, detail=detail)
        peak = max(item.peak_mb for item in steps)
        yield Result(measure=f"peak memory of attribution {label}", figure=peak, unit="MB", bar=peak_bar)
        yield _changed_rule(place, label)


def _rules_and_splits(last_team: str = "last") -> str:
    """Return the tables of attribution that are measured; one rule names `last_team`."""
    return f"{attribution_rules(RULES, last_team=last_team)}\n\n{shared_costs(SPLITS)}"


def _changed_rule(folder: Path, label: str) -> Result:
    """Measure the build after one rule changed against the build of everything."""
    turn = 0

    def change() -> Figures:
        nonlocal turn
        turn += 1
        write_configuration(folder, tables=_rules_and_splits(f"team of turn {turn}"))
        return _build(folder)

    def whole() -> Figures:
        run_work("forget", folder / "warehouse.duckdb")
        return _build(folder)

    changed, built = _pairs(change, whole)
    spent, least = [item.cpu_seconds for item in changed], [item.cpu_seconds for item in built]
    detail = f"{statistics.median(spent):.1f} against {statistics.median(least):.1f} CPU s"
    ratio = _ratio(spent, least)
    return Result(measure=f"one changed rule {label}", figure=ratio, unit="x full build", bar=0.8, detail=detail)


def _build(folder: Path) -> Figures:
    """Run a build."""
    return run_overrun("build", "--config", folder / "overrun.toml", "--as-of", AS_OF)


def asked() -> Iterator[Result]:
    """Measure the twelve questions on the published copy of one month."""
    with _folder() as folder:
        deliver(folder / "export", MONTH, paths_of("million"))
        _nightly(write_configuration(folder))
        yield from _questions(folder / "finance.duckdb")


def _questions(published: Path) -> Iterator[Result]:
    """Measure the twelve questions of finance, and each against the same asked of charges."""
    for title, statement, of_charges in questions():
        said = run_work("query", published, statement).said
        yield Result(
            measure=title, figure=said["seconds"] * 1000, unit="ms", bar=100, detail=f"{said['rows']:.0f} rows"
        )
        if of_charges is not None:
            charges = run_work("query", published, of_charges).said
            detail = f"{said['seconds'] * 1000:.0f} against {charges['seconds'] * 1000:.0f} ms"
            ratio = said["seconds"] / charges["seconds"]
            yield Result(measure=title, figure=ratio, unit="x of charges", bar=1.0, detail=detail)


def swaps() -> Iterator[Result]:
    """Measure how far sixty swaps of one month grow the file."""
    with _folder() as folder:
        said = run_work("swap", folder / "warehouse.duckdb", str(SWAPS)).said
    detail = f"{said['before_bytes'] / 1e6:.0f} to {said['after_bytes'] / 1e6:.0f} MB"
    figure = said["after_bytes"] / said["before_bytes"]
    yield Result(measure="sixty swaps of one month", figure=figure, unit="x file", bar=1.3, detail=detail)


def year() -> Iterator[Result]:
    """Measure thirteen months: rebuild, idle night, one changed month, publish, queries."""
    with _folder() as folder:
        configuration = write_configuration(folder)
        for count in range(12, 0, -1):
            month = month_before(MONTH, count)
            deliver(folder / "export", month, paths_of("earlier", month))
        deliver(folder / "export", MONTH, paths_of("million"))
        _nightly(configuration)
        rebuilt = run_overrun("rebuild", "--config", configuration, "--as-of", AS_OF)
        yield Result(
            measure="peak memory of a rebuild, 13 months",
            figure=rebuilt.peak_mb,
            unit="MB",
            bar=1300,
            detail=f"{rebuilt.cpu_seconds:.0f} CPU s",
        )
        _nightly(configuration)
        idle = statistics.median(_nightly(configuration).cpu_seconds for _ in range(PAIRS))
        yield Result(measure="night with nothing new, 13 months", figure=idle, unit="CPU s", bar=1.5)
        yield from _publishing(folder, configuration)
        yield from _queries(folder / "finance.duckdb")
        yield from _questions(folder / "finance.duckdb")
        yield from _changed_month(folder, configuration)


def _publishing(folder: Path, configuration: Path) -> Iterator[Result]:
    """Measure the publish of a file, less what the command costs when there is nothing to publish."""
    command = ("publish", "--config", configuration, "--as-of", AS_OF)
    forced, idle = _pairs(lambda: run_overrun(*command, "--force"), lambda: run_overrun(*command))
    size = (folder / "finance.duckdb").stat().st_size / _GB
    spent = statistics.median(item.cpu_seconds for item in forced) - statistics.median(
        item.cpu_seconds for item in idle
    )
    yield Result(measure="publish", figure=spent / size, unit="CPU s per GB", bar=1.0, detail=f"{size:.2f} GB")


def _changed_month(folder: Path, configuration: Path) -> Iterator[Result]:
    """Measure ingest and build after one month of thirteen changed, against the same month as the only one."""
    versions = [paths_of("million"), [*paths_of("million"), *paths_of("additions")[:1]]]
    turn = 0

    def change() -> float:
        nonlocal turn
        turn += 1
        deliver(folder / "export", MONTH, versions[turn % 2])
        return _ingest_and_build(configuration)

    changed: list[float] = []
    alone: list[float] = []
    for _ in range(PAIRS):
        changed.append(change())
        with _folder() as other:
            deliver(other / "export", MONTH, versions[turn % 2])
            alone.append(_ingest_and_build(write_configuration(other)))
    detail = f"{statistics.median(changed):.1f} against {statistics.median(alone):.1f} CPU s"
    ratio = _ratio(changed, alone)
    yield Result(measure="one changed month of 13", figure=ratio, unit="x alone", bar=1.15, detail=detail)


def _queries(published: Path) -> Iterator[Result]:
    """Measure queries on the published copy, warm, by the clock: the fastest of several."""
    for bar, queries in ((100, MARTS), (800, wide_queries())):
        for name, statement in queries.items():
            said = run_work("query", published, statement).said
            detail = f"{said['cpu_seconds'] * 1000:.0f} CPU ms, {said['rows']:.0f} rows"
            yield Result(measure=name, figure=said["seconds"] * 1000, unit="ms", bar=bar, detail=detail)


def _ingest_and_build(configuration: Path) -> float:
    """Return the CPU seconds of ingest and build."""
    commands = (("ingest", "--config", configuration), ("build", "--config", configuration, "--as-of", AS_OF))
    return sum(run_overrun(*command).cpu_seconds for command in commands)


def _first_night(paths: list[Path]) -> Figures:
    """Return the figures of the first night over one month."""
    with _folder() as folder:
        deliver(folder / "export", MONTH, paths)
        return _nightly(write_configuration(folder))


def _ingest(path: Path) -> Figures:
    """Return the figures of `overrun ingest` of one file."""
    with _folder() as folder:
        deliver(folder / "export", month_before(MONTH, 3), [path])
        return run_overrun("ingest", "--config", write_configuration(folder))


def _nightly(configuration: Path) -> Figures:
    """Run a night."""
    return run_overrun("nightly", "--config", configuration, "--as-of", AS_OF)


def _warehouse_work(work: str, paths: list[Path], month: date = MONTH) -> Figures:
    """Run a piece of work into a warehouse of its own."""
    with _folder() as folder:
        return run_work(work, folder / "warehouse.duckdb", month.isoformat(), *paths)


def _pairs(one: Callable[[], Figures], other: Callable[[], Figures]) -> tuple[list[Figures], list[Figures]]:
    """Run both in turn, so that what else the machine does falls on both."""
    ones: list[Figures] = []
    others: list[Figures] = []
    for _ in range(PAIRS):
        ones.append(one())
        others.append(other())
    return ones, others


def _ratio(ones: list[float], others: list[float]) -> float:
    """Return the median of the ratios of the pairs."""
    return statistics.median(one / other for one, other in zip(ones, others, strict=True))


def _median_work(figures: list[Figures]) -> float:
    """Return the median CPU seconds of the work alone."""
    return statistics.median(item.work_seconds for item in figures)


@contextmanager
def _folder() -> Iterator[Path]:
    """Give an empty folder on the disk of the data, and remove it afterwards."""
    DATA.mkdir(exist_ok=True)
    folder = Path(mkdtemp(prefix="run-", dir=DATA))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


MEASURES: tuple[Measure, ...] = (
    Measure(name="help", folders=(), run=startup),
    Measure(name="fetch", folders=(), run=fetch),
    Measure(name="load-1M", folders=("million",), run=lambda: load("million", "1M parquet", 1.45)),
    Measure(
        name="load-1M-maps", folders=("million", "maps"), run=lambda: load("maps", "1M parquet, CUR 2.0 maps", 1.45)
    ),
    Measure(name="load-1M-csv", folders=("million", "csv"), run=lambda: load("csv", "1M csv.gz", 1.8)),
    Measure(name="wide", folders=("small", "narrow", "wide"), run=wide),
    Measure(name="night-1M", folders=("million",), run=lambda: night("million", "1M", 800)),
    Measure(name="attribution-1M", folders=("million",), run=lambda: attribution("million", "1M", 800)),
    Measure(name="questions-1M", folders=("million",), run=asked),
    Measure(name="swaps", folders=("small", "additions"), run=swaps),
    Measure(name="year", folders=("million", "earlier", "additions"), run=year),
    Measure(name="load-10M", folders=("ten-million",), run=lambda: load("ten-million", "10M parquet", 1.45)),
    Measure(
        name="load-10M-maps",
        folders=("ten-million", "ten-million-maps"),
        run=lambda: load("ten-million-maps", "10M parquet, CUR 2.0 maps", 1.6, 1300),
    ),
    Measure(name="stream-gcp", folders=("gcp-million",), run=stream),
    Measure(name="load-1M-gcp", folders=("gcp-million",), run=lambda: load("gcp-million", "1M GCP parquet", 1.6)),
    Measure(
        name="load-1M-gcp-ndjson",
        folders=("gcp-million", "gcp-ndjson"),
        run=lambda: load("gcp-ndjson", "1M GCP NDJSON", 1.6),
    ),
    Measure(
        name="load-10M-gcp",
        folders=("gcp-ten-million",),
        run=lambda: load("gcp-ten-million", "10M GCP parquet", 1.6, 1500),
    ),
    Measure(name="night-10M", folders=("ten-million",), run=lambda: night("ten-million", "10M", 1300)),
    Measure(name="attribution-10M", folders=("ten-million",), run=lambda: attribution("ten-million", "10M", 1300)),
)
QUICK = (
    "help",
    "fetch",
    "load-1M",
    "load-1M-maps",
    "load-1M-csv",
    "load-1M-gcp",
    "load-1M-gcp-ndjson",
    "wide",
    "night-1M",
    "attribution-1M",
    "questions-1M",
)
"""What needs no more than a million charges."""
