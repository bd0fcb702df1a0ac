"""Runs of an MLflow tracking store: a folder of files, or the SQLite database of one; read directly.

The client library would bring a score of packages for what are a few small files and four tables. A run that was
killed stays RUNNING for good: its last metric says until when it is known to have run. Tags `overrun.COLUMN` fill
columns of usage.run that MLflow has no word for, such as overrun.gpu_count.

Source: MLflow, `mlflow.store.tracking` (file store, SQLAlchemy store), `RunStatus`; tags "mlflow.*".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ingest.delivery import DeliveredFile
from ingest.errors import LoadRefused, SourceUnreadable
from ingest.usage.slices import counted_gpus
from ingest.usage.source import Incoming, RunSource
from ingest.usage.tables import Wording, cluster_of, kind_of, refuse_bad_values, selected, state_of
from sql.contract import RUN
from sql.state import read_foreign
from sql.warehouse import Warehouse, quoted

_NUMBERS = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
"""What the file store writes for a status."""
_TAGS = {
    "mlflow.user": "user_name", "mlflow.runName": "run_name", "mlflow.parentRunId": "sweep_id", "project": "project",
    "team": "team", "model": "model", "workload": "workload",
}  # fmt: skip
_OWN = "overrun."
_LINE = re.compile(r"^(\w+): ?(.*)$", re.MULTILINE)
_ROWS_PER_INSERT = 5000
_OURS = {"source", "attempt_id", "state_raw", "gpu_shards"}
_ALWAYS = {"run_id", "state"}
_FILLED = tuple(column.name for column in RUN.columns if column.name not in _OURS)
_TAGGED = Wording(row="'run ' || run_id", prefix=_OWN)

Told = dict[str, str]
"""One run: columns of usage.run as text."""


def store_of(location: Path) -> DeliveredFile:
    """Return the store of a folder as one file, whose checksum is that of what its files were last written."""
    entries = sorted(
        f"{path.relative_to(location).as_posix()} {path.stat().st_mtime_ns} {path.stat().st_size}"
        for path in location.rglob("*")
        if path.is_file() and "artifacts" not in path.parts
    )
    digest = hashlib.sha256("\n".join(entries).encode()).hexdigest()
    return DeliveredFile(name=location.name, path=location, size=len(entries), sha256=digest)


def read_mlflow(warehouse: Warehouse, file: DeliveredFile, source: RunSource) -> Incoming:
    """Read a store to `incoming`; raises SourceUnreadable for what is none, LoadRefused for a value that is none."""
    warehouse.execute("set variable source_cluster = ?", [source.cluster])
    runs = list(_of_folder(file.path) if file.path.is_dir() else _of_database(file))
    told = {name for run in runs for name in run}
    columns = [name for name in _FILLED if name in told | _ALWAYS]
    _make_given(warehouse, runs, columns)
    known = [column for column in RUN.columns if column.name in columns]
    refuse_bad_values(warehouse, file, known, "run_id", _TAGGED)
    others = {"cluster": cluster_of(columns), "state": state_of(), "state_raw": "state", "kind": kind_of(columns)}
    others |= counted_gpus(warehouse, columns)
    warehouse.execute(
        f"create or replace temporary table incoming as select line as row_number, {selected(RUN, columns, others)}"
        " from given"
    )
    warehouse.execute("drop table given")
    passed_over = tuple(f"{_OWN}{name}" for name in sorted(told.difference(_FILLED)))
    return Incoming(table=RUN, rows_read=len(runs), passed_over=passed_over)


def _make_given(warehouse: Warehouse, runs: Sequence[Told], columns: Sequence[str]) -> None:
    """Write runs as text to the temporary table `given`."""
    declared = ", ".join(f"{quoted(name)} varchar" for name in columns)
    warehouse.execute(f"create or replace temporary table given (line bigint, {declared})")
    for start in range(0, len(runs), _ROWS_PER_INSERT):
        chunk = runs[start : start + _ROWS_PER_INSERT]
        warehouse.execute(
            f"insert into given select unnest(?::bigint[]), {', '.join('unnest(?::varchar[])' for _ in columns)}",
            [list(range(start + 1, start + 1 + len(chunk))), *([run.get(name) for run in chunk] for name in columns)],
        )


def _of_folder(store: Path) -> Iterator[Told]:
    """Yield the runs of a store of files."""
    found = sorted(store.glob("*/*/meta.yaml"))
    if not found and not any(store.glob("*/meta.yaml")):
        raise SourceUnreadable(
            "the folder is no MLflow store: it has no */*/meta.yaml", file=store.name, hint="name the folder mlruns"
        )
    names: dict[Path, str] = {}
    for path in found:
        meta = _meta(path)
        run_id = meta.get("run_id") or meta.get("run_uuid")
        if not run_id or meta.get("lifecycle_stage") == "deleted":
            continue
        experiment = path.parent.parent
        if experiment not in names:
            names[experiment] = _meta(experiment / "meta.yaml").get("name", experiment.name)
        status = _NUMBERS.get(meta.get("status", ""), meta.get("status", ""))
        tags = _tags(path.parent / "tags", run_id)
        last = _last_metric(path.parent) if status == "RUNNING" else None
        yield _told(run_id, names[experiment], status, meta, tags, last)


def _meta(path: Path) -> Told:
    """Return the plain entries of a meta.yaml; null is left out."""
    if not path.is_file():
        return {}
    entries = _LINE.findall(path.read_text(encoding="utf-8"))
    return {key: value.strip().strip("'\"") for key, value in entries if value.strip() not in {"null", "''", ""}}


def _tags(folder: Path, run_id: str) -> Told:
    """Return the tags of a run; a key with a slash is a file in a folder."""
    tags: Told = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        key = path.relative_to(folder).as_posix()
        try:
            tags[key] = path.read_text(encoding="utf-8").strip()
        except UnicodeDecodeError as error:
            raise LoadRefused(f"run {run_id} {key} is no text in UTF-8") from error
    return tags


def _last_metric(run: Path) -> int | None:
    """Return when a run wrote its last metric [ms since 1970], or None."""
    instants = []
    for metric in (path for path in run.glob("metrics/**/*") if path.is_file()):
        lines = metric.read_text(encoding="utf-8").splitlines()
        instants += [int(line.split()[0]) for line in lines if line.split()[:1] and line.split()[0].isdigit()]
    return max(instants, default=None)


def _of_database(file: DeliveredFile) -> Iterator[Told]:
    """Yield the runs of a SQLite database."""
    try:
        tags: dict[str, Told] = {}
        for run_id, key, value in read_foreign(file.path, "select run_uuid, key, value from tags"):
            tags.setdefault(str(run_id), {})[str(key)] = str(value)
        last: dict[str, int] = dict(
            read_foreign(file.path, "select run_uuid, max(timestamp) from metrics group by run_uuid")
        )
        rows = read_foreign(
            file.path,
            "select r.run_uuid, e.name, r.status, r.start_time, r.end_time, r.user_id, r.name from runs as r"
            " join experiments as e on r.experiment_id = e.experiment_id where r.lifecycle_stage <> 'deleted'"
            " order by r.run_uuid",
        )
    except ValueError as error:
        raise SourceUnreadable(
            "the file is no SQLite database of MLflow", file=file.name, hint="name the store's database, or its folder"
        ) from error
    for run_id, experiment, status, start, end, user, name in rows:
        meta = {"start_time": start, "end_time": end, "user_id": user, "run_name": name}
        known = {key: str(value) for key, value in meta.items() if value not in {None, ""}}
        seen = last.get(run_id) if status == "RUNNING" else None
        yield _told(str(run_id), str(experiment), str(status), known, tags.get(str(run_id), {}), seen)


def _told(
    run_id: str, experiment: str, status: str, meta: Mapping[str, str], tags: Mapping[str, str], seen: int | None
) -> Told:
    """Return a run as columns of usage.run."""
    run = {"run_id": run_id, "experiment": experiment, "state": status}
    for name, column in (("user_id", "user_name"), ("run_name", "run_name")):
        if meta.get(name):
            run[column] = meta[name]
    for name, column in (("start_time", "started_at"), ("end_time", "ended_at")):
        if meta.get(name):
            run[column] = _instant(meta[name], run_id)
    if seen is not None:
        run["seen_at"] = _instant(str(seen), run_id)
    run |= {column: tags[tag] for tag, column in _TAGS.items() if tags.get(tag)}
    run |= {key.removeprefix(_OWN): value for key, value in tags.items() if key.startswith(_OWN) and value}
    return run


def _instant(text: str, run_id: str) -> str:
    """Return milliseconds since 1970 as an instant that tables read."""
    try:
        return datetime.fromtimestamp(int(text) / 1000, UTC).isoformat()
    except (ValueError, OverflowError, OSError) as error:
        raise LoadRefused(f"run {run_id} has an instant that is none: {text[:40]}") from error
