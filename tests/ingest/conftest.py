"""A fresh warehouse for each test of ingestion, and a folder that stands for a bucket."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sql.parts import prepare
from sql.warehouse import Warehouse, WarehouseSettings
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
