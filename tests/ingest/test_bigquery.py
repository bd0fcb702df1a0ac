"""Billing exports in BigQuery: what is asked each night, what is fetched, and how; by an emulator of it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from tests.fakes.bigquery import DATASET, DETAILED, LIKE, PROJECT, Emulator
from tests.fakes.exports import gcp_row
from tests.ingest.bigquery_night import november, queries, source
from tests.ingest.night import Night

AUGUST, OCTOBER, NOVEMBER = date(2026, 8, 1), date(2026, 10, 1), date(2026, 11, 1)


@pytest.mark.parametrize("way", ["storage", "queries"])
def test_months_are_fetched_whole_once_and_identical_rows_are_kept(night: Night, bigquery: Emulator, way: str) -> None:
    bigquery.make(like=LIKE)
    bigquery.add([gcp_row(cost="1.5", credits=[("-0.5", "PROMOTION"), ("-0.25", "X")])] * 2)
    monthless = gcp_row(cost="3", month=None, start="2026-10-05 03:00:00 UTC", end="2026-10-05 04:00:00 UTC")
    bigquery.add([november(cost="7"), november(cost="0.1", project=None, cost_type="tax"), monthless])
    asked = source(bigquery, **({} if way == "storage" else {"storage_endpoint_url": None}))

    report = night.load(asked)

    assert night.rows('"x_BillingMonth", sum("BilledCost"), count(*)', "all", "true group by all") == [
        (OCTOBER, Decimal("4.5"), 3),
        (NOVEMBER, Decimal("7.1"), 2),
    ]
    assert report.notes["gcp"] == (
        []
        if way == "storage"
        else ["rows come by queries, slower: `storage_endpoint_url` is not set beside `endpoint_url`"]
    )
    assert queries(night) == ([("READ_SESSION", 2), ("SELECT", 1)] if way == "storage" else [("SELECT", 3)])
    before = night.fingerprint("gcp")

    again = night.load(asked)

    assert (len(again.loaded), len(again.unchanged)) == (0, 2)
    assert night.fingerprint("gcp") == before
    assert queries(night)[-1] == ("SELECT", 2 if way == "storage" else 4)


@pytest.mark.parametrize("way", ["storage", "queries"])
def test_rows_without_an_invoice_month_are_of_googles_own(night: Night, bigquery: Emulator, way: str) -> None:
    bigquery.make(like=LIKE)
    instants = ("2026-11-01 06:59:59 UTC", "2026-11-01 07:00:00 UTC")
    bigquery.add([gcp_row(cost=str(cost), month=None, start=at, end=at) for cost, at in enumerate(instants, start=1)])

    night.load(source(bigquery, **({} if way == "storage" else {"storage_endpoint_url": None})))

    assert night.rows('"x_BillingMonth", "BilledCost"') == [(OCTOBER, 1), (NOVEMBER, 2)]


def test_an_afternoon_append_adds_exactly_its_rows_and_fetches_no_other_month(night: Night, bigquery: Emulator) -> None:
    bigquery.make(like=LIKE)
    bigquery.add([gcp_row(cost="2"), november(cost="7")])
    night.load(source(bigquery))

    bigquery.add([november(cost="7")])
    report = night.load(source(bigquery))

    assert [load.delivery.billing_month for load in report.loaded] == [NOVEMBER]
    assert night.values("BilledCost") == [2, 7, 7]


def test_a_schema_that_grows_is_bound_by_name_and_the_new_column_counted(night: Night, bigquery: Emulator) -> None:
    bigquery.make(like=LIKE)
    bigquery.add([november(cost="7")])
    night.load(source(bigquery))

    bigquery.reset()
    bigquery.make(like=LIKE | {"brand_new": "x"})
    bigquery.add([november(cost="7"), november(cost="1", brand_new="x")])
    night.load(source(bigquery))

    assert sorted(map(str, night.values("BilledCost"))) == ["1.000000000000", "7.000000000000"]
    assert any(subject == "brand_new" for _, subject in night.counts())


@pytest.mark.parametrize("what", ["view", "plain table", "by export time"])
def test_a_table_without_ingestion_partitions_is_read_by_export_time(
    night: Night, bigquery: Emulator, what: str
) -> None:
    name = f"{PROJECT}.{DATASET}.base"
    bigquery.make(name, like=LIKE, partitioned_by="export_time" if what == "by export time" else None)
    bigquery.add([november(cost="7", export_time="2026-11-03 00:00:00 UTC"), gcp_row(cost="2")], name)
    if what == "view":
        bigquery.view(f"{PROJECT}.{DATASET}.a_view", f"SELECT * FROM `{name}`", like=LIKE)
        name = f"{PROJECT}.{DATASET}.a_view"

    report = night.load(source(bigquery, name))

    assert night.values("BilledCost") == [2, 7]
    assert (
        report.notes["gcp"]
        == {
            "view": ["a_view is a view: each query reads it by export_time, from end to end"],
            "plain table": [
                "base is not partitioned by the day of export: each query reads it by export_time, from end to end"
            ],
            "by export time": [],
        }[what]
    )


def test_a_table_that_is_no_billing_export_is_refused_by_name(night: Night, bigquery: Emulator) -> None:
    bigquery.make(like={"cost": Decimal(1), "what": "x"})

    error = night.refusal(source(bigquery))

    assert "is no billing export: it has no column billing_account_id, export_time, invoice.month" in str(error)


def test_a_table_that_is_not_there_is_refused(night: Night, bigquery: Emulator) -> None:
    error = night.refusal(source(bigquery, f"{PROJECT}.{DATASET}.gone"))
    assert "does not have what `table` names" in str(error)


def test_an_empty_table_is_no_failure(night: Night, bigquery: Emulator) -> None:
    bigquery.make(like=LIKE)
    assert night.load(source(bigquery)).without_data == ["gcp"]


def test_tables_of_two_accounts_with_the_same_project_make_one_month(night: Night, bigquery: Emulator) -> None:
    other = f"{PROJECT}.{DATASET}.other"
    bigquery.make(like=LIKE)
    bigquery.make(other, like=LIKE)
    bigquery.add([november(cost="7")])
    bigquery.add([november(cost="2") | {"billing_account_id": "FFFFFF-000000-111111"}], other)

    night.load(source(bigquery, DETAILED, other))

    assert night.rows('"BilledCost", "SubAccountId", "BillingAccountId"')[1] == (2, "ml-train", "FFFFFF-000000-111111")
    assert night.billed() == 9


def test_standard_and_detailed_tables_are_not_added_up(night: Night, bigquery: Emulator) -> None:
    standard = f"{PROJECT}.{DATASET}.standard"
    bigquery.make(like=LIKE)
    bigquery.make(standard, like={name: value for name, value in LIKE.items() if name != "resource"})

    error = night.refusal(source(bigquery, DETAILED, standard))

    assert "of several kinds, which hold the same costs" in str(error)


def test_months_before_the_lookback_are_left_alone_unless_asked_for(night: Night, bigquery: Emulator) -> None:
    bigquery.make(like=LIKE)
    bigquery.add([november(cost="7"), gcp_row(cost="1", month="202608")])

    report = night.load(source(bigquery))

    assert night.values("BilledCost") == [7]
    assert "1 rows of 2026-08 came on" in report.notes["gcp"][0]

    night.load(source(bigquery), months=frozenset({AUGUST}))
    assert night.values("BilledCost") == [1, 7]


@pytest.mark.parametrize("partitioned_by", ["_PARTITIONTIME", "export_time", None])
def test_rows_that_do_not_say_when_they_were_exported_are_loaded(
    night: Night, bigquery: Emulator, partitioned_by: str | None
) -> None:
    bigquery.make(like=LIKE, partitioned_by=partitioned_by)
    bigquery.add([november(cost="7", export_time=None), november(cost="1"), november(cost="2", export_time=None)])

    night.load(source(bigquery))

    assert night.values("BilledCost") == [7, 1, 2]
    assert night.load(source(bigquery)).loaded == []


def test_a_row_that_tells_no_month_stops_the_source(night: Night, bigquery: Emulator) -> None:
    bigquery.make(like=LIKE)
    bigquery.add([november(cost="7"), gcp_row(month="October")])

    assert "tell no invoice month" in str(night.refusal(source(bigquery)))


def test_a_loaded_month_that_has_no_rows_any_more_is_a_problem_and_stays(night: Night, bigquery: Emulator) -> None:
    bigquery.make(like=LIKE)
    bigquery.add([november(cost="7"), gcp_row(cost="2")])
    night.load(source(bigquery))

    bigquery.run(f"DELETE FROM `{DETAILED}` WHERE invoice.month = '202610'")
    error = night.refusal(source(bigquery))

    assert error.billing_month == OCTOBER
    assert night.billed() == 9


def test_a_project_that_stops_appearing_is_noted(night: Night, bigquery: Emulator) -> None:
    bigquery.make(like=LIKE)
    late = {"start": "2026-11-18 00:00:00 UTC", "end": "2026-11-18 01:00:00 UTC", "month": "202611"}
    bigquery.add([november(project="old"), november(), gcp_row(**late)])  # type: ignore[arg-type]

    report = night.load(source(bigquery))

    assert report.notes["gcp"] == ["1 projects have no usage for more than 7 days: old (last on 2026-11-02)"]


@pytest.mark.parametrize(("hour", "first"), [(7, date(2026, 8, 1)), (8, date(2026, 9, 1))])
def test_the_lookback_begins_by_pacific_time(night: Night, bigquery: Emulator, hour: int, first: date) -> None:
    bigquery.make(like=LIKE)
    bigquery.add([gcp_row(month="202608"), gcp_row(month="202609")])
    night.now = datetime(2026, 11, 1, hour, tzinfo=UTC)

    report = night.load(source(bigquery))

    assert report.loaded[0].delivery.billing_month == first
