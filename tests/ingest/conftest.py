"""A fresh warehouse for each test of ingestion, and a folder that stands for a bucket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sql.warehouse import Warehouse
from tests.ingest.night import Night


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    """Return a warehouse in memory with nothing in it."""
    with Warehouse.in_memory() as warehouse:
        yield Night(warehouse, tmp_path / "landing")


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    """Return an empty folder that stands for a bucket."""
    folder = tmp_path / "bucket"
    folder.mkdir()
    return folder
