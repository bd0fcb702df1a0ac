"""A fresh warehouse for each test of ingestion, and a folder that stands for a bucket."""

from __future__ import annotations

import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from sql.parts import prepare
from sql.warehouse import Warehouse, WarehouseSettings
from tests.fakes import gcs as storage
from tests.fakes.aws import KEYS, Aws, moto_server, proxy
from tests.fakes.bigquery import Emulator, emulator
from tests.fakes.gcs import Gcs, gcs_server
from tests.ingest.night import Night


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a warehouse file with its tables and no charges: copying it is quicker than making one."""
    path = tmp_path_factory.mktemp("prepared") / "warehouse.duckdb"
    with Warehouse.open(WarehouseSettings(path=path)) as warehouse:
        prepare(warehouse)
        warehouse.checkpoint()
    return path


@pytest.fixture
def night(prepared: Path, tmp_path: Path) -> Iterator[Night]:
    """Return a warehouse with nothing in it."""
    path = Path(shutil.copyfile(prepared, tmp_path / "warehouse.duckdb"))
    with Warehouse.open(WarehouseSettings(path=path)) as warehouse:
        yield Night(warehouse, tmp_path / "landing")


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    """Return an empty folder that stands for a bucket."""
    folder = tmp_path / "bucket"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def moto_port() -> Iterator[int]:
    """Run moto's server for as long as tests ask for it; return its port."""
    with moto_server() as port:
        yield port


@pytest.fixture
def aws(moto_port: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Aws]:
    """Return an AWS with nothing in it, behind a proxy of the test's own, and credentials for it in the environment."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    urllib.request.urlopen(f"http://127.0.0.1:{moto_port}/moto-api/reset", data=b"").close()
    with proxy(moto_port) as aws:
        yield aws


@pytest.fixture(scope="session")
def running_bigquery() -> Iterator[Emulator]:
    """Run the emulator of BigQuery for as long as tests ask for it, or skip where it cannot be had."""
    with emulator() as bigquery:
        yield bigquery


@pytest.fixture
def bigquery(running_bigquery: Emulator) -> Iterator[Emulator]:
    """Return a BigQuery with nothing in it."""
    yield running_bigquery
    running_bigquery.reset()


@pytest.fixture(scope="session")
def gcs_port() -> Iterator[int]:
    """Run a server of Cloud Storage for as long as tests ask for it, or skip without one; return its port."""
    with gcs_server() as port:
        yield port


@pytest.fixture
def gcs(gcs_port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gcs]:
    """Return a Cloud Storage with an empty bucket, behind a proxy of the test's own, that is asked again at once."""
    monkeypatch.setattr("ingest.fetching._PAUSE_SECONDS", 0)
    monkeypatch.setattr("ingest.gcp.gcs._PAUSE_SECONDS", 0.001)
    with storage.proxy(gcs_port) as gcs:
        gcs.make()
        yield gcs
