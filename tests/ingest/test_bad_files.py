"""Files that cannot be trusted: one clear error, the last good month untouched, everything else loaded."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from ingest.errors import IngestError, LoadRefused, SourceUnreadable
from ingest.source import SourceKind
from tests.fakes.exports import (
    csv_text,
    cur_line,
    cur_lines,
    deliver_export,
    deliver_legacy,
    focus_charge,
    gcp_row,
    legacy_manifest,
    legacy_rows,
    period_folder,
    write_bytes,
    write_csv,
    write_gcp,
    write_manifest,
    write_text,
)
from tests.ingest.night import Night, source

OCTOBER = date(2026, 10, 1)
LEGACY = "billing/ml-cur"


def _with_other(bucket: Path) -> Path:
    """Return a second bucket beside `bucket` that has a good month of another payer."""
    other = bucket.parent / "other"
    deliver_legacy(other, "2026-10", [cur_lines("100", payer="999999999999")])
    return other


def _remove(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _cut_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-6])


def _scramble(path: Path) -> None:
    path.write_bytes(b"no such thing as an export\n" * 20)


def _report_text(lines: int) -> str:
    """Return a CSV report of so many equal lines; 40,000 of them are more than is read to see the header."""
    return csv_text(list(legacy_rows([cur_line()])[0]), []) + (",".join(cur_line().values()) + "\n") * lines


BROKEN = [
    (".csv.gz", _remove, "not there"),
    (".csv.gz", _empty, "empty (0 bytes)"),
    (".csv.gz", _halve, "truncated"),
    (".csv.gz", _cut_end, "truncated"),
    (".csv.gz", _scramble, "not gzip"),
    (".csv", _empty, "empty (0 bytes)"),
    (".csv", _scramble, "not an export"),
    (".parquet", _remove, "not there"),
    (".parquet", _empty, "empty (0 bytes)"),
    (".parquet", _halve, "truncated"),
    (".parquet", _cut_end, "truncated"),
    (".parquet", _scramble, "truncated or corrupt"),
]


@pytest.mark.parametrize(
    ("suffix", "spoil", "reason"), BROKEN, ids=[f"{suffix[1:]} {spoil.__name__[1:]}" for suffix, spoil, _ in BROKEN]
)
def test_a_broken_file_of_a_manifest_leaves_the_last_good_month(
    night: Night, bucket: Path, suffix: str, spoil: Callable[[Path], None], reason: str
) -> None:
    deliver_legacy(bucket, "2026-09", [cur_lines("5", month="2026-09")])
    deliver_legacy(bucket, "2026-10", [cur_lines("1")], assembly="20261002T000000Z", suffix=suffix)
    night.load(source(bucket))
    before = night.fingerprint()
    files = deliver_legacy(
        bucket, "2026-10", [cur_lines("10"), cur_lines("20", "30")], assembly="20261003T000000Z", suffix=suffix
    )
    spoil(files[1])

    problem = night.refusal(source(bucket), source(_with_other(bucket), name="other"))

    assert isinstance(problem, SourceUnreadable)
    assert (problem.source, problem.billing_month) == ("main", OCTOBER)
    assert reason in str(problem)
    assert files[1].name in str(problem)
    assert night.fingerprint() == before
    assert night.billed("\"x_Source\" = 'other'") == 100


def test_a_compressed_file_that_is_cut_far_behind_its_start_is_refused(night: Night, bucket: Path) -> None:
    key = f"{LEGACY}/ml-cur-00001.csv.gz"
    write_text(bucket / key, _report_text(40_000))
    write_manifest(bucket / LEGACY / "ml-cur-Manifest.json", legacy_manifest("2026-10", [key]))
    _cut_end(bucket / key)

    problem = night.refusal(source(bucket))

    assert isinstance(problem, SourceUnreadable)
    assert "ml-cur-00001.csv.gz" in str(problem)
    assert night.rows("1") == []


@pytest.mark.parametrize("kind", ["focus-export", "gcp-export"])
def test_a_loose_file_of_zero_bytes_is_refused(night: Night, bucket: Path, kind: SourceKind) -> None:
    names = ["r.csv", "r.csv.gz", "r.parquet", "r.ndjson", "r.ndjson.gz"]
    for name in names:
        (bucket / name).write_bytes(b"")

    problems = night.refusals(*(source(bucket / name, kind, name=name) for name in names))

    assert {name: (type(problem), problem.file) for name, problem in problems.items()} == {
        name: (SourceUnreadable, name) for name in names
    }
    assert all("0 bytes" in str(problem) for problem in problems.values())


NOT_EXPORTS: dict[str, bytes] = {
    "words.csv": b"Dear colleague,\nplease find attached\n",
    "blank.csv": b"\n\n\n",
    "table.csv": b"id,name\n1,a\n",
    "binary.csv": bytes(range(256)) * 40,
    "utf16.csv": "BilledCost,ChargePeriodStart\n1,2026-10-01\n".encode("utf-16"),
    "page.json": b"<!doctype html><title>503</title>",
    "list.json": b'[{"cost": 1}]',
    "other.ndjson": b'{"a": 1}\n{"a": 2}\n',
    "number.json": b"42\n",
    "blank.ndjson": b"\n\n",
    "words.parquet": b"PAR1 and nothing else PAR1",
    "plain.csv.gz": b"BilledCost,ChargePeriodStart\n",
}


@pytest.mark.parametrize("kind", ["aws-export", "gcp-export", "focus-export"])
def test_a_file_that_is_no_export_is_refused(night: Night, bucket: Path, kind: SourceKind) -> None:
    for name, content in NOT_EXPORTS.items():
        (bucket / name).write_bytes(content)

    problems = night.refusals(*(source(bucket / name, kind, name=name, period="2026-10") for name in NOT_EXPORTS))

    found = {name: (type(problem), problem.file) for name, problem in problems.items()}
    assert found == {name: (SourceUnreadable, name) for name in NOT_EXPORTS}


def test_a_header_that_never_ends_is_refused(night: Night, bucket: Path) -> None:
    (bucket / "quote.csv").write_bytes(b'"' + b"x" * 300_000)

    problem = night.refusal(source(bucket, "focus-export"), source(_with_other(bucket), name="other"))

    assert isinstance(problem, SourceUnreadable)
    assert problem.file == "quote.csv"
    assert night.billed() == 100


def test_an_export_of_another_kind_is_refused_and_says_what_is_missing(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", [gcp_row()])

    problem = night.refusal(source(bucket, "focus-export"))

    assert isinstance(problem, SourceUnreadable)
    assert "no column" in str(problem)
    assert "BilledCost" in str(problem)
    assert "kind" in str(problem.hint)


def test_files_of_two_kinds_in_one_month_are_refused(night: Night, bucket: Path) -> None:
    write_csv(bucket / "a.csv", legacy_rows(cur_lines("1")))
    write_csv(bucket / "b.csv", [focus_charge()])

    problem = night.refusal(source(bucket, period="2026-10"))

    assert isinstance(problem, SourceUnreadable)
    assert "several kinds" in str(problem)
    assert "a.csv" in str(problem)
    assert "b.csv" in str(problem)


def test_a_format_that_is_not_read_is_refused(night: Night, bucket: Path) -> None:
    (bucket / "report.zip").write_bytes(b"PK")

    problem = night.refusal(source(bucket, period="2026-10"))

    assert isinstance(problem, SourceUnreadable)
    assert "report.zip" in str(problem)


def test_a_location_that_does_not_exist_is_refused(night: Night, bucket: Path) -> None:
    problem = night.refusal(source(bucket / "nowhere"), source(_with_other(bucket), name="other"))

    assert isinstance(problem, SourceUnreadable)
    assert "nowhere" in str(problem)
    assert night.billed() == 100


def test_loose_files_of_aws_that_tell_no_month_are_refused(night: Night, bucket: Path) -> None:
    write_csv(bucket / "r.csv", legacy_rows(cur_lines("1")))

    problem = night.refusal(source(bucket))

    assert isinstance(problem, SourceUnreadable)
    assert "period" in str(problem.hint)


BAD_MANIFESTS: dict[str, str] = {
    "cut": '{"assemblyId": "a", "reportKeys": [',
    "empty": "",
    "not utf-8": "\udcff",
    "no period": json.dumps({"reportKeys": ["k"], "billingPeriod": {}}),
    "month 13": json.dumps({"reportKeys": ["k"], "billingPeriod": {"start": "20261301T000000.000Z"}}),
    "no partition": json.dumps({"dataFiles": ["s3://b/k.parquet"]}),
    "partition 13": json.dumps({"dataFiles": ["s3://b/BILLING_PERIOD=2026-13/k.parquet"]}),
}


def test_a_broken_manifest_is_refused_and_named(night: Night, bucket: Path) -> None:
    sources = [source(_with_other(bucket), name="other")]
    for name, text in BAD_MANIFESTS.items():
        (bucket / name).mkdir()
        (bucket / name / "ml-cur-Manifest.json").write_bytes(text.encode("utf-8", "surrogateescape"))
        sources.append(source(bucket / name, name=name))

    problems = night.refusals(*sources)

    found = {name: (type(problem), problem.file) for name, problem in problems.items()}
    assert found == dict.fromkeys(BAD_MANIFESTS, (SourceUnreadable, "ml-cur-Manifest.json"))
    assert night.billed() == 100


def test_a_broken_manifest_leaves_what_is_loaded(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])
    night.load(source(bucket))
    before = night.fingerprint()
    write_text(bucket / f"{LEGACY}/{period_folder('2026-10')}/ml-cur-Manifest.json", '{"reportKeys": [')

    problem = night.refusal(source(bucket))

    assert isinstance(problem, SourceUnreadable)
    assert "JSON" in str(problem)
    assert night.fingerprint() == before


def _bare_manifest(bucket: Path, *keys: str) -> Path:
    """Write a manifest that names these keys at the root of the bucket."""
    return write_manifest(bucket / "ml-cur-Manifest.json", legacy_manifest("2026-10", keys))


def test_a_key_that_climbs_out_of_the_location_is_refused(night: Night, bucket: Path) -> None:
    write_csv(bucket / "outside.csv", legacy_rows(cur_lines("1")))
    keys = ["../outside.csv", "a/../../outside.csv", "s3://acme-billing/../outside.csv", "/../outside.csv"]
    for number, key in enumerate(keys):
        _bare_manifest(bucket / str(number), key)

    problems = night.refusals(*(source(bucket / str(number), name=str(number)) for number in range(len(keys))))

    assert [type(problem) for problem in problems.values()] == [SourceUnreadable] * len(keys)
    assert all("leaves the location" in str(problem) for problem in problems.values())
    assert night.rows("1") == []


@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
def test_a_link_that_leads_out_of_the_location_is_refused(night: Night, bucket: Path, *, folder: bool) -> None:
    outside = write_csv(bucket.parent / "elsewhere" / "r.csv", legacy_rows(cur_lines("1")))
    if folder:
        (bucket / "linked").symlink_to(outside.parent)
    else:
        (bucket / "linked").mkdir()
        (bucket / "linked" / "r.csv").symlink_to(outside)
    _bare_manifest(bucket, "linked/r.csv")

    problem = night.refusal(source(bucket))

    assert isinstance(problem, SourceUnreadable)
    assert "leaves the location" in str(problem)


def test_a_key_that_names_nothing_is_refused(night: Night, bucket: Path) -> None:
    keys = ["", "/", "x" * 5_000 + ".csv", "nul\0.csv", "/etc/hostname", "no/such.csv"]
    for number, key in enumerate(keys):
        _bare_manifest(bucket / str(number), key)

    problems = night.refusals(*(source(bucket / str(number), name=str(number)) for number in range(len(keys))))

    found = [(type(problem), problem.billing_month, problem.file) for _, problem in sorted(problems.items())]
    assert found == [(SourceUnreadable, OCTOBER, "ml-cur-Manifest.json")] * len(keys)


def test_two_keys_that_come_down_to_one_file_are_refused(night: Night, bucket: Path) -> None:
    write_csv(bucket / "ml-cur-00001.csv", legacy_rows(cur_lines("1")))
    _bare_manifest(bucket, "a/ml-cur-00001.csv", "b/ml-cur-00001.csv")

    problem = night.refusal(source(bucket))

    assert isinstance(problem, SourceUnreadable)
    assert "one file" in str(problem)
    assert "location" in str(problem.hint)
    assert night.rows("1") == []


def test_two_exports_of_one_month_under_one_location_are_refused(night: Night, bucket: Path) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1")], export="first")
    deliver_export(bucket, "2026-10", [cur_lines("1")], export="second")

    problem = night.refusal(source(bucket))

    assert isinstance(problem, SourceUnreadable)
    assert "2026-10" in str(problem)
    assert "first" in str(problem)
    assert "second" in str(problem)


@pytest.mark.parametrize("lines", [1, 40_000], ids=["near", "far"])
def test_a_byte_that_is_no_utf8_is_refused(night: Night, bucket: Path, lines: int) -> None:
    last = ",".join(cur_line(resource="caf\N{LATIN SMALL LETTER E WITH ACUTE}").values())
    write_bytes(bucket / "r.csv", (_report_text(lines) + last + "\n").encode("latin-1"))
    _bare_manifest(bucket, "r.csv")

    problem = night.refusal(source(bucket))

    assert isinstance(problem, SourceUnreadable | LoadRefused)
    assert problem.billing_month == OCTOBER
    assert "r.csv" in str(problem)
    assert "utf" in str(problem).lower() or "unicode" in str(problem).lower()


def test_a_quote_that_is_never_closed_is_refused(night: Night, bucket: Path) -> None:
    write_text(
        bucket / "r.csv", csv_text(list(legacy_rows([cur_line()])[0]), []) + '"' + ",".join(cur_line().values()) + "\n"
    )
    _bare_manifest(bucket, "r.csv")

    problem = night.refusal(source(bucket))

    assert isinstance(problem, LoadRefused)
    assert (problem.file, problem.billing_month) == ("r.csv", OCTOBER)
    assert "line 2" in str(problem)


def _ndjson_refusal(night: Night, bucket: Path, second: str) -> IngestError:
    """Load a good line, then one line more, and see that the month is as before."""
    place = write_gcp(bucket / "r.ndjson", [gcp_row(cost="1")])
    night.load(source(bucket, "gcp-export"))
    before = night.fingerprint()
    write_text(place, place.read_text(encoding="utf-8") + second)
    problem = night.refusal(source(bucket, "gcp-export"))
    assert night.fingerprint() == before
    assert "r.ndjson" in str(problem)
    return problem


@pytest.mark.parametrize(
    "line", ['{"cost": 1,\n', "oops\n", '{"cost": 1}}\n', "[1, 2]\n"], ids=["cut", "word", "brace", "list"]
)
def test_a_malformed_line_of_json_is_refused_with_its_number(night: Night, bucket: Path, line: str) -> None:
    problem = _ndjson_refusal(night, bucket, line)

    assert isinstance(problem, SourceUnreadable | LoadRefused)
    assert "line 2" in str(problem).lower()


def test_a_list_where_an_object_is_expected_is_refused(night: Night, bucket: Path) -> None:
    row = {**gcp_row(), "cost": 1, "currency_conversion_rate": 1, "usage": {}, "project": [{"id": "a"}]}

    problem = _ndjson_refusal(night, bucket, json.dumps(row) + "\n")

    assert isinstance(problem, SourceUnreadable | LoadRefused)
