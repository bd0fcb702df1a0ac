"""Pieces of work that are measured, each in a process of its own; the figures go to stdout as JSON.

`bare` is what any load has to do at the least: every delivered column that staging reads, from file to table, with the
same storage version, threads and order, checkpoint included; `read` is the same of every column. `load` is the
product's own, of a delivery that is landed.
"""

from __future__ import annotations

import hashlib
import json
import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path

from benchmarks.bigquery import stream
from benchmarks.fetching import fetch, fetch_plainly
from benchmarks.queries import GROUPED_SCAN
from ingest.dataset import Described, describe_files, flattened
from ingest.delivery import DeliveredFile, Delivery, version_of
from ingest.discover import DATASETS
from ingest.formats import DeliveredColumn, table_function
from ingest.landed import by_folded_name, columns_of, create_macros
from ingest.load import LoadOptions, load_delivery
from ingest.scan import staging_text
from ingest.source import SourceSettings
from sql.model import load_models
from sql.parts import prepare
from sql.runner import build
from sql.warehouse import Warehouse, WarehouseSettings

THREADS = 2
_AWS = SourceSettings(name="aws-main", kind="aws-export", location=Path("/"))
_GCP = SourceSettings(name="gcp-main", kind="gcp-export", location=Path("/"))
_LOADED_AT = datetime(2026, 12, 2)  # noqa: DTZ001 - instants are UTC without zone
_REPEATS = 7
_SUMMED = "core.charge_sum"
"""Sums of charges: what it reads besides, commitments over time, is no attribution."""


def settings(path: Path) -> WarehouseSettings:
    """Return the settings of a measured warehouse: the defaults, and as many threads on every machine."""
    return WarehouseSettings(path=path, threads=THREADS)


def source_of(paths: Sequence[Path]) -> SourceSettings:
    """Return the made-up source that delivers files: the folders of a Cloud Billing export are named `gcp-`."""
    return _GCP if paths[0].parent.name.startswith("gcp-") else _AWS


def delivery_of(paths: Sequence[Path], month: date) -> Delivery:
    """Return files as a delivery that has landed; their names stand for their checksums."""
    files = tuple(
        DeliveredFile(
            name=path.name, path=path, size=path.stat().st_size, sha256=hashlib.sha256(path.name.encode()).hexdigest()
        )
        for path in paths
    )
    return Delivery(source=source_of(paths).name, billing_month=month, version=version_of(files), files=files)


def columns_read(described: Described) -> list[DeliveredColumn]:
    """Return the delivered columns that the staging SELECT or the scan reads."""
    columns = list(flattened(described.groups[0].shape.columns))
    staging = described.dataset.staging
    words = set(re.findall(r"\w+", staging_text(f"{staging}.sql") + staging_text(f"{staging}.scan.sql")))
    named = by_folded_name(columns)
    named_fields = [item for item in described.dataset.fields if words.issuperset(re.findall(r"\w+", item.name))]
    read = [column for item in named_fields for column in columns_of(item, named)]
    derived = " ".join(described.dataset.derive(columns).values())
    read += [column for column in columns if re.search(rf"(?<!\w){re.escape(column.reference)}(?!\w)", derived)]
    return list(dict.fromkeys(read))


def bare(arguments: Sequence[str]) -> dict[str, float]:
    """Write the columns that staging reads to a table: WAREHOUSE MONTH FILE..."""
    return _written(arguments, columns_read)


def read(arguments: Sequence[str]) -> dict[str, float]:
    """Write every column to a table: WAREHOUSE MONTH FILE..."""
    return _written(arguments, lambda described: list(described.columns()))


def _written(arguments: Sequence[str], chosen: Callable[[Described], list[DeliveredColumn]]) -> dict[str, float]:
    """Write the chosen columns of a delivery to a table."""
    paths = [Path(name) for name in arguments[2:]]
    delivery = delivery_of(paths, date.fromisoformat(arguments[1]))
    with Warehouse.open(settings(Path(arguments[0]))) as warehouse:
        described = describe_files(delivery.files, DATASETS[source_of(paths).kind], warehouse)
        columns = chosen(described)
        [group] = described.groups
        source = table_function(group.shape, [file.path for file in group.files])

        def write() -> None:
            warehouse.execute(
                f"create table bare as select {', '.join(column.reference for column in columns)} from {source}"
            )
            warehouse.checkpoint()

        return measured(write) | {"columns": len(columns)}


def load(arguments: Sequence[str]) -> dict[str, float]:
    """Load a landed delivery: WAREHOUSE MONTH FILE..."""
    delivery = delivery_of([Path(name) for name in arguments[2:]], date.fromisoformat(arguments[1]))
    with Warehouse.open(settings(Path(arguments[0]))) as warehouse:
        prepare(warehouse)
        create_macros(warehouse)
        return measured(lambda: _load(warehouse, delivery))


def swap(arguments: Sequence[str]) -> dict[str, float]:
    """Load the small months, then swap the last one again and again, with a build each time: WAREHOUSE COUNT."""
    from benchmarks.exports import MONTH, files_of, paths_of

    path = Path(arguments[0])
    months = sorted({file.month for file in files_of("small")})
    with Warehouse.open(settings(path)) as warehouse:
        prepare(warehouse)
        create_macros(warehouse)
        for month in months:
            _load(warehouse, delivery_of(paths_of("small", month), month))
        build(warehouse)
        warehouse.checkpoint()
        before = path.stat().st_size
        for extra in paths_of("additions")[: int(arguments[1])]:
            _load(warehouse, delivery_of([*paths_of("small", MONTH), extra], MONTH))
            build(warehouse)
            warehouse.checkpoint()
        return {"before_bytes": before, "after_bytes": path.stat().st_size}


def attribute(arguments: Sequence[str]) -> dict[str, float]:
    """Build again what says who pays for each charge and bears what is shared, in a built warehouse: WAREHOUSE."""
    models = {model.full_name: model for model in load_models()}
    wanted, chosen = ["core.attribution", "core.shared_cost"], {"core.charge_cube"}
    while wanted:
        name = wanted.pop()
        chosen.add(name)
        if name != _SUMMED:
            wanted += (models[name].dependencies & models.keys()) - chosen
    with Warehouse.open(settings(Path(arguments[0]))) as warehouse:
        _forget(warehouse, sorted(chosen))
        return measured(lambda: build(warehouse))


def forget(arguments: Sequence[str]) -> dict[str, float]:
    """Let the next build find everything changed: WAREHOUSE."""
    with Warehouse.open(settings(Path(arguments[0]))) as warehouse:
        _forget(warehouse, [model.full_name for model in load_models()])
    return {}


def _forget(warehouse: Warehouse, models: Sequence[str]) -> None:
    """Drop what is known of how models were built."""
    warehouse.execute("delete from ops.fingerprint where list_contains(?, model)", [models])


def grouped_scan(arguments: Sequence[str]) -> dict[str, float]:
    """Sum every charge by what a mart of resources tells apart, into a table: WAREHOUSE."""
    with Warehouse.open(settings(Path(arguments[0]))) as warehouse:
        figures = measured(lambda: warehouse.execute(f"create or replace table main.scanned as {GROUPED_SCAN}"))
        warehouse.execute("drop table main.scanned")
        return figures


def query(arguments: Sequence[str]) -> dict[str, float]:
    """Run a query on a published copy, warm: the fastest time, since other work of the machine only adds: FILE SQL."""
    with Warehouse.open_published(Path(arguments[0])) as warehouse:
        warehouse.execute(f"set threads = {THREADS}")
        rows = len(warehouse.rows(arguments[1]))
        times = [_timed(lambda: warehouse.rows(arguments[1])) for _ in range(_REPEATS)]
        spent = min(measured(lambda: warehouse.rows(arguments[1]))["cpu_seconds"] for _ in range(_REPEATS))
        return {"seconds": min(times), "cpu_seconds": spent, "rows": rows}


def measured(work: Callable[[], object]) -> dict[str, float]:
    """Return the CPU seconds that `work` takes."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def _load(warehouse: Warehouse, delivery: Delivery) -> None:
    """Load a delivery of the made-up source."""
    source = source_of([file.path for file in delivery.files])
    load_delivery(warehouse, delivery, source, DATASETS[source.kind], LoadOptions(loaded_at=_LOADED_AT))


def _timed(work: Callable[[], object]) -> float:
    """Return the seconds that `work` takes on the wall."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


_WORK = {
    "bare": bare,
    "read": read,
    "load": load,
    "swap": swap,
    "attribute": attribute,
    "forget": forget,
    "grouped-scan": grouped_scan,
    "query": query,
    "fetch": fetch,
    "fetch-plainly": fetch_plainly,
    "stream": stream,
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(_WORK[sys.argv[1]](sys.argv[2:])))
