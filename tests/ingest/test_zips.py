"""Zip files of reports: read like any other chunk; one clear error where they are broken or hostile."""

from __future__ import annotations

import io
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest import unpack
from ingest.delivery import DeliveredFile
from ingest.errors import SourceUnreadable
from ingest.unpack import MAX_MEMBERS, unpacked
from sql.errors import DiskFull
from sql.text import visible
from sql.warehouse import Warehouse
from tests.fakes.exports import (
    Row,
    csv_text,
    cur_lines,
    deliver_legacy,
    header_of,
    legacy_rows,
    write_bytes,
    write_cur,
)
from tests.ingest.night import Night, source

MARK = ".overrun-tmp"


def report_text(rows: Sequence[Row]) -> str:
    """Return lines as the CSV text of a legacy report."""
    named = legacy_rows(rows)
    header = header_of(named)
    return csv_text(header, [[str(row[name]) for name in header] for row in named])


def zipped(*members: tuple[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip of members in the order given."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return stream.getvalue()


def deliver_zips(bucket: Path, month: str, chunks: Sequence[Sequence[Row]]) -> list[Path]:
    """Deliver a month of a legacy report whose chunks are zips, as AWS names them."""
    paths = deliver_legacy(bucket, month, chunks, suffix=".csv.zip")
    for path, rows in zip(paths, chunks, strict=True):
        path.write_bytes(zipped((path.name.removesuffix(".zip"), report_text(rows))))
    return paths


def left_behind(place: Path) -> list[Path]:
    """Return what was unpacked and is still there."""
    return list(place.rglob(f"*{MARK}"))


def test_a_month_delivered_as_zip_is_the_month_delivered_as_gzip_row_for_row(night: Night, tmp_path: Path) -> None:
    tags = {"resourceTags/user:team": 'vision, "ml"\nnight', "product/region": "eu-west-1"}
    chunks = [cur_lines("1.25", "2", **tags), cur_lines("3", "0.000000000004", item="Tax")]
    deliver_legacy(tmp_path / "gz", "2026-10", chunks)
    deliver_zips(tmp_path / "zip", "2026-10", chunks)
    night.load(source(tmp_path / "gz"))
    expected = night.rows('* exclude ("x_LoadId")')
    load = night.warehouse.row("select version, files, rows_loaded from ops.load where is_current")

    night.load(source(tmp_path / "zip"))

    assert len(expected) == 4
    assert night.rows('* exclude ("x_LoadId")') == expected
    again = night.warehouse.row("select version, files, rows_loaded from ops.load where is_current")
    assert again is not None
    assert load is not None
    assert again[1:] == load[1:]
    assert again[0] != load[0]
    assert left_behind(tmp_path) == []


def test_the_landed_file_is_the_zip_as_delivered(night: Night, bucket: Path) -> None:
    [path] = deliver_zips(bucket, "2026-10", [cur_lines("1")])

    [load] = night.load(source(bucket)).loaded

    assert [file.path.read_bytes() for file in load.delivery.files] == [path.read_bytes()]
    assert night.landing in load.delivery.files[0].path.parents
    assert night.load(source(bucket)).loaded == []


def test_members_are_chunks_in_the_order_of_their_names(night: Night, bucket: Path) -> None:
    members = [(f"{folder}/part.csv", report_text(cur_lines(cost))) for folder, cost in (("b", "2"), ("a", "1"))]
    write_bytes(bucket / "report.zip", zipped(("a/", ""), *members, ("c.CSV", report_text(cur_lines("3")))))

    night.load(source(bucket, period="2026-10"))

    assert night.values("BilledCost") == [1, 2, 3]
    assert night.values("x_RowNumber") == [1, 2, 3]


def test_a_loose_zip_belongs_to_the_months_of_its_rows(night: Night, bucket: Path) -> None:
    lines = [*cur_lines("1", month="2026-09"), *cur_lines("2", "4")]
    write_bytes(bucket / "loose.csv.zip", zipped(("loose.csv", report_text(lines))))

    night.load(source(bucket, period="from-rows"))

    months = night.warehouse.rows(
        'select strftime("x_BillingMonth", \'%Y-%m\'), sum("BilledCost") from'
        " focus.cost_and_usage group by 1 order by 1"
    )
    assert months == [("2026-09", 1), ("2026-10", 6)]
    assert left_behind(bucket.parent) == []


def test_a_stored_member_is_read_like_a_packed_one(night: Night, bucket: Path) -> None:
    content = zipped(("a.csv", report_text(cur_lines("5"))), method=zipfile.ZIP_STORED)
    write_bytes(bucket / "report.zip", content)

    night.load(source(bucket, period="2026-10"))

    assert night.billed() == 5


def test_a_zip_beside_a_gzip_is_a_chunk_of_the_same_month(night: Night, bucket: Path) -> None:
    write_cur(bucket / "a.csv.gz", cur_lines("1"))
    write_bytes(bucket / "b.csv.zip", zipped(("b.csv", report_text(cur_lines("2")))))

    night.load(source(bucket, period="2026-10"))

    assert night.billed() == 3


def test_a_bad_row_of_a_member_is_refused_with_the_members_name(night: Night, bucket: Path) -> None:
    [path] = deliver_zips(bucket, "2026-10", [cur_lines("1", "plenty")])

    problem = night.refusal(source(bucket))

    assert "row 2, column lineItem/UnblendedCost: 'plenty'" in str(problem)
    assert path.name.removesuffix(".zip") in str(problem)
    assert left_behind(bucket.parent) == []


def test_what_a_killed_run_had_unpacked_is_removed_by_the_next(night: Night, bucket: Path) -> None:
    assert night.warehouse.path is not None
    folder = night.warehouse.path.with_name(f".{night.warehouse.path.name}.unpacked{MARK}")
    write_bytes(folder / "00001" / "0001" / "a.csv", b"left")
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])

    night.load(source(bucket))

    assert left_behind(bucket.parent) == []


def _flagged(content: bytes, *, flag: int = 0, method: int | None = None) -> bytes:
    """Return a zip of one member whose headers carry a flag or another method."""
    changed = bytearray(content)
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = content.index(signature) + at
        flags, packed = struct.unpack_from("<HH", changed, start)
        struct.pack_into("<HH", changed, start, flags | flag, packed if method is None else method)
    return bytes(changed)


def _sized(content: bytes, size: int) -> bytes:
    """Return a zip of one member whose directory claims that so many bytes are unpacked."""
    changed = bytearray(content)
    struct.pack_into("<I", changed, content.index(b"PK\x01\x02") + 24, size)
    return bytes(changed)


def _shortened(content: bytes, size: int) -> bytes:
    """Return a zip of one member whose directory knows of its first `size` bytes only, with their checksum."""
    changed = bytearray(_sized(content, size))
    struct.pack_into("<I", changed, content.index(b"PK\x01\x02") + 16, zlib.crc32(GOOD_TEXT.encode()[:size]))
    return bytes(changed)


def _damaged(content: bytes) -> bytes:
    """Return a zip of one stored member with one byte of its content changed."""
    return content.replace(b"USD", b"EUR")


def _twice() -> bytes:
    """Return a zip with two members of one name."""
    with pytest.warns(UserWarning, match="Duplicate name"):
        return zipped(("a.csv", GOOD_TEXT), ("a.csv", GOOD_TEXT))


GOOD_TEXT = report_text(cur_lines("1", "2", "4"))
GOOD = zipped(("a.csv", GOOD_TEXT))
MEGABYTE = b"0,0,0,0\n" * (1 << 17)


def hostile() -> Iterator[tuple[str, bytes, str]]:
    """Yield zips that are refused: what is wrong, the content, and words of the error."""
    yield "no member", zipped(), "no file in it"
    yield "folders alone", zipped(("a/", "")), "no file in it"
    yield "no zip", b"no such thing", "truncated or no zip"
    yield "zero bytes", b"", "0 bytes"
    yield "cut at its end", GOOD[:-10], "truncated or no zip"
    yield "cut at its start", GOOD[40:], "truncated"
    yield "an absolute name", zipped(("/etc/a.csv", GOOD_TEXT)), "not that of a file"
    yield "a drive", zipped(("C:a.csv", GOOD_TEXT)), "not that of a file"
    yield "a way out", zipped(("../../a.csv", GOOD_TEXT)), "not that of a file"
    yield "a way out in the middle", zipped(("b/../../a.csv", GOOD_TEXT)), "not that of a file"
    yield "backslashes", zipped(("..\\a.csv", GOOD_TEXT)), "not that of a file"
    yield "a control character", zipped(("a\x1b[2J.csv", GOOD_TEXT)), "not that of a file"
    yield "a right-to-left override", zipped(("a\u202evsc.csv", GOOD_TEXT)), "not that of a file"
    yield "an empty name", GOOD.replace(b"a.csv", b"\0.csv"), "not that of a file"
    yield "another format", zipped(("a.csv", GOOD_TEXT), ("b.parquet", "PAR1")), "b.parquet"
    yield "a zip in a zip", zipped(("b.csv.zip", GOOD)), "no .csv file"
    yield "a gzip in a zip", zipped(("b.csv.gz", b"")), "no .csv file"
    yield "an encrypted member", _flagged(GOOD, flag=1), "encrypted"
    yield "an unknown method", _flagged(GOOD, method=99), "method 99"
    yield "lzma", zipped(("a.csv", GOOD_TEXT), method=zipfile.ZIP_LZMA), "method 14"
    yield "damage", _damaged(zipped(("a.csv", GOOD_TEXT), method=zipfile.ZIP_STORED)), "damaged"
    yield "a size too small", _sized(GOOD, len(GOOD_TEXT) // 2), "member a.csv"
    yield "a size and a checksum of its beginning", _shortened(GOOD, len(GOOD_TEXT) // 2), "member a.csv"
    yield "a size too large", _sized(GOOD, len(GOOD_TEXT) + 1), "not as long as the zip says"
    yield "a size beyond any disk", _sized(GOOD, 0xFFFFFFF0), "times its size"
    yield "two members of one name", _twice(), "two members"
    yield "too many members", zipped(*((f"{at:04d}.csv", "") for at in range(MAX_MEMBERS + 1))), "1001 members"
    yield "a bomb", zipped(("a.csv", MEGABYTE * 65)), "200 times its size"
    yield "a bomb of many members", zipped(*((f"{at:02d}.csv", MEGABYTE) for at in range(65))), "200 times its size"


@pytest.mark.parametrize(("content", "words"), [pytest.param(*case[1:], id=case[0]) for case in hostile()])
def test_a_broken_or_hostile_zip_is_refused_and_leaves_the_last_good_month(
    night: Night, bucket: Path, content: bytes, words: str
) -> None:
    [path] = deliver_zips(bucket, "2026-10", [cur_lines("7")])
    night.load(source(bucket))
    before = night.fingerprint()
    path.write_bytes(content)

    problem = night.refusal(source(bucket))

    assert isinstance(problem, SourceUnreadable)
    assert path.name in str(problem)
    assert words in str(problem)
    assert visible(str(problem)) == str(problem)
    assert problem.hint
    assert night.fingerprint() == before
    assert left_behind(bucket.parent) == []


def _overlapping(copies: int) -> bytes:
    """Return a zip whose directory names one packed megabyte again and again, as bombs do."""
    content = zipped(("a.csv", MEGABYTE))
    start = content.index(b"PK\x01\x02")
    end = content.index(b"PK\x05\x06")
    entry = content[start:end]
    entries = b"".join(entry.replace(b"a.csv", f"{at:05d}".encode()) for at in range(copies))
    tail = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, copies, copies, len(entries), start, 0)
    return content[:start] + entries + tail


def test_members_that_lie_upon_each_other_are_refused(night: Night, bucket: Path) -> None:
    content = _overlapping(100).replace(b"00001", b"1.csv").replace(b"00002", b"2.csv")
    write_bytes(bucket / "report.zip", content)

    assert isinstance(night.refusal(source(bucket, period="2026-10")), SourceUnreadable)
    assert left_behind(bucket.parent) == []


def test_a_zip_for_which_the_disk_has_no_room_is_refused(
    night: Night, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver_zips(bucket, "2026-10", [cur_lines("1", "2")])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100))

    problem = night.refusal(source(bucket))

    assert isinstance(problem, SourceUnreadable)
    assert "the disk has no room" in str(problem)
    assert "member ml-cur-00001.csv" in str(problem)


def test_a_disk_that_fills_up_meanwhile_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Path, pieces: Iterator[bytes]) -> None:
        next(pieces)
        raise DiskFull("the disk is full")

    monkeypatch.setattr(unpack, "write_pieces", full)
    with Warehouse.in_memory() as warehouse, pytest.raises(DiskFull), unpacked(warehouse, [_file(tmp_path, GOOD)]):
        pass


def _file(folder: Path, content: bytes) -> DeliveredFile:
    """Return a zip as it was delivered."""
    path = write_bytes(folder / "report.csv.zip", content)
    return DeliveredFile(name=path.name, path=path, size=len(content), sha256="0")


def _read(folder: Path, content: bytes) -> list[bytes]:
    """Return the content of the members of a zip; what was unpacked is gone by then."""
    with Warehouse.in_memory() as warehouse:
        with unpacked(warehouse, [_file(folder, content)]) as files:
            read = [file.path.read_bytes() for file in files]
            places = {file.path.parents[2] for file in files}
        assert not any(place.exists() for place in places)
        assert all(file.name.startswith("report.csv.zip:") for file in files)
    return read


quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(changes=st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_zip_with_wrong_bytes_gives_the_right_content_or_an_error(
    tmp_path: Path, changes: list[tuple[int, int]]
) -> None:
    content = bytearray(GOOD)
    for at, byte in changes:
        content[at] = byte
    try:
        read = _read(tmp_path, bytes(content))
    except SourceUnreadable as error:
        assert visible(str(error)) == str(error)
    else:
        assert read == [GOOD_TEXT.encode()]


@quick
@given(end=st.integers(0, len(GOOD) - 1))
def test_a_zip_that_is_cut_anywhere_is_an_error(tmp_path: Path, end: int) -> None:
    with pytest.raises(SourceUnreadable):
        _read(tmp_path, GOOD[:end])


names = st.lists(
    st.one_of(
        st.sampled_from(["..", ".", "", "a", "b.csv", "/", "C:", "\\", "a\0", "~", "%2e%2e", "é" * 90, "x" * 300]),
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: "/".join(parts)[:400] or "x")


@quick
@given(name=names, ending=st.sampled_from([".csv", ".CSV", "", ".csv/", ".csv.gz"]))
def test_a_member_of_any_name_is_read_in_its_place_or_is_an_error(tmp_path: Path, name: str, ending: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    try:
        read = _read(tmp_path, zipped((name + ending, "content")))
    except SourceUnreadable as error:
        assert visible(str(error)) == str(error)
    else:
        assert read == [b"content"]
    assert [path for path in sorted(tmp_path.rglob("*")) if path.name != "report.csv.zip"] == [
        path for path in before if path.name != "report.csv.zip"
    ]


@quick
@given(content=st.binary(max_size=400), tail=st.booleans())
def test_bytes_that_are_no_zip_are_an_error(tmp_path: Path, content: bytes, *, tail: bool) -> None:
    ending = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, 46, 0, 0) if tail else b""
    with pytest.raises(SourceUnreadable):
        _read(tmp_path, content + ending)
