"""Fetching from S3: whole or not at all, whatever breaks on the way, and nothing twice."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

import pytest

from ingest.aws.fetch import fetch_objects
from ingest.aws.s3 import Bucket, S3Object
from ingest.errors import SourceUnreadable
from ingest.fetching import Fetched, remove_others
from ingest.source import AwsAccess, Patience, S3Location
from tests.fakes.aws import BUCKET, Asked, Aws, Cut, First, Refuse, Spoil
from tests.fakes.exports import cur_lines, deliver_legacy
from tests.ingest.night import Night, source
from tests.ingest.test_s3_deliveries import in_s3

RANGE = 1000
"""Bytes of a range in these tests."""
CONTENT = random.Random(7).randbytes(4500)  # noqa: S311 - any bytes


@pytest.fixture(autouse=True)
def _small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.fetching.RANGE_BYTES", RANGE)
    monkeypatch.setattr("ingest.fetching._PAUSE_SECONDS", 0)


def reader(aws: Aws, **access: Any) -> Bucket:  # noqa: ANN401 - a field of any type
    """Return the bucket as a source reads it; `access` is further fields of AwsAccess."""
    location = S3Location(bucket=BUCKET, prefix="")
    return Bucket(source(location, access=AwsAccess(endpoint_url=aws.endpoint, **access)), location)


def put(aws: Aws, **contents: bytes) -> list[S3Object]:
    """Put objects by name into a new bucket and return them as a listing shows them."""
    client = aws.bucket()
    for name, content in contents.items():
        client.put_object(Bucket=BUCKET, Key=name, Body=content)
    objects = reader(aws).below("")
    aws.forget()
    return objects


def is_data(asked: Asked) -> bool:
    return asked.kind == "GET"


def see_whole(fetched: Fetched, content: bytes) -> None:
    """See that a file is what was put."""
    assert fetched.path.read_bytes() == content
    assert fetched.sha256 == hashlib.sha256(content).hexdigest()


def test_small_objects_take_one_request_and_large_ones_one_per_range(aws: Aws, tmp_path: Path) -> None:
    objects = put(aws, small=b"x" * RANGE, large=CONTENT, empty=b"")

    fetched = fetch_objects(reader(aws), objects, tmp_path / "f")

    see_whole(fetched["small"], b"x" * RANGE)
    see_whole(fetched["large"], CONTENT)
    see_whole(fetched["empty"], b"")
    ranges = [asked.range for asked in aws.asked if is_data(asked) and asked.key == "large"]
    assert sorted(ranges, key=str) == [f"bytes={at}-{min(at + RANGE, 4500) - 1}" for at in range(0, 4500, RANGE)]
    assert [asked.range for asked in aws.asked if is_data(asked) and asked.key == "small"] == [None]
    assert aws.count("GET", "empty") == 0


def test_what_was_fetched_is_not_fetched_again(aws: Aws, tmp_path: Path) -> None:
    objects = put(aws, a=CONTENT, b=b"b")
    before = fetch_objects(reader(aws), objects, tmp_path / "f")
    aws.forget()

    assert fetch_objects(reader(aws), objects, tmp_path / "f") == before
    assert aws.asked == []


def test_ranges_that_came_before_a_failure_are_not_fetched_again(aws: Aws, tmp_path: Path) -> None:
    objects = put(aws, a=CONTENT)
    aws.once(lambda asked: asked.range == "bytes=2000-2999", Refuse(403, "AccessDenied"))
    with pytest.raises(SourceUnreadable, match="s3:GetObject"):
        fetch_objects(reader(aws), objects, tmp_path / "f")
    came = len((tmp_path / "f" / "ranges").read_text(encoding="utf-8").splitlines())
    aws.forget()

    see_whole(fetch_objects(reader(aws), objects, tmp_path / "f")["a"], CONTENT)

    assert aws.count("GET") == 5 - came
    assert "bytes=2000-2999" in {asked.range for asked in aws.asked}


def test_what_a_power_cut_spoilt_is_fetched_again(aws: Aws, tmp_path: Path) -> None:
    objects = put(aws, a=CONTENT)
    path = fetch_objects(reader(aws), objects, tmp_path / "f")["a"].path
    spoilt = bytearray(CONTENT)
    spoilt[2500] ^= 1
    path.write_bytes(spoilt[:4200])
    notes = tmp_path / "f" / "ranges"
    notes.write_text(notes.read_text(encoding="utf-8") + f"{path.name} 1000 20", encoding="utf-8")
    aws.forget()

    see_whole(fetch_objects(reader(aws), objects, tmp_path / "f")["a"], CONTENT)

    assert sorted(str(asked.range) for asked in aws.asked) == ["bytes=2000-2999", "bytes=4000-4499"]


def test_what_came_of_another_version_is_discarded(aws: Aws, tmp_path: Path) -> None:
    objects = put(aws, a=CONTENT)
    old = fetch_objects(reader(aws), objects, tmp_path / "f")["a"].path
    aws.client().put_object(Bucket=BUCKET, Key="a", Body=CONTENT[::-1])

    now = reader(aws).below("")
    remove_others(now, tmp_path / "f")
    see_whole(fetch_objects(reader(aws), now, tmp_path / "f")["a"], CONTENT[::-1])

    assert not old.exists()


@pytest.mark.parametrize(("at", "length"), [(0, RANGE), (2000, RANGE), (4000, 500)])
def test_a_download_cut_at_any_byte_goes_on_from_there(aws: Aws, tmp_path: Path, at: int, length: int) -> None:
    objects, bucket = put(aws, a=CONTENT), reader(aws)
    for after in (0, 1, length // 2, length - 1):
        aws.forget()
        aws.once(lambda asked: str(asked.range).startswith(f"bytes={at}-"), Cut(after))

        see_whole(fetch_objects(bucket, objects, tmp_path / str(after))["a"], CONTENT)

        asked = [asked.range for asked in aws.asked if str(asked.range).endswith(f"-{at + length - 1}")]
        assert asked == [f"bytes={at}-{at + length - 1}", f"bytes={at + after}-{at + length - 1}"]
        assert aws.count("GET") == 6


@pytest.mark.parametrize("cut", [Cut(300, is_reset=True), Cut(300, seconds=1.5)])
def test_a_connection_that_is_reset_or_falls_silent_is_opened_again(aws: Aws, tmp_path: Path, cut: Cut) -> None:
    bucket = reader(aws, patience=Patience(read_seconds=0.5))
    objects = put(aws, a=CONTENT)
    aws.once(lambda asked: asked.range == "bytes=1000-1999", cut)

    see_whole(fetch_objects(bucket, objects, tmp_path / "f")["a"], CONTENT)

    assert aws.count("GET") == 6


def test_a_connection_that_always_breaks_is_given_up(aws: Aws, tmp_path: Path) -> None:
    objects = put(aws, a=b"x" * 100)
    aws.once(is_data, Cut(0), times=100)

    with pytest.raises(SourceUnreadable, match="a: the connection broke 5 times at one place") as refused:
        fetch_objects(reader(aws), objects, tmp_path / "f")

    assert aws.count("GET") == 5
    assert "the next run goes on" in str(refused.value.hint)


def test_a_manifest_is_read_through_a_broken_connection(aws: Aws) -> None:
    [item] = put(aws, manifest=CONTENT)
    aws.once(is_data, Cut(10))

    assert reader(aws).read(item) == CONTENT


def test_a_moment_of_throttling_is_waited_for(aws: Aws, tmp_path: Path) -> None:
    objects = put(aws, a=CONTENT)
    aws.once(is_data, Refuse(503, "SlowDown"))

    see_whole(fetch_objects(reader(aws), objects, tmp_path / "f")["a"], CONTENT)


@pytest.mark.parametrize("size", [700, 2500])
def test_a_file_that_arrives_damaged_is_refused_and_fetched_again(aws: Aws, tmp_path: Path, size: int) -> None:
    objects = put(aws, a=CONTENT[:size])
    aws.once(is_data, Spoil())

    with pytest.raises(SourceUnreadable, match="arrived damaged"):
        fetch_objects(reader(aws), objects, tmp_path / "f")

    see_whole(fetch_objects(reader(aws), objects, tmp_path / "f")["a"], CONTENT[:size])


def upload_in_parts(aws: Aws, *sizes: int) -> tuple[bytes, S3Object]:
    """Upload an object in parts; return its content, and how a listing shows it."""
    client = aws.bucket()
    content = random.Random(3).randbytes(sum(sizes))  # noqa: S311 - any bytes
    upload = client.create_multipart_upload(Bucket=BUCKET, Key="big")["UploadId"]
    parts, at = [], 0
    for number, size in enumerate(sizes, start=1):
        tag = client.upload_part(
            Bucket=BUCKET, Key="big", UploadId=upload, PartNumber=number, Body=content[at : at + size]
        )["ETag"]
        parts.append({"ETag": tag, "PartNumber": number})
        at += size
    client.complete_multipart_upload(
        Bucket=BUCKET,
        Key="big",
        UploadId=upload,
        MultipartUpload={"Parts": parts},  # type: ignore[typeddict-item]
    )
    [item] = reader(aws).below("")
    aws.forget()
    return content, item


MIB = 1 << 20


@pytest.mark.parametrize("sizes", [(5 * MIB, 5 * MIB, 17), (5 * MIB, 6 * MIB, 5 * MIB)])
def test_an_object_of_several_parts_is_seen_to_be_whole(
    aws: Aws, tmp_path: Path, sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.fetching.RANGE_BYTES", 8 * MIB)
    content, item = upload_in_parts(aws, *sizes)
    assert item.etag.endswith("-3")

    see_whole(fetch_objects(reader(aws), [item], tmp_path / "f")["big"], content)

    aws.once(is_data, Spoil())
    with pytest.raises(SourceUnreadable, match="arrived damaged"):
        fetch_objects(reader(aws), [item], tmp_path / "g")


def test_an_entity_tag_under_a_kms_key_is_not_taken_for_a_checksum(aws: Aws, tmp_path: Path) -> None:
    client = aws.bucket()
    client.put_object(Bucket=BUCKET, Key="a", Body=CONTENT, ServerSideEncryption="aws:kms")
    [item] = reader(aws).below("")
    aws.once(is_data, Spoil())

    [fetched] = fetch_objects(reader(aws), [item], tmp_path / "f").values()
    # After a kill nothing is fetched, so no answer says how the object is encrypted.
    again = fetch_objects(reader(aws), [item], tmp_path / "f")["a"]

    assert fetched == again
    assert fetched.path.stat().st_size == len(CONTENT)


# In a night


def test_a_chunk_that_is_replaced_between_manifest_and_fetch(night: Night, bucket: Path, aws: Aws) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1")], assembly=None)
    aws.bucket()
    aws.upload(bucket)
    night.load(in_s3(aws))
    files = deliver_legacy(bucket, "2026-10", [cur_lines("2"), cur_lines("3")], assembly=None)
    aws.upload(bucket)
    files[0].write_bytes(b"newer")
    aws.once(lambda asked: asked.kind == "GET" and "00001" in asked.path, First(lambda: aws.upload(bucket)))

    problem = night.refusal(in_s3(aws))

    assert "it was replaced or removed while the month was fetched" in str(problem)
    assert f"{problem.billing_month:%Y-%m}" == "2026-10"
    assert night.billed() == 1
    deliver_legacy(bucket, "2026-10", [cur_lines("2"), cur_lines("4")], assembly=None)
    aws.upload(bucket)
    night.load(in_s3(aws))
    assert night.billed() == 6
    assert not list(night.landing.rglob(".fetch"))


def test_a_chunk_that_is_removed_between_manifest_and_fetch(night: Night, bucket: Path, aws: Aws) -> None:
    [file] = deliver_legacy(bucket, "2026-10", [cur_lines("1")], assembly=None)
    client = aws.bucket()
    aws.upload(bucket)
    key = file.relative_to(bucket).as_posix()
    aws.once(is_chunk, First(lambda: client.delete_object(Bucket=BUCKET, Key=key)))

    assert "replaced or removed" in str(night.refusal(in_s3(aws)))


def test_what_an_abandoned_fetch_left_is_removed(night: Night, bucket: Path, aws: Aws) -> None:
    deliver_legacy(bucket, "2026-09", [cur_lines("1", month="2026-09")], assembly=None)
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("2")], assembly=None)
    client = aws.bucket()
    aws.upload(bucket)
    aws.once(lambda asked: is_chunk(asked) and "20261001-" in asked.path, Refuse(403, "AccessDenied"))
    night.refusal(in_s3(aws))
    [left] = night.landing.rglob(".fetch")
    assert left.parent.name == "2026-10"
    for key in [item.key for item in reader(aws).below("") if "20261001-" in item.key]:
        client.delete_object(Bucket=BUCKET, Key=key)

    night.load(in_s3(aws))

    assert not left.exists()


def is_chunk(asked: Asked) -> bool:
    return asked.kind == "GET" and ".csv" in asked.path


def test_a_manifest_that_changes_while_chunks_are_fetched(night: Night, bucket: Path, aws: Aws) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("2")], assembly="20261002T000000Z")
    aws.bucket()
    aws.upload(bucket)

    def deliver() -> None:
        deliver_legacy(bucket, "2026-10", [cur_lines("4")], assembly="20261003T000000Z")
        aws.upload(bucket)

    aws.once(is_chunk, First(deliver))

    problem = night.refusal(in_s3(aws))

    assert "the manifest changed while the files that it names were fetched" in str(problem)
    assert night.rows("1") == []
    night.load(in_s3(aws))
    assert night.billed() == 4


def test_a_manifest_that_is_replaced_before_it_is_read(night: Night, bucket: Path, aws: Aws) -> None:
    for month in ("2026-09", "2026-10"):
        deliver_legacy(bucket, month, [cur_lines("1", month=month)], assembly=None)
    aws.bucket()
    aws.upload(bucket)

    def deliver() -> None:
        deliver_legacy(bucket, "2026-10", [cur_lines("4")], assembly=None)
        aws.upload(bucket)

    aws.once(lambda asked: asked.kind == "GET" and "20261001-" in asked.path, First(deliver))

    assert "replaced or removed" in str(night.refusal(in_s3(aws)))
    assert night.billed() == 1
    night.load(in_s3(aws))
    assert night.billed() == 5


def test_a_month_that_cannot_be_fetched_leaves_the_others(night: Night, bucket: Path, aws: Aws) -> None:
    for month in ("2026-09", "2026-10"):
        deliver_legacy(bucket, month, [cur_lines("1", month=month)])
    aws.bucket()
    aws.upload(bucket)
    aws.once(lambda asked: is_chunk(asked) and "20260901" in asked.path, Refuse(403, "AccessDenied"))

    problem = night.refusal(in_s3(aws))

    assert f"{problem.billing_month:%Y-%m}" == "2026-09"
    assert night.values("x_BillingMonth") == [night.warehouse.value("select date '2026-10-01'")]


def test_months_are_fetched_one_by_one_just_before_they_are_loaded(night: Night, bucket: Path, aws: Aws) -> None:
    for month in ("2026-09", "2026-10"):
        deliver_legacy(bucket, month, [cur_lines("1", month=month)])
    aws.bucket()
    aws.upload(bucket)
    landed: list[list[str]] = []
    aws.once(
        lambda asked: is_chunk(asked) and "20261001-" in asked.path,
        First(lambda: landed.append([path.parent.parent.name for path in night.landing.rglob("delivery.json")])),
    )

    night.load(in_s3(aws))

    assert landed == [["2026-09"]]


def test_a_landed_file_is_the_fetched_one_under_another_name(night: Night, bucket: Path, aws: Aws) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])
    aws.bucket()
    aws.upload(bucket)
    copied: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sql.files.copy_whole", lambda *_: copied.append("copy"))
        night.load(in_s3(aws))

    assert copied == []
    [path] = night.landing.rglob("*.csv.gz")
    assert path.stat().st_nlink == 1
