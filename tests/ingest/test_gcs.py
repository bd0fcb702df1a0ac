"""Exports in Cloud Storage: listed each night, fetched when something changed, and each refusal told apart."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from pathlib import Path

import pytest

from ingest.errors import SourceChanged, SourceDenied, SourceUnreadable
from ingest.fetching import fetch_objects
from ingest.gcp.gcs import GcsBucket
from ingest.source import GcsLocation, Patience, SourceSettings
from tests.fakes.exports import gcp_row, write_gcp
from tests.fakes.gcs import BUCKET, Gcs
from tests.ingest.night import Night, source

CONTENT = random.Random(7).randbytes(4500)  # noqa: S311 - any bytes


def place(gcs: Gcs, prefix: str = "", bucket: str = BUCKET) -> GcsLocation:
    return GcsLocation(bucket=bucket, prefix=prefix, endpoint_url=gcs.endpoint, patience=Patience(attempts=3))


def in_gcs(gcs: Gcs, prefix: str = "", bucket: str = BUCKET) -> SourceSettings:
    return source(place(gcs, prefix, bucket), "gcp-export")


def deliver(gcs: Gcs, folder: Path, key: str, *costs: str) -> None:
    write_gcp(folder / key, [gcp_row(cost=cost) for cost in costs])
    gcs.put(key, (folder / key).read_bytes())


@pytest.mark.parametrize("name", ["p-000000000000.parquet", "p.ndjson", "p.csv.gz"])
def test_files_below_a_prefix_load_and_a_second_night_only_lists(
    night: Night, bucket: Path, gcs: Gcs, name: str
) -> None:
    deliver(gcs, bucket, f"exports/gcp/{name}", "1.25", "2")
    deliver(gcs, bucket, f"exports/gcp2/{name}", "100")
    night.load(in_gcs(gcs, "exports/gcp"))
    assert night.billed() == Decimal("3.25")
    before = night.fingerprint()
    gcs.asked.clear()

    report = night.load(in_gcs(gcs, "exports/gcp"))

    assert not report.loaded
    assert {asked.kind for asked in gcs.asked} == {"LIST"}
    assert night.fingerprint() == before


def test_a_file_that_changed_is_fetched_alone(night: Night, bucket: Path, gcs: Gcs) -> None:
    for name in ("a.ndjson", "b.ndjson"):
        deliver(gcs, bucket, name, "1" if name == "a.ndjson" else "5")
    night.load(in_gcs(gcs))
    gcs.asked.clear()
    deliver(gcs, bucket, "b.ndjson", "7")

    night.load(in_gcs(gcs))

    assert night.billed() == 8
    assert {asked.key for asked in gcs.asked if asked.kind == "GET"} == {"b.ndjson"}


def test_a_location_may_be_one_file(night: Night, bucket: Path, gcs: Gcs) -> None:
    deliver(gcs, bucket, "x/a.ndjson", "1")
    deliver(gcs, bucket, "x/a.ndjson.bak.ndjson", "5")

    night.load(in_gcs(gcs, "x/a.ndjson"))

    assert night.billed() == 1


def test_listing_goes_over_pages(night: Night, bucket: Path, gcs: Gcs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.gcp.gcs._PAGE", 2)
    for number in range(5):
        deliver(gcs, bucket, f"p{number}.ndjson", str(number + 1))

    night.load(in_gcs(gcs))

    assert night.billed() == 15
    assert gcs.count("LIST") == 3


def test_ranges_that_came_before_a_failure_are_kept(gcs: Gcs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.fetching.RANGE_BYTES", 1000)
    gcs.put("a", CONTENT)
    reader = GcsBucket(place(gcs))
    gcs.once(lambda asked: asked.range == "bytes=2000-2999", (403, b"{}"))
    with pytest.raises(SourceDenied):
        fetch_objects(reader, list(reader.below("")), tmp_path / "f")
    came = len((tmp_path / "f" / "ranges").read_text(encoding="utf-8").splitlines())
    gcs.asked.clear()

    fetched = fetch_objects(reader, list(reader.below("")), tmp_path / "f")

    assert fetched["a"].path.read_bytes() == CONTENT
    assert gcs.count("GET") == 5 - came


def test_a_body_that_breaks_off_goes_on_where_it_broke(gcs: Gcs, tmp_path: Path) -> None:
    gcs.put("a", CONTENT)
    reader = GcsBucket(place(gcs))
    gcs.once(lambda asked: asked.kind == "GET", 1000)

    fetched = fetch_objects(reader, list(reader.below("")), tmp_path / "f")

    assert fetched["a"].path.read_bytes() == CONTENT
    assert [asked.range for asked in gcs.asked if asked.kind == "GET"] == ["bytes=0-4499", "bytes=1000-4499"]


def test_an_object_that_was_replaced_is_not_mixed(gcs: Gcs, tmp_path: Path) -> None:
    gcs.put("a", CONTENT)
    reader = GcsBucket(place(gcs))
    objects = list(reader.below(""))
    gcs.put("a", CONTENT[::-1])

    with pytest.raises(SourceChanged, match="replaced or removed"):
        fetch_objects(reader, objects, tmp_path / "f")


def test_a_file_that_arrives_damaged_is_refused_and_fetched_again(gcs: Gcs, tmp_path: Path) -> None:
    gcs.put("a", CONTENT)
    reader = GcsBucket(place(gcs))
    gcs.once(lambda asked: asked.kind == "GET", (200, bytes(len(CONTENT))))
    with pytest.raises(SourceUnreadable, match="damaged: its MD5"):
        fetch_objects(reader, list(reader.below("")), tmp_path / "f")

    assert fetch_objects(reader, list(reader.below("")), tmp_path / "f")["a"].path.read_bytes() == CONTENT


SCOPE = json.dumps(
    {"error": {"code": 403, "message": "Request had insufficient authentication scopes.", "errors": []}}
).encode()
REFUSALS = [
    ((401, b"{}"), "does not take the credentials", "service account", 1),
    ((403, b"{}"), "storage.objects.list on gs://acme-billing is missing", "roles/storage.objectViewer", 1),
    ((403, SCOPE), "leave Cloud Storage out", "cloud-platform", 1),
    ((404, b"{}"), "no bucket of that name", "location", 1),
    ((429, b"{}"), "fewer requests", "next run", 3),
    ((503, b"{}"), "does not answer now (503", "next run", 3),
    ((400, b"{}"), "with 400", "requester-pays", 1),
]


@pytest.mark.parametrize(("answer", "message", "hint", "tries"), REFUSALS, ids=[row[1][:20] for row in REFUSALS])
def test_each_refusal_says_what_to_mend(
    night: Night, gcs: Gcs, answer: tuple[int, bytes], message: str, hint: str, tries: int
) -> None:
    gcs.rules.append(lambda _: answer)

    problem = night.refusal(in_gcs(gcs))

    assert message in str(problem)
    assert hint in str(problem.hint)
    assert [asked.kind for asked in gcs.asked] == ["LIST"] * tries


def test_a_refusal_that_passes_is_borne(night: Night, bucket: Path, gcs: Gcs) -> None:
    deliver(gcs, bucket, "a.ndjson", "1")
    for kind in ("LIST", "GET"):
        gcs.once(lambda asked, kind=kind: asked.kind == kind, (503, b"{}"))  # type: ignore[misc]

    night.load(in_gcs(gcs))

    assert night.billed() == 1


def test_a_bucket_that_is_not_there_is_said(night: Night, gcs: Gcs) -> None:
    assert "no bucket of that name" in str(night.refusal(in_gcs(gcs, bucket="no-such-bucket")))


def test_an_endpoint_where_nobody_listens_is_said(night: Night) -> None:
    location = GcsLocation(bucket=BUCKET, prefix="", endpoint_url="http://127.0.0.1:9", patience=Patience(attempts=1))

    assert "127.0.0.1 cannot be reached" in str(night.refusal(source(location, "gcp-export")))
