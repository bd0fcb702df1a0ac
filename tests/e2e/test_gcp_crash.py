"""Nights on exports in BigQuery and in Cloud Storage, killed on their way and run again."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.bigquery import DETAILED, LIKE, Emulator, emulator
from tests.fakes.crash import Edge, Forker
from tests.fakes.exports import Row, write_gcp
from tests.fakes.gcs import BUCKET, Gcs, gcs_server, proxy
from tests.fakes.nights import House, differences, gcp_rows, house, tables

pytestmark = pytest.mark.e2e

AS_OF = "2026-11-20"
IN_BIGQUERY = """\
[[source]]
name = "gcp"
kind = "gcp-bigquery"
table = "{table}"
endpoint_url = "{endpoint}"
lookback_months = 120
"""
IN_BUCKET = """\
[[source]]
name = "gcp"
kind = "gcp-export"
location = "gs://{bucket}/exports"
endpoint_url = "{endpoint}"
"""
_FETCHED = r"before file mkdir \.[0-9a-f]{16}\.overrun-tmp"
_LANDING = r"before file rename \.[0-9a-f]{16}\.overrun-tmp -> "
_SWAP = "create table parts"


@pytest.fixture(scope="module")
def bigquery() -> Iterator[Emulator]:
    """Return a BigQuery with an empty export."""
    with emulator() as bigquery:
        bigquery.make(like=LIKE)
        yield bigquery


@pytest.fixture(scope="module")
def gcs() -> Iterator[Gcs]:
    """Return a Cloud Storage with one bucket."""
    with gcs_server() as port, proxy(port) as gcs:
        gcs.make()
        yield gcs


@dataclass(frozen=True, slots=True)
class Company:
    """A night that is killed: what is there before it, what it passes, and what it leaves when it is not killed."""

    before: House
    edges: list[Edge]
    after: dict[str, object]


def outcome(place: House) -> dict[str, object]:
    """Return everything that must be as after an undisturbed night; what was asked of BigQuery may be more."""
    landing = place.folder / "landing"
    landed = {str(path.relative_to(landing)): path.stat().st_size for path in landing.rglob("*") if path.is_file()}
    found = {f"warehouse {name}": row for name, row in tables(place.warehouse).items()}
    found |= {f"finance {name}": row for name, row in tables(place.finance).items()}
    asked = {name for name in found if name.endswith('ops."query_cost"')}
    return {"leftovers": place.leftovers(), "landed": landed} | {
        name: row for name, row in found.items() if name not in asked
    }


def company(before: House, folder: Path) -> Company:
    """Return the company whose next night has a changed month and a new one."""
    undisturbed = before.moved(folder / "undisturbed" / "house")
    edges = undisturbed.night(AS_OF).edges
    return Company(before, edges, outcome(undisturbed))


def points_of(edges: list[Edge]) -> dict[str, int]:
    """Return the edges at which nights are killed, by what has happened until then."""
    fetched = [number for number, edge in enumerate(edges) if re.match(_FETCHED, str(edge))]
    landing = [number for number, edge in enumerate(edges) if re.match(_LANDING, str(edge))]
    swapped = next(number for number, edge in enumerate(edges) if edge.detail.startswith(_SWAP))
    assert (len(fetched), len(landing)) == (2, 2)
    return {
        "fetched, and not landed": fetched[0],
        "half landed": landing[0],
        "written aside, and not swapped": next(
            n for n in range(swapped, len(edges)) if str(edges[n]).startswith("before sql begin")
        ),
        "loaded, and not committed": next(
            n for n in range(swapped, len(edges)) if str(edges[n]) == "before sql commit"
        ),
        "one month loaded, the other landed": landing[1] + 1,
    }


def check_landed(place: House, point: str) -> None:
    """See that every version that has landed is whole: the files that its record names, of their sizes."""
    for record in (place.folder / "landing").glob("*/????-??/[!.]*/"):
        files = json.loads((record / "delivery.json").read_text(encoding="utf-8"))["files"]
        assert {item["name"]: item["size"] for item in files} == {
            path.name: path.stat().st_size for path in record.iterdir() if path.name != "delivery.json"
        }, point


def check_nights(started: Company, folder: Path) -> None:
    """Kill the night at each point, and see that the next one leaves what an undisturbed one does."""
    for point, number in points_of(started.edges).items():
        place = started.before.moved(folder / str(number) / "house")
        place.killed("nightly", "--as-of", AS_OF, at=number)
        check_landed(place, point)
        place.night(AS_OF)
        assert differences(outcome(place), started.after) == [], point
        shutil.rmtree(place.folder.parent)


def test_a_killed_night_on_bigquery_heals(bigquery: Emulator, forker: Forker, tmp_path: Path) -> None:
    home = house(tmp_path / "before" / "house", forker, HOME=str(tmp_path))
    home.configure(IN_BIGQUERY.format(table=DETAILED, endpoint=bigquery.rest))
    bigquery.add(gcp_rows("2026-10", "1", "2"))
    home.night(AS_OF)
    bigquery.add([*gcp_rows("2026-10", "4"), *gcp_rows("2026-11", "8")])

    check_nights(company(home, tmp_path), tmp_path)


def test_a_killed_night_on_cloud_storage_heals(gcs: Gcs, forker: Forker, tmp_path: Path) -> None:
    home = house(tmp_path / "before" / "house", forker, HOME=str(tmp_path))
    home.configure(IN_BUCKET.format(bucket=BUCKET, endpoint=gcs.endpoint))
    deliver(gcs, tmp_path, "a.ndjson", *gcp_rows("2026-10", "1", "2"))
    deliver(gcs, tmp_path, "b.parquet", *gcp_rows("2026-10", "16"))
    home.night(AS_OF)
    deliver(gcs, tmp_path, "a.ndjson", *gcp_rows("2026-10", "1", "2", "4"))
    deliver(gcs, tmp_path, "c.ndjson.gz", *gcp_rows("2026-11", "8"))

    check_nights(company(home, tmp_path), tmp_path)


def deliver(gcs: Gcs, folder: Path, name: str, *rows: Row) -> None:
    """Put a file of the export into the bucket."""
    gcs.put(f"exports/{name}", write_gcp(folder / name, rows).read_bytes())
