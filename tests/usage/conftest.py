"""A warehouse that loads runs, and a folder that sources list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.landed import create_macros
from sql.parts import prepare
from sql.warehouse import Warehouse, WarehouseSettings
from tests.usage.loading import Loading


@pytest.fixture
def loading(tmp_path: Path) -> Iterator[Loading]:
    """Return a warehouse with nothing in it, and an empty folder beside it."""
    folder = tmp_path / "told"
    folder.mkdir()
    with Warehouse.open(WarehouseSettings(path=tmp_path / "warehouse.duckdb")) as warehouse:
        prepare(warehouse)
        create_macros(warehouse, None)
        yield Loading(warehouse, folder)
