"""Columns of GCP charges: tags and what is inherited, machines and reservations, prices, invoice periods, resellers."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.exports import flattened, gcp_row, write_csv, write_gcp, write_ndjson, write_parquet
from tests.ingest.night import Night, source

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
    assert night.counts() == {}
