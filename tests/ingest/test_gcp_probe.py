"""`overrun doctor` on BigQuery and Cloud Storage: each missing role is named, little is asked, nothing is billed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ingest.finding import Finding
from ingest.gcp.bq_probe import probe_bigquery
from ingest.gcp.gcs_probe import probe_gcs
from ingest.source import BigQueryLocation, BigQueryTable, GcsLocation
from overrun.cli import main
from overrun.exits import Exit
from sql.secret import SecretReference
from tests.fakes.bigquery import DATASET, DETAILED, LIKE, PROJECT, Emulator
from tests.fakes.bigquery_faults import HttpFront, Refusal, StreamFront, http_front, stream_front
from tests.fakes.gcs import BUCKET, Gcs
from tests.ingest.bigquery_night import november

NOW = datetime(2026, 11, 20, 7, tzinfo=UTC)
JOBS = "acme-finops"
VIEWER, JOB_USER = "roles/bigquery.dataViewer", "roles/bigquery.jobUser"
ALL_WELL = [
    f"queries can be run, paid by project {JOBS}",
    f"{DETAILED} is there: detailed export",
    f"{DETAILED} can be queried",
    f"the Storage Read API can be used, paid by project {JOBS}",
]
CONFIGURATION = '[[source]]\nname = "g"\nkind = "{kind}"\nendpoint_url = "{endpoint}"\n{keys}\n'


def said(findings: list[Finding], level: str = "ok") -> list[str]:
    """Return the messages of a level; what is not well has a hint."""
    assert all((finding.hint is None) == (finding.level == "ok") for finding in findings)
    return [finding.message for finding in findings if finding.level == level]


def the_failure(findings: list[Finding]) -> tuple[str, str]:
    """Return message and hint of the one failure that there is."""
    (failure,) = [finding for finding in findings if finding.level == "fail"]
    return failure.message, str(failure.hint)


@pytest.fixture
def front(bigquery: Emulator) -> Iterator[HttpFront]:
    bigquery.make(like=LIKE)
    bigquery.add([november(cost="1")])
    with http_front(bigquery.rest) as front:
        yield front


@pytest.fixture
def stream(bigquery: Emulator) -> Iterator[StreamFront]:
    with stream_front(bigquery.grpc) as stream:
        yield stream


def place(front: HttpFront, stream: StreamFront | None, *tables: str) -> BigQueryLocation:
    return BigQueryLocation(
        tables=tuple(map(BigQueryTable.parse, tables or (DETAILED,))),
        job_project=JOBS,
        endpoint_url=front.url,
        storage_endpoint_url=stream.url if stream else None,
        pause_seconds=0.01,
    )


def test_all_is_well_in_bigquery_and_nothing_is_run(front: HttpFront, stream: StreamFront) -> None:
    findings = probe_bigquery(place(front, stream), NOW)

    assert said(findings) == ALL_WELL
    assert len(findings) == 4
    assert [method for method, _ in front.asked] == ["POST", "GET", "POST"]
    assert all(json.loads(body)["configuration"]["dryRun"] for body in front.posted)
    assert stream.offsets == [], "what a session would read is billed"
    assert "2026-08-31" in front.posted[-1], "the query is that of a night"


@pytest.mark.parametrize(
    ("part", "method", "missing", "role", "left"),
    [
        ("/jobs", "POST", f"bigquery.jobs.create on project {JOBS}", JOB_USER, [ALL_WELL[1], ALL_WELL[3]]),
        ("/tables/", "GET", f"bigquery.tables.get on dataset {PROJECT}.{DATASET}", VIEWER, ALL_WELL[:1]),
    ],
)
def test_a_missing_role_is_named_and_hides_nothing_else(  # noqa: PLR0913, PLR0917 - two fixtures and a case
    front: HttpFront, stream: StreamFront, part: str, method: str, missing: str, role: str, left: list[str]
) -> None:
    front.refuse(part, Refusal(403, "accessDenied"), method=method)

    findings = probe_bigquery(place(front, stream), NOW)

    message, hint = the_failure(findings)
    assert message == f"access is denied: {missing} is missing (accessDenied)"
    assert f"grant {role} on" in hint
    assert "overrun doctor --print-policy gcp" in hint
    assert said(findings) == left


def test_rows_that_may_not_be_read_are_told_from_queries_that_may_not_run(
    front: HttpFront, stream: StreamFront
) -> None:
    front.rules.append(lambda *_: Refusal(403, "accessDenied") if "FROM" in front.posted[-1] else None)

    message, hint = the_failure(probe_bigquery(place(front, stream), NOW))

    assert f"bigquery.tables.getData on dataset {PROJECT}.{DATASET} is missing" in message
    assert VIEWER in hint


@pytest.mark.parametrize("status", ["PERMISSION_DENIED", "UNIMPLEMENTED"])
def test_without_the_storage_api_queries_do(front: HttpFront, stream: StreamFront, status: str) -> None:
    stream.refused = status

    findings = probe_bigquery(place(front, stream), NOW)

    (doubt,) = said(findings, "warn")
    assert doubt.startswith("the Storage Read API is refused, so that rows come by queries, slower: ")
    if status == "PERMISSION_DENIED":
        assert f"bigquery.readsessions.create on project {JOBS} is missing" in doubt
        assert "grant roles/bigquery.readSessionUser" in str(findings[-1].hint)
    assert said(findings) == ALL_WELL[:3]


def test_a_storage_api_that_fails_otherwise_would_fail_the_night(front: HttpFront, stream: StreamFront) -> None:
    stream.refused = "UNAVAILABLE"
    assert (
        "did not answer bigquery.readsessions.create after 2 tries"
        in the_failure(probe_bigquery(place(front, stream), NOW))[0]
    )


def test_a_storage_api_without_an_address_is_not_asked(front: HttpFront) -> None:
    findings = probe_bigquery(place(front, None), NOW)
    assert said(findings, "warn") == [
        "rows come by queries, slower: `storage_endpoint_url` is not set beside `endpoint_url`"
    ]


def test_an_api_that_is_off_is_named(front: HttpFront, stream: StreamFront) -> None:
    front.refuse("/jobs", Refusal(403, "accessNotConfigured"))
    message, hint = the_failure(probe_bigquery(place(front, stream), NOW))
    assert message == "the BigQuery API (bigquery.googleapis.com) is not enabled"
    assert "gcloud services enable bigquery.googleapis.com" in hint


def test_a_view_and_an_empty_table_are_told(bigquery: Emulator, front: HttpFront, stream: StreamFront) -> None:
    view, empty = f"{PROJECT}.{DATASET}.a_view", f"{PROJECT}.{DATASET}.empty"
    bigquery.make(empty, like=LIKE)
    bigquery.view(view, f"SELECT * FROM `{DETAILED}`", like=LIKE)

    findings = probe_bigquery(place(front, stream, view, empty), NOW)

    assert said(findings, "warn") == [f"{empty} has no rows yet"]
    assert "a_view is a view: each query reads it by export_time, from end to end" in said(findings)
    assert {f"{view} can be queried", f"{empty} can be queried", ALL_WELL[3]} <= set(said(findings))


def test_what_a_night_refuses_of_tables_is_told(bigquery: Emulator, front: HttpFront, stream: StreamFront) -> None:
    standard, other, gone = (f"{PROJECT}.{DATASET}.{name}" for name in ("standard", "other", "gone"))
    bigquery.make(standard, like={name: value for name, value in LIKE.items() if name != "resource"})
    bigquery.make(other, like={"cost": 1.0})

    failures = said(probe_bigquery(place(front, stream, DETAILED, standard, other, gone), NOW), "fail")

    assert len(failures) == 3
    assert "other is no billing export: it has no column" in failures[0]
    assert "does not have what `table` names" in failures[1]
    assert "of several kinds, which hold the same costs" in failures[2]


def test_one_who_does_not_answer_is_not_asked_on(front: HttpFront, stream: StreamFront) -> None:
    front.refuse("", Refusal(503, "backendError"))
    message, _ = the_failure(probe_bigquery(place(front, stream), NOW))
    assert message == "BigQuery did not answer bigquery.jobs.create after 2 tries (backendError)"
    assert len(front.asked) == 2


def in_gcs(gcs: Gcs, prefix: str = "exports/gcp", bucket: str = BUCKET) -> GcsLocation:
    return GcsLocation(bucket=bucket, prefix=prefix, endpoint_url=gcs.endpoint)


def test_all_is_well_in_cloud_storage_and_one_byte_is_read(gcs: Gcs) -> None:
    for key in ("exports/gcp/", "exports/gcp/.hidden", "exports/gcp/_SUCCESS", "exports/gcp/a.parquet", "z"):
        gcs.put(key, b"" if key.endswith(("/", "_SUCCESS")) else b"PAR1")

    findings = probe_gcs(in_gcs(gcs))

    assert said(findings) == [
        f"gs://{BUCKET}/exports/gcp can be listed",
        f"gs://{BUCKET}/exports/gcp/a.parquet can be read",
    ]
    assert [(asked.kind, asked.range) for asked in gcs.asked] == [("LIST", None), ("GET", "bytes=0-0")]


def test_a_long_list_is_read_as_far_as_a_file(gcs: Gcs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.gcp.gcs._PAGE", 2)
    for number in range(6):
        gcs.put(f"exports/gcp/{number}.parquet", b"PAR1")
    assert said(probe_gcs(in_gcs(gcs)))[1].endswith("/0.parquet can be read")
    assert gcs.count("LIST") == 1


def test_one_file_may_be_the_location(gcs: Gcs) -> None:
    gcs.put("exports/gcp.parquet", b"PAR1")
    assert said(probe_gcs(in_gcs(gcs, "exports/gcp.parquet")))[-1] == f"gs://{BUCKET}/exports/gcp.parquet can be read"


def test_nothing_yet_is_no_failure(gcs: Gcs) -> None:
    findings = probe_gcs(in_gcs(gcs))
    assert said(findings, "warn") == [f"nothing yet at gs://{BUCKET}/exports/gcp"]
    assert said(findings, "fail") == []


@pytest.mark.parametrize(("kind", "before"), [("LIST", []), ("GET", [f"gs://{BUCKET}/exports/gcp can be listed"])])
def test_a_bucket_that_may_not_be_listed_or_read(gcs: Gcs, kind: str, before: list[str]) -> None:
    gcs.put("exports/gcp/a.parquet", b"PAR1")
    gcs.once(lambda asked: asked.kind == kind, (403, b"{}"))

    findings = probe_gcs(in_gcs(gcs))

    message, hint = the_failure(findings)
    permission = {"LIST": "storage.objects.list", "GET": "storage.objects.get"}[kind]
    assert message == f"access is denied: {permission} on gs://{BUCKET} is missing"
    assert f"grant roles/storage.objectViewer on the bucket {BUCKET}" in hint
    assert said(findings) == before


def test_a_bucket_that_is_not_there_and_a_busy_one_are_said(gcs: Gcs) -> None:
    assert "there is no bucket of that name" in the_failure(probe_gcs(in_gcs(gcs, bucket="no-such-bucket")))[0]
    gcs.asked.clear()
    gcs.rules.append(lambda _: (503, b"{}"))
    assert "Cloud Storage does not answer now" in the_failure(probe_gcs(in_gcs(gcs)))[0]
    assert gcs.count("LIST") == 2


def test_an_object_that_breaks_off_or_is_replaced_is_told(gcs: Gcs) -> None:
    gcs.put("exports/gcp/a.parquet", b"PAR1")
    gcs.once(lambda asked: asked.kind == "GET", 0)
    assert "the connection broke" in the_failure(probe_gcs(in_gcs(gcs)))[0]
    gcs.once(lambda asked: asked.kind == "GET", (404, b"{}"))
    (doubt,) = said(probe_gcs(in_gcs(gcs)), "warn")
    assert "replaced or removed" in doubt


def test_a_key_that_is_not_there_is_told_once(front: HttpFront, stream: StreamFront, gcs: Gcs) -> None:
    unset = SecretReference("env", "NO_SUCH_KEY")
    asked = (
        probe_bigquery(replace(place(front, stream), credentials=unset, endpoint_url=None), NOW),
        probe_gcs(replace(in_gcs(gcs), credentials=unset, endpoint_url=None)),
    )
    assert [the_failure(findings)[0] for findings in asked] == ["environment variable NO_SUCH_KEY is not set"] * 2


def doctor(folder: Path, capsys: pytest.CaptureFixture[str], text: str, *arguments: str) -> tuple[int, list[Any]]:
    """Return the exit code of `overrun doctor`, and (level, message) of what it says about the source."""
    (folder / "overrun.toml").write_text(text, encoding="utf-8")
    capsys.readouterr()
    code = main(["doctor", "--json", "--config", str(folder / "overrun.toml"), *arguments])
    checks = json.loads(capsys.readouterr().out)["checks"]
    return code, [(check["level"], check["message"]) for check in checks if check["name"] == "source g"]


def test_doctor_asks_bigquery(
    front: HttpFront, stream: StreamFront, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = f'table = "{DETAILED}"\njob_project = "{JOBS}"\nstorage_endpoint_url = "{stream.url}"'
    text = CONFIGURATION.format(kind="gcp-bigquery", endpoint=front.url, keys=keys)

    assert doctor(tmp_path, capsys, text, "--offline") == (Exit.DONE, [("ok", f"{DETAILED} is not asked offline")])
    assert front.asked == []
    assert doctor(tmp_path, capsys, text) == (Exit.DONE, [("ok", message) for message in ALL_WELL])
    front.refuse("/tables/", Refusal(403, "accessDenied"))
    assert doctor(tmp_path, capsys, text)[0] == Exit.SOURCE


@pytest.mark.parametrize("kind", ["gcp-export", "focus-export"])
def test_doctor_asks_cloud_storage(gcs: Gcs, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    gcs.put("exports/gcp/a.parquet", b"PAR1")
    keys = f'location = "gs://{BUCKET}/exports/gcp"'
    text = CONFIGURATION.format(kind=kind, endpoint=gcs.endpoint, keys=keys)

    assert doctor(tmp_path, capsys, text, "--offline") == (
        Exit.DONE,
        [("ok", f"gs://{BUCKET}/exports/gcp is not asked offline")],
    )
    assert gcs.asked == []
    code, found = doctor(tmp_path, capsys, text)
    assert (code, found[-1]) == (Exit.DONE, ("ok", f"gs://{BUCKET}/exports/gcp/a.parquet can be read"))
    gcs.rules.append(lambda _: (403, b"{}"))
    code, found = doctor(tmp_path, capsys, text)
    assert (code, [level for level, _ in found]) == (Exit.SOURCE, ["fail"])


def test_doctor_tries_the_reference_to_a_key_offline_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "key.json"
    in_bucket = (
        f'[[source]]\nname = "g"\nkind = "gcp-export"\nlocation = "gs://{BUCKET}"\ncredentials = "file:key.json"\n'
    )
    on_disk = in_bucket.replace(f"gs://{BUCKET}", "exports") + "projects = true\n"
    (tmp_path / "exports").mkdir()

    missing = f"secret file {key} cannot be read (No such file or directory)"
    assert doctor(tmp_path, capsys, in_bucket, "--offline") == (Exit.SOURCE, [("fail", missing)])
    code, found = doctor(tmp_path, capsys, on_disk)
    assert (code, found[-1]) == (Exit.DONE, ("warn", missing)), "a night does without the list of projects"
    key.write_text("{}", encoding="utf-8")
    for mode, told in (
        (0o644, ("warn", f"file:{key} can be read by other users")),
        (0o600, ("ok", f"file:{key} is set")),
    ):
        key.chmod(mode)
        assert doctor(tmp_path, capsys, in_bucket, "--offline")[1][0] == told
    assert doctor(tmp_path, capsys, in_bucket) == (
        Exit.SOURCE,
        [("ok", f"file:{key} is set"), ("fail", f"file:{key} is no key of a service account")],
    )
