"""Exports in S3: found by manifest, fetched when something changed, and left alone otherwise."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.source import AwsAccess, S3Location, SourceKind, SourceSettings
from tests.fakes.aws import BUCKET, Aws, Refuse
from tests.fakes.exports import (
    cur_line,
    cur_lines,
    deliver_export,
    deliver_legacy,
    focus_charge,
    gcp_row,
    legacy_manifest,
    period_folder,
    write_csv,
    write_cur,
    write_gcp,
    write_manifest,
)
from tests.ingest.night import Night, source

SEPTEMBER, OCTOBER = date(2026, 9, 1), date(2026, 10, 1)
UNFINISHED = f"billing/ml-cur/{period_folder('2026-10')}/20261001T010000Z/ml-cur-00001.csv.gz"
LIST_ONLY = {"LIST"}


def in_s3(
    aws: Aws,
    place: str = f"s3://{BUCKET}",
    kind: SourceKind = "aws-export",
    **settings: Any,  # noqa: ANN401 - a field of any type
) -> SourceSettings:
    """Return a source in S3; the settings are the fields of SourceSettings, `access` those of AwsAccess."""
    access = AwsAccess(endpoint_url=aws.endpoint, **settings.pop("access", {}))
    return source(S3Location.parse(place), kind, access=access, **settings)


def kinds(aws: Aws) -> set[str]:
    """Return the kinds of requests that were made."""
    return {asked.kind for asked in aws.asked}


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet"])
@pytest.mark.parametrize("assembly", ["20261003T051200Z", None])
def test_a_legacy_report_loads_in_both_layouts(
    night: Night, bucket: Path, aws: Aws, suffix: str, assembly: str | None
) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1.25", "2"), cur_lines("3")], suffix=suffix, assembly=assembly)
    aws.bucket()
    aws.upload(bucket)

    night.load(in_s3(aws))

    assert night.values("BilledCost") == [Decimal("1.25"), 2, 3]
    assert night.warehouse.row("select export_kind, files from ops.load") == ("legacy-cur", 2)


@pytest.mark.parametrize("suffix", [".csv.gz", ".snappy.parquet"])
@pytest.mark.parametrize("execution", ["20261003T051200Z-e1", None])
def test_a_data_export_loads_in_both_overwrite_modes(
    night: Night, bucket: Path, aws: Aws, suffix: str, execution: str | None
) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1.25", "2"), cur_lines("3")], suffix=suffix, execution=execution)
    aws.bucket()
    aws.upload(bucket)

    night.load(in_s3(aws, f"s3://{BUCKET}/exp"))

    assert night.billed() == Decimal("6.25")
    assert aws.count("LIST", "data") == 0, "the path of a listing is the bucket; its prefix says which folder"
    listed = {asked.query["prefix"] for asked in aws.asked if asked.kind == "LIST"}
    inner = "" if execution is None else f"{execution}/"
    assert listed == {
        "exp/",
        "exp/ml-cur2/",
        "exp/ml-cur2/metadata/",
        "exp/ml-cur2/metadata/BILLING_PERIOD=2026-10/",
        f"exp/ml-cur2/data/BILLING_PERIOD=2026-10/{inner}",
    }


def test_the_layout_for_athena_loads(night: Night, bucket: Path, aws: Aws) -> None:
    key = "billing/ml-cur/ml-cur/year=2026/month=9/ml-cur-00001.snappy.parquet"
    write_cur(bucket / key, cur_lines("5", month="2026-09", start="2026-09-02T00:00:00Z", end="2026-09-02T01:00:00Z"))
    for folder in (period_folder("2026-09"), f"{period_folder('2026-09')}/20261003T051200Z"):
        write_manifest(bucket / f"billing/ml-cur/{folder}/ml-cur-Manifest.json", legacy_manifest("2026-09", [key]))
    (bucket / "billing/ml-cur/ml-cur/cost_and_usage_data_status").mkdir()
    (bucket / "billing/ml-cur/ml-cur/cost_and_usage_data_status/status.parquet").write_bytes(b"PAR1")
    aws.bucket()
    aws.upload(bucket)

    night.load(in_s3(aws, f"s3://{BUCKET}/billing"))

    assert night.billed() == 5


def test_a_night_with_nothing_new_only_lists(night: Night, bucket: Path, aws: Aws) -> None:
    for month in ("2026-09", "2026-10"):
        deliver_legacy(bucket, month, [cur_lines("1", month=month), cur_lines("2", month=month)])
    aws.bucket()
    aws.upload(bucket)
    night.load(in_s3(aws))
    before = night.fingerprint()
    aws.forget()

    report = night.load(in_s3(aws))

    assert kinds(aws) == LIST_ONLY
    assert len(aws.asked) == 3 + 2 + 2  # billing, report; a period and a run of each month; the bucket's root
    assert (report.loaded, len(report.unchanged)) == ([], 2)
    assert night.fingerprint() == before


def test_the_same_content_under_a_new_run_is_known_by_its_entity_tags(night: Night, bucket: Path, aws: Aws) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("2")], assembly="20261002T000000Z")
    aws.bucket()
    aws.upload(bucket)
    night.load(in_s3(aws))
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("2")], assembly="20261003T000000Z")
    aws.upload(bucket)
    aws.forget()

    report = night.load(in_s3(aws))

    assert (report.loaded, len(report.unchanged)) == ([], 1)
    assert aws.count("GET", ".csv") == 0


def test_an_unchanged_chunk_of_a_new_delivery_is_taken_from_landing(night: Night, bucket: Path, aws: Aws) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("2")], assembly="20261002T000000Z")
    aws.bucket()
    aws.upload(bucket)
    night.load(in_s3(aws))
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("4")], assembly="20261003T000000Z")
    aws.upload(bucket)
    aws.forget()

    night.load(in_s3(aws))

    assert night.billed() == 5
    assert [asked.key for asked in aws.asked if asked.kind == "GET" and ".csv" in asked.key] == [
        f"billing/ml-cur/{period_folder('2026-10')}/20261003T000000Z/ml-cur-00002.csv.gz"
    ]
    month = night.landing / "main" / "2026-10"
    assert sorted(path.name for path in month.iterdir() if path.name.startswith(".")) == []


@pytest.mark.parametrize(
    ("uploaded", "place"),
    [
        ("exports/", f"s3://{BUCKET}/exports"),
        ("exports/", f"s3://{BUCKET}/exports/"),
        ("exports/", f"s3://{BUCKET}//exports"),
        ("/exports/", f"s3://{BUCKET}//exports"),
        ("/exports/", f"s3://{BUCKET}/exports"),
        ("exports//", f"s3://{BUCKET}/exports//"),
        ("exports//", f"s3://{BUCKET}/exports"),
        ("/", f"s3://{BUCKET}"),
        ("", f"s3://{BUCKET}/"),
        ("replicated/from/elsewhere/", f"s3://{BUCKET}/replicated/from/elsewhere"),
        ("", f"s3://{BUCKET}/billing/ml-cur/{period_folder('2026-10')}"),
    ],
)
def test_prefixes_with_slashes_anywhere(night: Night, bucket: Path, aws: Aws, uploaded: str, place: str) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("2")])
    aws.bucket()
    aws.upload(bucket, prefix=uploaded)

    night.load(in_s3(aws, place))

    assert night.billed() == 3


@pytest.mark.parametrize("spelt", ["/billing/x.csv", "s3://other-bucket/billing/x.csv", "billing//x.csv", "/x.csv"])
def test_a_key_is_found_however_the_manifest_spells_it(night: Night, bucket: Path, aws: Aws, spelt: str) -> None:
    write_cur(bucket / "billing/x.csv", cur_lines("7"))
    write_manifest(bucket / "billing/ml-cur-Manifest.json", legacy_manifest("2026-10", [spelt]))
    aws.bucket()
    aws.upload(bucket)

    night.load(in_s3(aws, f"s3://{BUCKET}/billing"))

    assert night.billed() == 7


def test_a_key_that_leaves_the_location_is_refused(night: Night, bucket: Path, aws: Aws) -> None:
    write_cur(bucket / "other/x.csv", cur_lines("7"))
    write_manifest(bucket / "billing/ml-cur-Manifest.json", legacy_manifest("2026-10", ["../other/x.csv"]))
    aws.bucket()
    aws.upload(bucket)

    assert "leaves the location" in str(night.refusal(in_s3(aws, f"s3://{BUCKET}/billing")))


def test_two_keys_that_come_down_to_one_object_are_refused(night: Night, bucket: Path, aws: Aws) -> None:
    write_cur(bucket / "billing/x.csv", cur_lines("7"))
    write_manifest(bucket / "billing/ml-cur-Manifest.json", legacy_manifest("2026-10", ["a/x.csv", "b/x.csv"]))
    aws.bucket()
    aws.upload(bucket)

    assert "come down to one file" in str(night.refusal(in_s3(aws, f"s3://{BUCKET}/billing")))


def test_the_bucket_that_a_manifest_names_is_ignored(night: Night, bucket: Path, aws: Aws) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1")])
    aws.bucket("replica")
    aws.upload(bucket, "replica")

    night.load(in_s3(aws, "s3://replica/exp"))

    assert night.billed() == 1
    assert all(asked.path.startswith("/replica") for asked in aws.asked)


def test_an_empty_bucket_is_a_source_without_data(night: Night, aws: Aws) -> None:
    # project-koku/koku#2367
    aws.bucket()

    assert night.load(in_s3(aws)).without_data == ["main"]


@pytest.mark.parametrize("kind", ["aws-export", "focus-export"])
def test_a_role_that_may_list_its_folder_only_finds_no_data_yet(night: Night, aws: Aws, kind: SourceKind) -> None:
    aws.bucket()
    aws.rules.append(
        lambda asked: None if asked.query.get("prefix", "").startswith("exp/") else Refuse(403, "AccessDenied")
    )

    assert night.load(in_s3(aws, f"s3://{BUCKET}/exp", kind)).without_data == ["main"]
    assert "s3:ListBucket" in str(night.refusal(in_s3(aws, f"s3://{BUCKET}/other", kind)))


def test_a_period_without_manifest_yet_is_no_problem(night: Night, bucket: Path, aws: Aws) -> None:
    # project-koku/koku#967
    deliver_legacy(bucket, "2026-09", [cur_lines("5", month="2026-09")])
    write_cur(
        bucket / f"billing/ml-cur/{period_folder('2026-10')}/20261001T010000Z/ml-cur-00001.csv.gz", cur_lines("7")
    )
    aws.bucket()
    aws.upload(bucket)

    report = night.load(in_s3(aws))

    assert [load.delivery.billing_month for load in report.loaded] == [SEPTEMBER]


def test_only_files_of_an_unfinished_first_month_are_no_problem(night: Night, bucket: Path, aws: Aws) -> None:
    write_cur(
        bucket / f"billing/ml-cur/{period_folder('2026-10')}/20261001T010000Z/ml-cur-00001.csv.gz", cur_lines("7")
    )
    aws.bucket()
    aws.upload(bucket)

    assert night.load(in_s3(aws)).without_data == ["main"]
    assert aws.count("GET") == 0


def test_a_manifest_that_names_a_missing_file_loads_nothing_of_that_version(
    night: Night, bucket: Path, aws: Aws
) -> None:
    # project-koku/koku#2457
    deliver_legacy(bucket, "2026-10", [cur_lines("1"), cur_lines("2")], assembly="20261002T000000Z")
    client = aws.bucket()
    aws.upload(bucket)
    night.load(in_s3(aws))
    files = deliver_legacy(bucket, "2026-10", [cur_lines("10"), cur_lines("20")], assembly="20261003T000000Z")
    aws.upload(bucket)
    key = files[1].relative_to(bucket).as_posix()
    client.delete_object(Bucket=BUCKET, Key=key)

    problem = night.refusal(in_s3(aws))

    assert (problem.source, problem.billing_month) == ("main", OCTOBER)
    assert "ml-cur-00002.csv.gz, which is not there" in str(problem)
    assert night.billed() == 3
    client.put_object(Bucket=BUCKET, Key=key, Body=files[1].read_bytes())
    night.load(in_s3(aws))
    assert night.billed() == 30


def test_three_kinds_of_export_of_one_month_under_one_prefix_are_refused(night: Night, bucket: Path, aws: Aws) -> None:
    # turbot/tailpipe-plugin-aws#211
    deliver_legacy(bucket, "2026-10", [cur_lines("1")])
    deliver_export(bucket, "2026-10", [cur_lines("1")])
    deliver_export(bucket, "2026-10", [[focus_charge(x_ServiceCode="AmazonEC2")]], export="focus-12")
    aws.bucket()
    aws.upload(bucket)

    problem = night.refusal(in_s3(aws))

    assert "2026-10: 3 exports cover" in str(problem)
    assert "GET" not in {asked.kind for asked in aws.asked if ".csv" in asked.key}


def test_each_of_three_kinds_under_one_prefix_is_told_by_its_columns(night: Night, bucket: Path, aws: Aws) -> None:
    deliver_legacy(bucket, "2026-08", [cur_lines("1", month="2026-08")])
    deliver_export(bucket, "2026-09", [[cur_line(cost="2", month="2026-09", resource_tags='{"user_team":"vision"}')]])
    deliver_export(bucket, "2026-10", [[focus_charge(cost="4", ProviderName="AWS", x_ServiceCode="AmazonEC2")]])
    aws.bucket()
    aws.upload(bucket)

    night.load(in_s3(aws))

    loads = night.warehouse.rows("select billing_month, export_kind from ops.load order by 1")
    assert [kind for _, kind in loads] == ["legacy-cur", "cur-2", "aws-focus"]


def test_the_newest_month_is_found_behind_more_objects_than_one_listing_shows(
    night: Night, bucket: Path, aws: Aws
) -> None:
    # hystax/optscale#813
    deliver_export(bucket, "2026-10", [cur_lines("1")], execution=None)
    client = aws.bucket()
    for number in range(1205):
        client.put_object(Bucket=BUCKET, Key=f"exp/ml-cur2/data/BILLING_PERIOD=2026-10/left-{number:05d}.csv.gz")
        client.put_object(Bucket=BUCKET, Key=f"exp/a-{number:05d}.txt")
    aws.upload(bucket)

    night.load(in_s3(aws, f"s3://{BUCKET}/exp"))

    assert night.billed() == 1


def test_a_versioned_bucket_gives_its_latest_versions(night: Night, bucket: Path, aws: Aws) -> None:
    client = aws.bucket()
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    for cost in ("1", "2"):
        deliver_export(bucket, "2026-10", [cur_lines(cost)], execution=None)
        aws.upload(bucket)
    night.load(in_s3(aws))
    deliver_export(bucket, "2026-10", [cur_lines("4")], execution=None)
    aws.upload(bucket)

    night.load(in_s3(aws))

    assert night.billed() == 4


def test_several_payers_side_by_side_and_one_that_fails(night: Night, bucket: Path, aws: Aws) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1")])
    aws.bucket("first")
    aws.upload(bucket, "first")
    deliver_export(bucket, "2026-10", [cur_lines("2", payer="333333333333")])
    aws.bucket("third")
    aws.upload(bucket, "third")

    problem = night.refusal(
        in_s3(aws, "s3://first", name="first"),
        in_s3(aws, "s3://second", name="second"),
        in_s3(aws, "s3://third", name="third"),
    )

    assert problem.source == "second"
    assert "there is no bucket of that name" in str(problem)
    assert night.billed() == 3


def test_a_role_of_another_account_reads_that_account(night: Night, bucket: Path, aws: Aws) -> None:
    deliver_export(bucket, "2026-10", [cur_lines("1")])
    aws.bucket()
    aws.upload(bucket)
    role = {"role_arn": "arn:aws:iam::999988887777:role/overrun-reader", "external_id": "acme"}

    night.load(in_s3(aws, access=role))

    assert night.billed() == 1
    assert aws.count("POST") == 1


def test_a_walk_that_never_ends_is_refused(night: Night, aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.aws.s3.MAX_LISTS", 20)
    client = aws.bucket()
    for number in range(30):
        client.put_object(Bucket=BUCKET, Key=f"logs/{number}/x.txt")

    problem = night.refusal(in_s3(aws))

    assert "more than 20 LIST requests" in str(problem)
    assert "point `location` at the export's folder" in str(problem.hint)


@pytest.mark.parametrize(
    ("written_ago", "manifest_ago", "is_under_way"),
    [(10, 600, True), (59, 65, True), (1, 4, False), (61, 600, False), (600, 10, False)],
)
def test_files_that_are_being_overwritten_are_waited_for(
    night: Night, bucket: Path, aws: Aws, written_ago: int, manifest_ago: int, is_under_way: bool
) -> None:
    # Minutes: AWS overwrites the files first and the manifest last, so for a while the old one names new files.
    deliver_export(bucket, "2026-10", [cur_lines("1"), cur_lines("2")], execution=None)
    aws.bucket()
    aws.upload(bucket)
    aws.age(BUCKET, "exp/ml-cur2/data/BILLING_PERIOD=2026-10/ml-cur2-00001", night.now - timedelta(minutes=written_ago))
    aws.age(BUCKET, "exp/ml-cur2/data/BILLING_PERIOD=2026-10/ml-cur2-00002", night.now - timedelta(minutes=601))
    aws.age(BUCKET, "exp/ml-cur2/metadata", night.now - timedelta(minutes=manifest_ago))

    if is_under_way:
        problem = night.refusal(in_s3(aws))
        assert "the delivery is under way" in str(problem)
        assert problem.billing_month == OCTOBER
        night.now += timedelta(hours=1)
    night.load(in_s3(aws))

    assert night.billed() == 3


# Files without a manifest


def test_loose_files_of_google_in_s3_are_read_by_their_rows(night: Night, bucket: Path, aws: Aws) -> None:
    write_gcp(bucket / "gcp/a.json.gz", [gcp_row(cost="1", month="202609"), gcp_row(cost="2", month="202610")])
    write_gcp(bucket / "gcp/b.json", [gcp_row(cost="4", month="202610", project="b")])
    write_gcp(bucket / "gcp/.hidden/c.json", [gcp_row(cost="8", month="202610")])
    aws.bucket()
    aws.upload(bucket)
    google = in_s3(aws, f"s3://{BUCKET}/gcp", "gcp-export")

    night.load(google)

    assert sorted(asked.key for asked in aws.asked if asked.kind == "GET") == ["gcp/a.json.gz", "gcp/b.json"]
    assert night.billed() == 7
    assert night.billed("\"x_BillingMonth\" = date '2026-10-01'") == 6
    assert not (night.landing / "main" / ".fetch").exists()
    aws.forget()
    assert len(night.load(google).unchanged) == 2
    assert kinds(aws) == LIST_ONLY
    write_gcp(bucket / "gcp/b.json", [gcp_row(cost="16", month="202610", project="b")])
    aws.upload(bucket)
    aws.forget()
    night.load(google)
    assert night.billed() == 19
    assert [asked.key for asked in aws.asked if asked.kind == "GET"] == ["gcp/b.json"]


def test_a_loose_file_whose_month_went_is_not_lost_without_a_word(night: Night, bucket: Path, aws: Aws) -> None:
    write_csv(bucket / "a.csv", [focus_charge(month="2026-09", cost="1")])
    write_csv(bucket / "b.csv", [focus_charge(month="2026-10", cost="2")])
    aws.bucket()
    aws.upload(bucket)
    focus = in_s3(aws, kind="focus-export")
    night.load(focus)
    write_csv(bucket / "a.csv", [focus_charge(month="2026-10", cost="1")])
    aws.upload(bucket)

    for _ in range(2):
        problem = night.refusal(focus)
        assert "no file has rows of this month any more" in str(problem)
        assert problem.billing_month == SEPTEMBER


def test_one_file_may_be_the_location(night: Night, bucket: Path, aws: Aws) -> None:
    write_csv(bucket / "export/a.csv", [focus_charge(cost="1")])
    write_csv(bucket / "export/a.csv.csv", [focus_charge(cost="2")])
    aws.bucket()
    aws.upload(bucket)

    night.load(in_s3(aws, f"s3://{BUCKET}/export/a.csv", "focus-export"))

    assert night.billed() == 1


def test_copies_of_a_loose_file_count_once(night: Night, bucket: Path, aws: Aws) -> None:
    for name in ("a.csv", "b.csv"):
        write_cur(bucket / name, cur_lines("3"))
    aws.bucket()
    aws.upload(bucket)

    report = night.load(in_s3(aws, period="2026-10"))

    assert night.billed() == 3
    assert report.passed_over == {"main": ["b.csv (same content as another)"]}


def test_loose_files_of_aws_need_a_period(night: Night, bucket: Path, aws: Aws) -> None:
    write_cur(bucket / "a.csv", cur_lines("3"))
    aws.bucket()
    aws.upload(bucket)

    assert "no manifest" in str(night.refusal(in_s3(aws)))
    assert aws.count("GET") == 0
