"""BigQuery on this machine: an emulator in a virtual environment of its own, and tables as Cloud Billing makes them.

The emulator needs an older DuckDB than ours, so it is installed apart, once, from `tests/emulators.lock` into
`.cache/`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.conftest import ROOT
from tests.fakes.exports import gcp_row
from tests.fakes.servers import free_port

if TYPE_CHECKING:
    from google.cloud.bigquery import Client, SchemaField

PROJECT = "acme-billing"
DATASET = "billing"
DETAILED = f"{PROJECT}.{DATASET}.gcp_billing_export_resource_v1_0A1B2C"
LIKE = gcp_row(credits=[("-1", "PROMOTION")]) | {
    "labels": [{"key": "k", "value": "v"}],
    "system_labels": [{"key": "k", "value": "v"}],
    "tags": [{"key": "k", "value": "v", "inherited": True, "namespace": "n"}],
    "project": {"id": "p", "number": "1", "name": "p", "labels": [{"key": "k", "value": "v"}]},
}
"""A row with something in every column that the tests write."""
_LOCK = ROOT / "tests" / "emulators.lock"
_START_SECONDS = 120
_SCALARS = {bool: "BOOL", int: "INTEGER", float: "FLOAT", Decimal: "FLOAT", str: "STRING"}
_TIMES = frozenset({"usage_start_time", "usage_end_time", "export_time", "x_ExportTime"})
_PERIODS = ("BillingPeriod", "ChargePeriod")


def emulator_environment() -> Path:
    """Return the emulator's virtual environment, made from the lock where it is not there; skips where it cannot be."""
    digest = hashlib.sha256(_LOCK.read_bytes()).hexdigest()[:12]
    environment = ROOT / ".cache" / f"emulators-{digest}"
    environment.parent.mkdir(exist_ok=True)
    with (environment.parent / "emulators.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (environment / "ready").is_file():
            _install(environment)
    return environment


def _install(environment: Path) -> None:
    """Make the environment: its packages, and the extension of DuckDB that the emulator looks for in its home."""
    shutil.rmtree(environment, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True, capture_output=True)
    pip: list[str | Path] = [environment / "bin/python", "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    done = subprocess.run(
        [*pip, "--require-hashes", "--no-deps", "-r", _LOCK], check=False, capture_output=True, text=True
    )
    if done.returncode:
        shutil.rmtree(environment, ignore_errors=True)
        pytest.skip("the emulator of BigQuery cannot be installed: its packages cannot be fetched")
    [extension] = environment.glob("lib/*/site-packages/duckdb_extension_spatial/extensions/*/spatial.duckdb_extension")
    home = environment / "home/.duckdb/extensions" / extension.parent.name / "linux_amd64"
    home.mkdir(parents=True)
    shutil.copyfile(extension, home / extension.name)
    (environment / "ready").touch()


@dataclass(slots=True, kw_only=True)
class Emulator:
    """A running emulator, and what makes tables in it."""

    rest: str
    grpc: str
    made: list[str] = field(default_factory=list)

    def client(self, project: str = PROJECT) -> Client:
        """Return an official client."""
        from google.api_core.client_options import ClientOptions
        from google.auth.credentials import AnonymousCredentials
        from google.cloud.bigquery import Client

        return Client(
            project=project,
            credentials=AnonymousCredentials(),  # type: ignore[no-untyped-call]
            client_options=ClientOptions(api_endpoint=self.rest),
        )

    def make(
        self, name: str = DETAILED, *, like: Mapping[str, object], partitioned_by: str | None = "_PARTITIONTIME"
    ) -> None:
        """Make a table with the columns of a row, in a dataset that is made where it is missing."""
        from google.cloud.bigquery import Dataset, Table, TimePartitioning

        with closing(self.client()) as client:
            client.create_dataset(Dataset(name.rpartition(".")[0]), exists_ok=True)
            table = Table(name, schema=[_column(key, value) for key, value in like.items()])
            if partitioned_by is not None:
                table.time_partitioning = TimePartitioning(
                    field=None if partitioned_by == "_PARTITIONTIME" else partitioned_by
                )
            client.create_table(table, retry=None, timeout=20)  # type: ignore[arg-type]
        self.made.append(name)

    def view(self, name: str, query: str, *, like: Mapping[str, object]) -> None:
        """Make a view; the emulator does not work out its columns, as BigQuery does."""
        from google.cloud.bigquery import Table

        with closing(self.client()) as client:
            table = Table(name, schema=[_column(key, value) for key, value in like.items()])
            table.view_query = query
            client.create_table(table, retry=None, timeout=20)  # type: ignore[arg-type]
        self.made.insert(0, name)

    def add(self, rows: Sequence[Mapping[str, object]], name: str = DETAILED) -> None:
        """Add rows to the partition of today."""
        with closing(self.client()) as client:
            assert not client.insert_rows_json(
                name,
                [_as_json(row) for row in rows],
                retry=None,  # type: ignore[arg-type]
                timeout=20,
            )

    def run(self, statement: str) -> None:
        """Run a statement."""
        with closing(self.client()) as client:
            client.query(statement, retry=None).result(retry=None, timeout=20)  # type: ignore[arg-type]

    def reset(self) -> None:
        """Remove every table that was made."""
        with closing(self.client()) as client:
            for name in self.made:
                client.delete_table(name, not_found_ok=True)
        self.made.clear()


def _column(name: str, value: object) -> SchemaField:
    """Return the column that holds a value; a list is a repeated record, by its first member."""
    from google.cloud.bigquery import SchemaField

    mode = "NULLABLE"
    if isinstance(value, list):
        mode, value = "REPEATED", value[0]
    if isinstance(value, dict):
        fields = tuple(_column(key, item) for key, item in value.items())
        return SchemaField(name, "RECORD", mode=mode, fields=fields)
    kind = "TIMESTAMP" if name in _TIMES or name.startswith(_PERIODS) else _SCALARS[type(value)]
    return SchemaField(name, kind, mode=mode)


def _as_json(value: Any) -> Any:  # noqa: ANN401 - walks through nested values of any type
    """Return nested values as the insert request takes them."""
    if isinstance(value, dict):
        return {name: _as_json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    return float(value) if isinstance(value, Decimal) else value


@contextmanager
def emulator() -> Iterator[Emulator]:
    """Run an emulator on free ports for the `with` block."""
    environment = emulator_environment()
    rest, grpc = free_port(), free_port()
    command: list[str | Path] = [
        environment / "bin/bqemulator",
        "start",
        "--rest-port",
        str(rest),
        "--grpc-port",
        str(grpc),
    ]
    log = environment / f"emulator-{uuid4()}.log"
    with log.open("wb") as output:
        running = subprocess.Popen(
            [*command, "--project", PROJECT],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=environment,
            env={"HOME": str(environment / "home"), "PATH": os.environ["PATH"]},
        )
    try:
        for port in (rest, grpc):
            _wait(port, running, log)
        yield Emulator(rest=f"http://127.0.0.1:{rest}", grpc=f"http://127.0.0.1:{grpc}")
    finally:
        running.terminate()
        try:
            running.wait(10)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
        log.unlink()


def _wait(port: int, running: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until somebody listens on a port."""
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if running.poll() is not None:
            raise RuntimeError(f"the emulator ended: {log.read_text(errors='replace')[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the emulator does not listen")
