"""A whole GCP account: the same rows from each format, invoices to the cent, totals conserved, nothing twice."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from sql.warehouse import Row
from tests.fakes.bigquery import LIKE, Emulator
from tests.fakes.exports import write_gcp
from tests.fakes.gcp_account import FLEXIBLE, INVOICES, account_rows
from tests.ingest import bigquery_night
from tests.ingest.night import Night, source

FORMATS = ("r.parquet", "r.ndjson", "r.csv", "r.ndjson.gz", "r.csv.gz")
BY_INVOICE = (
    'select "BillingAccountId", "BillingCurrency", strftime("x_BillingMonth", \'%Y%m\'), {}'
    " from focus.cost_and_usage where \"x_Source\" = 'main' group by 1, 2, 3"
)


def invoices(night: Night, amount: str) -> dict[tuple[str, str, str], Decimal]:
    """Return a sum for each account, currency and month."""
    rows = night.warehouse.rows(BY_INVOICE.format(amount))
    return {(str(row[0]), str(row[1]), str(row[2])): Decimal(str(row[3])) for row in rows}


@pytest.mark.parametrize("file", FORMATS)
def test_each_format_comes_to_the_invoices(night: Night, bucket: Path, file: str) -> None:
    write_gcp(bucket / file, account_rows())

    night.load(source(bucket, "gcp-export"))

    assert invoices(night, 'sum("BilledCost")') == INVOICES
    assert invoices(night, 'sum("EffectiveCost")') == INVOICES
    assert invoices(night, 'sum("x_EffectiveCostProvider")') == INVOICES
    assert night.rest() == 0


def test_each_format_gives_the_same_charges(night: Night, bucket: Path) -> None:
    loaded: list[list[Row]] = []
    for number, file in enumerate(FORMATS):
        rows = [row | {"billing_account_id": f"{row['billing_account_id']}-{number}"} for row in account_rows()]
        write_gcp(bucket / str(number) / file, rows)
        night.load(source(bucket / str(number), "gcp-export", name=f"s{number}"))
        columns = '* exclude ("x_Source", "x_LoadId", "BillingAccountId", "x_Credits", "x_TagSetId")'
        loaded.append(night.rows(columns, where=f"\"x_Source\" = 's{number}'"))

    assert len(loaded[0]) > len(account_rows())
    assert all(other == loaded[0] for other in loaded[1:])


@pytest.mark.parametrize("way", ["storage", "queries"])
def test_bigquery_gives_the_same_charges_as_a_file(night: Night, bucket: Path, bigquery: Emulator, way: str) -> None:
    money = Decimal("0.5")
    bigquery.make(
        like=LIKE
        | {"consumption_model": FLEXIBLE, "subscription": {"instance_id": "s"}, "cost_at_list": money}
        | {"adjustment_info": dict.fromkeys(("id", "description", "mode", "type"), "a")}
        | {"cost_at_effective_price_default": money, "transaction_type": "GOOGLE", "seller_name": "s"}
    )
    bigquery.add(account_rows())
    rows = [row | {"billing_account_id": f"{row['billing_account_id']}-2"} for row in account_rows()]
    write_gcp(bucket / "r.parquet", rows)
    endpoint = {} if way == "storage" else {"storage_endpoint_url": None}

    night.load(bigquery_night.source(bigquery, **endpoint), source(bucket, "gcp-export"))

    of_bigquery = night.warehouse.rows(BY_INVOICE.format('sum("BilledCost")').replace("main", "gcp"))
    assert {(str(row[0]), str(row[1]), str(row[2])): row[3] for row in of_bigquery} == INVOICES
    columns = '* exclude ("x_Source", "x_LoadId", "x_RowNumber", "BillingAccountId", "x_Credits")'
    loaded = [night.rows(columns, order="all", where=f"\"x_Source\" = '{name}'") for name in ("gcp", "main")]
    assert len(loaded[0]) > len(rows)
    assert loaded[0] == loaded[1]


def test_a_second_night_and_a_second_download_change_nothing(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", account_rows())
    night.load(source(bucket, "gcp-export"))
    before = night.tables()

    assert night.load(source(bucket, "gcp-export")).loaded == []
    write_gcp(bucket / "r.ndjson", account_rows())
    assert night.load(source(bucket, "gcp-export")).loaded == []

    assert night.tables() == before


def test_rows_that_come_in_the_afternoon_are_all_that_is_added(night: Night, bucket: Path) -> None:
    rows = account_rows()
    write_gcp(bucket / "1.ndjson", rows[:-20])
    night.load(source(bucket, "gcp-export"))
    before = night.rows("count(*)", order="1", where='"x_RowNumber" > 0')
    write_gcp(bucket / "2.ndjson", rows[-20:])
    night.load(source(bucket, "gcp-export"))

    assert before == [(len(rows) - 20,)]
    assert night.rows("count(*)", order="1", where='"x_RowNumber" > 0') == [(len(rows),)]
    assert invoices(night, 'sum("EffectiveCost")') == INVOICES


def test_every_commitment_of_the_account_is_proven_or_said_to_be_unknown(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "r.ndjson", account_rows())

    night.load(source(bucket, "gcp-export"))

    assert night.warehouse.rows("select distinct gap_cost from ops.load_commitment") == [(0,)]
    assert night.warehouse.rows("select billing_month::varchar, effective_cost_state from ops.load order by 1") == [
        ("2026-10-01", "unproven"),
        ("2026-11-01", "proven"),
    ]
    assert night.counts()["commitment's fee spread as a whole, what is unused of it is not known", ""] == 1


def test_the_end_of_a_grant_changes_no_cost_before_credits(night: Night, bucket: Path) -> None:
    rows = account_rows()
    for row in rows:
        row["credits"] = [credit for credit in row["credits"] if credit["type"] != "PROMOTION"]
    write_gcp(bucket / "with" / "r.ndjson", account_rows())
    night.load(source(bucket / "with", "gcp-export", name="with"))
    rows = [row | {"billing_account_id": f"{row['billing_account_id']}-2"} for row in rows]
    write_gcp(bucket / "without" / "r.ndjson", rows)
    night.load(source(bucket / "without", "gcp-export", name="without"))

    before = '"EffectiveCost" - "x_PromotionalCredit"'
    charges = [night.rows(before, where=f"\"x_Source\" = '{name}'") for name in ("with", "without")]
    assert charges[0] == charges[1]
    assert night.billed("\"x_Source\" = 'with'") < night.billed("\"x_Source\" = 'without'")
