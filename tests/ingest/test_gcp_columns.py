"""Columns of GCP charges: tags and what is inherited, machines and reservations, prices, invoice periods, resellers."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.rebuild import rebuild
from sql.contract import COST_AND_USAGE, TEXT_COLUMNS
from sql.parts import prepare
from sql.warehouse import Warehouse, WarehouseSettings
from tests.fakes.exports import flattened, gcp_row, write_csv, write_gcp, write_ndjson, write_parquet
from tests.ingest.night import NOW, Night, source

FORMATS = ["r.ndjson", "r.csv", "r.parquet"]
TAGGED: dict[str, Any] = {
    "tags": [
        {"key": "env", "value": "prod", "inherited": True, "namespace": "123456"},
        {"key": "env", "value": "other", "inherited": False, "namespace": "654321"},
        {"key": "env", "value": "second", "inherited": True, "namespace": "123456"},
    ],
    "labels": [{"key": "team", "value": "vision"}, {"key": "env", "value": "label"}],
    "project": {
        "id": "p", "number": "1", "name": "p",
        "labels": [{"key": "team", "value": "of-project"}, {"key": "cost-center", "value": "42"}],
    },
    "system_labels": [{"key": "env", "value": "system"}],
}  # fmt: skip


@pytest.mark.parametrize("file", FORMATS)
def test_namespaces_stay_apart_and_what_is_inherited_is_marked(night: Night, bucket: Path, file: str) -> None:
    write_gcp(bucket / file, [gcp_row(**{**TAGGED, "project": None}), _with_project()])

    night.load(source(bucket, "gcp-export"))

    own = {
        "env": "label", "goog-system/env": "system", "tag/123456/env": "prod", "tag/654321/env": "other",
        "team": "vision",
    }  # fmt: skip
    tags, inherited = zip(*night.rows('"Tags", "x_InheritedTags"'), strict=True)
    assert [json.loads(str(one)) for one in tags] == [own, own | {"cost-center": "42"}]
    assert [json.loads(str(one)) for one in inherited] == [["tag/123456/env"], ["cost-center", "tag/123456/env"]]


def _with_project() -> dict[str, Any]:
    """Return a row whose project has labels."""
    return gcp_row() | TAGGED


def test_a_query_joins_the_texts_of_tags_where_it_reads_them_and_nowhere_else(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "a.ndjson", [gcp_row(labels=[{"key": "team", "value": "vision"}])])
    write_gcp(bucket / "b.ndjson", [gcp_row(invoice={"month": "202609"}, labels=[{"key": "team", "value": "ranking"}])])
    night.load(source(bucket, "gcp-export"))

    assert night.values("Tags") == ['{"team":"ranking"}', '{"team":"vision"}']
    assert night.values("Tags", where="\"x_BillingMonth\" = date '2026-09-01'") == ['{"team":"ranking"}']
    everything_else = ", ".join(
        f'any_value("{column.name}")' for column in COST_AND_USAGE.columns if column.name not in TEXT_COLUMNS
    )
    for columns, is_joined in ((everything_else, False), ('any_value("Tags")', True)):
        [(_, plan)] = night.warehouse.rows(f"explain select {columns} from focus.cost_and_usage")
        assert ("JOIN" in str(plan).upper()) == is_joined, plan


def test_what_was_written_aside_and_not_swapped_is_gone_with_the_next_run(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "a.ndjson", [gcp_row()])
    night.load(source(bucket, "gcp-export"))
    for name in ("main__2026_10__aside", "main__2026_10__aside__tag_texts"):
        night.warehouse.execute(f'create table parts."{name}" as select 1 as one')

    night.load(source(bucket, "gcp-export"))

    names = night.warehouse.rows("select table_name from duckdb_tables() where schema_name = 'parts' order by 1")
    assert names == [("main__2026_10",), ("main__2026_10__tag_texts",), ("main__2026_10__tags",)]


def test_a_load_leaves_no_temporary_tables(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "a.ndjson", [gcp_row(labels=[{"key": "team", "value": "vision"}])])

    night.load(source(bucket, "gcp-export"))

    assert night.warehouse.rows("select table_name from duckdb_tables() where temporary") == []


def test_a_source_may_be_called_like_what_is_written_aside(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "a.ndjson", [gcp_row()])
    odd = source(bucket, "gcp-export", name="main__aside")

    night.load(odd)
    night.load(odd)

    assert night.billed() == 1


@pytest.mark.parametrize("where", ["true", "\"x_Source\" = 'other'"])
def test_sources_with_the_same_tags_in_one_month_keep_their_rows(night: Night, bucket: Path, where: str) -> None:
    other = bucket.parent / "other"
    labels = [{"key": "team", "value": "vision"}]
    write_gcp(bucket / "a.ndjson", [gcp_row(labels=labels), gcp_row(labels=labels), gcp_row()])
    write_gcp(other / "a.ndjson", [gcp_row(labels=labels, billing_account_id="01ABCD-EF0123-000000")])
    night.load(source(bucket, "gcp-export"), source(other, "gcp-export", name="other"))

    of_main: list[object] = ['{"team":"vision"}', '{"team":"vision"}', None]
    assert night.values("Tags", where=where) == ([*of_main, of_main[0]] if where == "true" else of_main[:1])


def test_a_load_that_is_refused_leaves_nothing_aside(night: Night, bucket: Path) -> None:
    write_gcp(bucket / "a.ndjson", [gcp_row(), gcp_row(), gcp_row()])
    night.load(source(bucket, "gcp-export"))
    write_gcp(bucket / "a.ndjson", [gcp_row()])

    assert "1 rows where 3 are loaded" in str(night.refusal(source(bucket, "gcp-export")))

    assert night.warehouse.rows("select table_name from duckdb_tables() where contains(table_name, 'aside')") == []


def test_a_row_that_inherits_nothing_has_no_such_list(night: Night, bucket: Path) -> None:
    labels = [{"key": "team", "value": "vision"}]
    project = {"id": "p", "number": "1", "name": "p", "labels": labels}
    write_gcp(bucket / "r.ndjson", [gcp_row(labels=labels) | {"project": project}, gcp_row()])

    night.load(source(bucket, "gcp-export"))

    assert night.values("x_InheritedTags") == [None, None]


def _system(**labels: str) -> list[dict[str, str]]:
    """Return system labels of Compute Engine."""
    return [{"key": f"compute.googleapis.com/{name}", "value": value} for name, value in labels.items()]


@pytest.mark.parametrize(("machine", "gpus"), [("a2-highgpu-4g", 4), ("g2-standard-24", 2), ("n1-standard-8", None)])
def test_a_machine_is_described_by_its_system_labels(
    night: Night, bucket: Path, machine: str, gpus: int | None
) -> None:
    labels = _system(machine_spec=machine, cores="8", memory="30720")
    sku = {"id": "G", "description": "Nvidia Tesla A100 GPU running in Americas"}
    write_gcp(bucket / "r.ndjson", [gcp_row(system_labels=labels), gcp_row(system_labels=labels, sku=sku), gcp_row()])

    night.load(source(bucket, "gcp-export"))

    [core, gpu, none] = night.values("SkuPriceDetails")
    shape = {
        "InstanceType": machine,
        "CoreCount": 8,
        "MemorySize": 30.0,
        "x_MemoryMegabytes": 30720.0,
        "GpuCount": gpus,
    }
    assert json.loads(str(core)) == shape | {"x_GpuType": None}
    assert json.loads(str(gpu)) == shape | {"x_GpuType": "Nvidia Tesla A100"}
    assert none is None


def test_a_reservation_is_used_or_unused(night: Night, bucket: Path) -> None:
    name = {"reservation_name": "gpus", "reservation_project_id": "shared"}
    write_gcp(bucket / "r.ndjson", [
        gcp_row(system_labels=_system(is_unused_reservation="true", **name)),
        gcp_row(system_labels=_system(is_unused_reservation="false", **name)),
        gcp_row(),
    ])  # fmt: skip

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"CapacityReservationId", "CapacityReservationStatus"') == [
        ("projects/shared/reservations/gpus", "Unused"),
        ("projects/shared/reservations/gpus", "Used"),
        (None, None),
    ]


def test_a_negotiated_price_stands_between_list_and_bill(night: Night, bucket: Path) -> None:
    row = gcp_row(
        cost="6",
        credits=[("-1", "SUSTAINED_USAGE_DISCOUNT")],
        cost_at_list=Decimal(10),
        cost_at_effective_price_default=Decimal(8),
        consumption_model={"id": "5515-81A8-03A2", "description": "CUD"},
    )
    write_gcp(bucket / "r.ndjson", [row])

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"ListCost", "ContractedCost", "x_UnblendedCost", "BilledCost", "EffectiveCost"') == [
        (10, 8, 6, 5, 5)
    ]


def test_a_cost_at_list_that_is_not_there_is_that_of_the_price_list(night: Night, bucket: Path) -> None:
    listed = [("CORE", "a", "USD", "0.02"), ("RAM", "a", "USD", "0.01"), ("RAM", "b", "USD", "0.03")]
    for sku, region, currency, price in listed:
        night.warehouse.execute(
            "insert into settings.price (provider, sku_id, region, currency, price)"
            " values ('Google Cloud', ?, ?, ?, ?)",
            [sku, region, currency, price],
        )
    usage = {
        "amount": Decimal(36000),
        "unit": "seconds",
        "amount_in_pricing_units": Decimal(10),
        "pricing_unit": "hour",
    }
    core, ram = ({"id": sku, "description": sku} for sku in ("CORE", "RAM"))
    rows = [
        gcp_row(cost="0.1", sku=core, usage=usage),
        gcp_row(cost="0.1", sku=core, usage=usage, currency="EUR", currency_conversion_rate=Decimal("0.5")),
        gcp_row(cost="0.1", sku=core, usage=usage, cost_at_list=Decimal("0.4")),
        gcp_row(cost="0.1", sku=ram, usage=usage),
        gcp_row(cost="0.1", sku=core, usage=usage, cost_type="tax"),
    ]
    write_gcp(bucket / "r.ndjson", rows)

    night.load(source(bucket, "gcp-export"))

    found = [Decimal(str(value)) for value in night.values("ListCost")]
    assert found == [Decimal("0.2"), Decimal("0.1"), Decimal("0.4"), Decimal("0.1"), Decimal("0.1")]


def test_a_rebuild_takes_the_price_list_that_there_is(tmp_path: Path, bucket: Path) -> None:
    settings = WarehouseSettings(path=tmp_path / "warehouse.duckdb")
    usage = {"amount_in_pricing_units": Decimal(10), "pricing_unit": "hour"}
    write_gcp(bucket / "r.ndjson", [gcp_row(cost="0.1", sku={"id": "CORE", "description": "Core"}, usage=usage)])
    exports = source(bucket, "gcp-export")
    with Warehouse.open(settings) as warehouse:
        prepare(warehouse)
        warehouse.execute(
            "insert into settings.price (provider, sku_id, currency, price)"
            " values ('Google Cloud', 'CORE', 'USD', 0.02)"
        )
        Night(warehouse, tmp_path / "landing").load(exports)

    rebuild(settings, [exports], tmp_path / "landing", NOW.replace(tzinfo=None))

    with Warehouse.open(settings) as warehouse:
        assert Night(warehouse, tmp_path / "landing").values("ListCost") == [Decimal("0.2")]


@pytest.mark.parametrize(
    ("month", "start", "end"),
    [("202603", (3, 1, 8), (4, 1, 7)), ("202611", (11, 1, 7), (12, 1, 8)), ("202607", (7, 1, 7), (8, 1, 7))],
    ids=["daylight saving begins", "daylight saving ends", "neither"],
)
def test_the_invoice_period_is_that_of_the_pacific_coast(
    night: Night, bucket: Path, month: str, start: tuple[int, int, int], end: tuple[int, int, int]
) -> None:
    write_gcp(bucket / "r.ndjson", [gcp_row(month=month, start="2026-03-09 00:00:00 UTC")])

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"x_InvoicePeriodStart", "x_InvoicePeriodEnd"') == [
        (datetime(2026, *start), datetime(2026, *end))  # noqa: DTZ001 - instants in the warehouse are UTC without zone
    ]


def test_a_resellers_export_counts_what_the_reseller_pays(night: Night, bucket: Path) -> None:
    correction = {"id": "a", "description": "Fixed", "mode": "COMPLETE_NEGATION", "type": "PRICE_CORRECTION"}
    row = gcp_row(cost="8", credits=[("-1", "RESELLER_MARGIN")], start="2026-09-30 00:00:00 UTC")
    row |= {"customer_cost": Decimal(11), "channel_partner_cost": Decimal(9), "adjustmentsInfo": correction}
    write_ndjson(bucket / "r.ndjson", [row])

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"BilledCost", "ChargeClass", "ChargeDescription"') == [(7, "Correction", "Fixed")]
    assert night.counts() == {("reseller's export, the cost to the reseller taken and not customer_cost", ""): 1}


def test_a_promotion_is_apart_from_discounts_of_a_contract(night: Night, bucket: Path) -> None:
    kinds = ["PROMOTION", "CREDIT_TYPE_UNSPECIFIED", "FREE_TIER", "DISCOUNT", "RESELLER_MARGIN", "SUBSCRIPTION_BENEFIT"]
    write_gcp(bucket / "r.ndjson", [gcp_row(cost="10", credits=[("-1", kind)]) for kind in kinds])

    night.load(source(bucket, "gcp-export"))

    assert night.values("x_PromotionalCredit") == [-1, -1, 0, 0, 0, 0]
    assert night.values("BilledCost") == [9] * 6


def _focus_row(**others: Any) -> dict[str, Any]:  # noqa: ANN401 - a column of any type
    """Return a charge of Google's own FOCUS export."""
    row = {
        "BilledCost": Decimal(3), "EffectiveCost": Decimal(3), "ListCost": Decimal(4), "ContractedCost": Decimal(4),
        "BillingAccountId": "01ABCD-EF0123-456789", "BillingCurrency": "USD", "BillingAccountType": "Billing Account",
        "BillingPeriodStart": "2026-10-01 00:00:00 UTC", "BillingPeriodEnd": "2026-11-01 00:00:00 UTC",
        "ChargePeriodStart": "2026-10-05 00:00:00 UTC", "ChargePeriodEnd": "2026-10-05 01:00:00 UTC",
        "ChargeCategory": "Usage", "ProviderName": "Google Cloud", "PublisherName": "Google Cloud",
        "ServiceName": "Vertex AI", "SubAccountId": "ml-train",
        "x_ServiceId": "C7E2-9256-1C43", "x_CostType": "regular",
        "x_Project": {"Id": "ml-train", "Number": "123", "Name": "ML", "AncestryNumbers": "/1/2/"},
        "x_Labels": [{"Key": "team", "Value": 'a "Key": b'}],
        "x_ProjectLabels": [{"Key": "center", "Value": "42"}],
        "x_SystemLabels": [{"Key": "compute.googleapis.com/cores", "Value": "4"}],
        "x_Tags": [{"Key": "env", "Value": "prod", "x_Inherited": True, "x_Namespace": "123"}],
        "x_Credits": [{"Name": "grant", "Amount": Decimal(-1), "FullName": "g", "Id": "1", "Type": "PROMOTION"}],
        "x_CurrencyConversionRate": Decimal(1), "x_ConsumptionModelId": "7754-699E-0EBF",
    }  # fmt: skip
    return row | others


@pytest.mark.parametrize("file", FORMATS)
def test_gaps_of_googles_own_focus_export_are_filled(night: Night, bucket: Path, file: str) -> None:
    rows = [_focus_row(), _focus_row(ChargeCategory="Purchase", ServiceName="Something New")]
    if file.endswith("csv"):
        write_csv(bucket / file, [flattened(row) for row in rows])
    elif file.endswith("parquet"):
        write_parquet(bucket / file, rows)
    else:
        write_ndjson(bucket / file, rows)

    night.load(source(bucket, "gcp-export"))

    assert night.rows(
        '"ServiceCategory", "ServiceSubcategory", "ChargeFrequency", "InvoiceIssuerName", "SubAccountType",'
        ' "x_PromotionalCredit", "x_CostType", "x_ServiceCode", "x_ProjectNumber", "x_ProjectAncestors"'
    ) == [
        ("AI and Machine Learning", "AI Platforms", "Usage-Based", "Google Cloud", "Project", -1, "regular",
         "C7E2-9256-1C43", "123", "/1/2/"),
        ("Other", "Other (Other)", "Recurring", "Google Cloud", "Project", -1, "regular",
         "C7E2-9256-1C43", "123", "/1/2/"),
    ]  # fmt: skip
    [tags, _] = night.values("Tags")
    assert json.loads(str(tags)) == {
        "center": "42", "goog-system/compute.googleapis.com/cores": "4", "tag/123/env": "prod", "team": 'a "Key": b',
    }  # fmt: skip
    assert json.loads(str(night.values("x_InheritedTags")[0])) == ["center", "tag/123/env"]
    of_california = (datetime(2026, 10, 1, 7), datetime(2026, 11, 1, 7))  # noqa: DTZ001 - UTC without zone
    assert night.rows('"x_InvoicePeriodStart", "x_InvoicePeriodEnd"') == [of_california] * 2
    assert night.counts() == {}
