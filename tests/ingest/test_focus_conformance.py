"""Loaded charges obey FOCUS 1.2, whatever export they came from.

Source: FOCUS 1.2, Cost and Usage; the normative requirements of each column.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sql.contract import COST_AND_USAGE
from sql.runner import build
from sql.warehouse import Warehouse, quoted
from tests.fakes.exports import deliver_legacy, focus_charge, write_csv, write_gcp
from tests.fakes.kinds import aws_lines, gcp_rows
from tests.ingest.night import Night, source

OF_OURS = "(\"x_Source\" like 'aws%' or \"x_Source\" like 'gcp%')"
"""Charges that are converted here; other sources deliver FOCUS, and their values are their own."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Night]:
    """Return a warehouse with charges of all kinds, and the sample exports where they are on this machine."""
    place = tmp_path_factory.mktemp("conformance")
    deliver_legacy(place / "aws", "2026-10", [aws_lines()])
    write_gcp(place / "gcp.ndjson", gcp_rows())
    write_csv(
        place / "focus.csv", [focus_charge(), focus_charge(ProviderName="Microsoft", PublisherName="", ServiceName="")]
    )
    sources = [
        source(place / "aws", name="aws"),
        source(place / "gcp.ndjson", "gcp-export", name="gcp"),
        source(place / "focus.csv", "focus-export", name="focus"),
    ]
    shared = Path(__file__).resolve().parents[3] / "shared" / "data"
    if shared.is_dir():
        sources += [
            source(shared / "aws/nise/bucket", name="aws-nise", replaces="aws"),
            source(shared / "aws/legacy_cur_aws_sample.csv", name="aws-sample", period="from-rows"),
            source(shared / "gcp/nise_resource_202610.csv.gz", "gcp-export", name="gcp-nise"),
            source(shared / "gcp/detailed_50rows.ndjson", "gcp-export", name="gcp-sample", replaces="gcp"),
            source(shared / "focus/official_1.0_1000.csv", "focus-export", name="focus-official"),
        ]
        deliver_legacy(
            place / "aws", "2026-10", [[line | {"bill_payer_account_id": "000000000001"} for line in aws_lines()]]
        )
        write_gcp(place / "gcp.ndjson", [row | {"billing_account_id": "OTHER"} for row in gcp_rows()])
    with Warehouse.in_memory() as warehouse:
        night = Night(warehouse, place / "landing")
        night.load(*sources)
        warehouse.execute(f"create temporary table charges as select * from {night.charges}")
        night.charges = "charges"
        yield night


def test_the_mart_names_the_rules_that_are_broken(loaded: Night) -> None:
    build(loaded.warehouse)
    found = loaded.warehouse.rows(
        "select source, rule, violating_rows from marts.conformance where source not in ('focus', 'focus-official')"
        # Made-up lines do not come to what their commitments cost.
        " and rule <> 'commitment_month_conserved' order by all"
    )

    # A line item type that nobody knows does not tell what it took of a commitment; usage without an amount.
    assert found == [("aws", "commitment_quantity_set", 2), ("gcp", "consumption_set", 1)]


def test_the_view_has_the_columns_of_focus_in_their_types(loaded: Night, shared_cases: Path) -> None:
    listed = shared_cases.parent / "reference" / "focus-columns.csv"
    with listed.open(encoding="utf-8", newline="") as lines:
        names = [row["column_id"] for row in csv.DictReader(lines) if row["version"] == "1.2"]
    described = loaded.warehouse.rows("select column_name, column_type from (describe focus.cost_and_usage)")

    assert len(names) == 57
    assert sorted(str(name) for name, _ in described if not str(name).startswith("x_")) == sorted(names)
    assert described == [(column.name, column.type) for column in COST_AND_USAGE.columns]


ALLOWED = {
    "BillingCurrency": ["USD"],
    "ChargeCategory": ["Usage", "Purchase", "Tax", "Credit", "Adjustment"],
    "ChargeClass": ["Correction"],
    "ChargeFrequency": ["One-Time", "Recurring", "Usage-Based"],
    "CommitmentDiscountCategory": ["Spend", "Usage"],
    "CommitmentDiscountStatus": ["Used", "Unused"],
    "CapacityReservationStatus": ["Used", "Unused"],
    "PricingCategory": ["Standard", "Dynamic", "Committed", "Other"],
    "ServiceCategory": [
        "AI and Machine Learning", "Analytics", "Business Applications", "Compute", "Databases", "Developer Tools",
        "Multicloud", "Identity", "Integration", "Internet of Things", "Management and Governance", "Media",
        "Migration", "Mobile", "Networking", "Security", "Storage", "Web", "Other",
    ],
}  # fmt: skip


@pytest.mark.parametrize("column", ALLOWED)
def test_a_column_holds_allowed_values_alone(loaded: Night, column: str) -> None:
    found = loaded.rows(f"distinct {quoted(column)}", order="1", where=f"{quoted(column)} is not null and {OF_OURS}")

    assert [value for (value,) in found if value not in ALLOWED[column]] == []


def test_subcategories_are_those_of_the_standard(loaded: Night, shared_cases: Path) -> None:
    listed = shared_cases.parent / "reference" / "focus-columns.csv"
    with listed.open(encoding="utf-8", newline="") as lines:
        [values] = [
            row["allowed_values"]
            for row in csv.DictReader(lines)
            if (row["version"], row["column_id"]) == ("1.2", "ServiceSubcategory")
        ]
    allowed = {tuple(word.strip() for word in value.split(">")) for value in values.split(";")}
    found = loaded.rows('distinct "ServiceCategory", "ServiceSubcategory"', order="1", where=OF_OURS)

    assert {tuple(map(str, pair)) for pair in found} - allowed == set()


MANDATORY = (
    "BilledCost", "BillingAccountId", "BillingAccountType", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart",
    "ChargeCategory", "ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart", "ContractedCost", "EffectiveCost",
    "InvoiceIssuerName", "ListCost", "ProviderName", "PublisherName", "ServiceCategory", "ServiceName",
    "ServiceSubcategory", "x_BillingMonth", "x_LoadId", "x_PromotionalCredit", "x_RowNumber", "x_Source",
)  # fmt: skip


def test_mandatory_columns_are_never_null(loaded: Night) -> None:
    counts = ", ".join(f"count(*) filter ({quoted(name)} is null)" for name in MANDATORY)
    [nulls] = loaded.rows(counts, order="1")

    assert {name: count for name, count in zip(MANDATORY, nulls, strict=True) if count} == {}


def test_no_column_holds_an_empty_text(loaded: Night) -> None:
    names = [column.name for column in COST_AND_USAGE.columns if column.type == "VARCHAR"]
    [empties] = loaded.rows(", ".join(f"count(*) filter ({quoted(name)} = '')" for name in names), order="1")

    assert {name: count for name, count in zip(names, empties, strict=True) if count} == {}


class Rule(NamedTuple):
    """What must hold of each charge; `where` says of which."""

    sentence: str
    holds: str
    where: str = "true"


RULES = (
    Rule("a region has a name exactly where it has an id", '("RegionName" is null) = ("RegionId" is null)'),
    Rule("a period begins before it ends", '"ChargePeriodStart" < "ChargePeriodEnd"'),
    Rule("a billing period is a calendar month", '"BillingPeriodEnd" = "BillingPeriodStart" + interval 1 month'),
    Rule("a billing period begins at the month", '"BillingPeriodStart" = cast("x_BillingMonth" as timestamp)'),
    Rule("consumption is of usage alone", "\"ConsumedQuantity\" is null or \"ChargeCategory\" = 'Usage'", OF_OURS),
    Rule("consumption has a unit", '"ConsumedQuantity" is null or "ConsumedUnit" is not null', OF_OURS),
    Rule("a purchase is not by usage", "not (\"ChargeCategory\" = 'Purchase' and \"ChargeFrequency\" = 'Usage-Based')"),
    Rule("usage is by usage", "\"ChargeCategory\" <> 'Usage' or \"ChargeFrequency\" = 'Usage-Based'", OF_OURS),
    Rule("a tax has no list price", '"ListUnitPrice" is null', "\"ChargeCategory\" = 'Tax'"),
    Rule("a tax has no contracted price", '"ContractedUnitPrice" is null', "\"ChargeCategory\" = 'Tax'"),
    Rule("a tax has no pricing category", '"PricingCategory" is null', "\"ChargeCategory\" = 'Tax'"),
    Rule("a tax has no quantity", '"PricingQuantity" is null and "PricingUnit" is null', "\"ChargeCategory\" = 'Tax'"),
    Rule(
        "usage and purchases have a pricing category",
        '"PricingCategory" is not null',
        f"\"ChargeCategory\" in ('Usage', 'Purchase') and \"ChargeClass\" is null and {OF_OURS}",
    ),
    Rule(
        "usage and purchases have prices, quantities and units",
        '"ListUnitPrice" is not null and "ContractedUnitPrice" is not null and "PricingQuantity" is not null'
        ' and "PricingUnit" is not null',
        f"\"ChargeCategory\" in ('Usage', 'Purchase') and \"ChargeClass\" is null and {OF_OURS}",
    ),
    Rule("prices are not negative", 'coalesce("ListUnitPrice", 0) >= 0', f'"BilledCost" >= 0 and {OF_OURS}'),
    Rule("no quantity is zero", '"PricingQuantity" <> 0', f'"PricingQuantity" is not null and {OF_OURS}'),
    Rule(
        "a commitment has a category and a type exactly where it has an id",
        '("CommitmentDiscountCategory" is null) = ("CommitmentDiscountId" is null)'
        ' and ("CommitmentDiscountType" is null) = ("CommitmentDiscountId" is null)',
        OF_OURS,
    ),
    Rule("a status is of a commitment", '"CommitmentDiscountId" is not null', '"CommitmentDiscountStatus" is not null'),
    Rule("a status is of usage", "\"ChargeCategory\" = 'Usage'",
         '"CommitmentDiscountStatus" is not null'),
    Rule("usage under a commitment has a status", '"CommitmentDiscountStatus" is not null',
         f"\"CommitmentDiscountId\" is not null and \"ChargeCategory\" = 'Usage' and {OF_OURS}"),
    Rule(
        "a commitment's quantity has a unit, and only a commitment has one",
        '("CommitmentDiscountUnit" is null) = ("CommitmentDiscountQuantity" is null)'
        ' and ("CommitmentDiscountQuantity" is null or "CommitmentDiscountId" is not null)',
        OF_OURS,
    ),
    Rule("a commitment's quantity is of usage and purchases", "\"ChargeCategory\" in ('Usage', 'Purchase')",
         f'"CommitmentDiscountQuantity" is not null and {OF_OURS}'),
    Rule("usage that a commitment covers bills nothing", '"BilledCost" = 0',
         "\"CommitmentDiscountStatus\" is not null and \"x_LineItemType\" = 'SavingsPlanCoveredUsage'"),
    Rule("a purchase of a commitment costs nothing in effect", '"EffectiveCost" = 0',
         f"\"ChargeCategory\" = 'Purchase' and \"CommitmentDiscountId\" is not null and {OF_OURS}"),
    Rule("a sub-account has a type where it has an id", '("SubAccountType" is null) = ("SubAccountId" is null)'),
    Rule("a reservation has a status exactly where it has an id",
         '"CapacityReservationStatus" is null or "CapacityReservationId" is not null'),
    Rule("a resource has an id where it has a name or a type",
         '"ResourceId" is not null or ("ResourceName" is null and "ResourceType" is null)', OF_OURS),
    Rule("a sku is of usage and purchases", '"SkuId" is null and "SkuPriceId" is null', "\"ChargeCategory\" = 'Tax'"),
    Rule("a sku's price has a sku", '"SkuPriceId" is null or "SkuId" is not null', OF_OURS),
    Rule("credits are not positive", '"x_PromotionalCredit" <= 0'),
    Rule("tags are an object", "\"Tags\" is null or json_type(\"Tags\") = 'OBJECT'"),
    Rule("tags or cost categories and their set go together",
         '("Tags" is null and "x_CostCategories" is null) = ("x_TagSetId" is null)'),
    Rule("price details are an object", "json_type(\"SkuPriceDetails\") = 'OBJECT'", '"SkuPriceDetails" is not null'),
    Rule("invoices of a cloud are issued by it", '"InvoiceIssuerName" = "ProviderName"', OF_OURS),
)  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=[rule.sentence for rule in RULES])
def test_every_charge_obeys(loaded: Night, rule: Rule) -> None:
    columns = '"x_Source", "x_LineItemType", "x_CostType", "ChargeCategory", "CommitmentDiscountId", "x_RowNumber"'
    broken = loaded.rows(
        f"distinct on (1, 2, 3, 4, 5) {columns}", order="1, 2, 3, 4, 5", where=f"({rule.where}) and not ({rule.holds})"
    )

    assert broken == []


def test_a_rule_finds_charges_to_look_at(loaded: Night) -> None:
    assert [rule.sentence for rule in RULES if not loaded.rows("1", order="1", where=rule.where)] == []


def test_a_service_has_one_category(loaded: Night) -> None:
    found = loaded.warehouse.rows(
        'select "ProviderName", "ServiceName", list(distinct "ServiceCategory") as categories from charges'
        f" where {OF_OURS} group by all having len(categories) > 1"
    )

    assert found == []


def test_a_subcategory_belongs_to_one_category(loaded: Night) -> None:
    found = loaded.warehouse.rows(
        'select "ServiceSubcategory", list(distinct "ServiceCategory") as categories from charges'
        f" where {OF_OURS} group by all having len(categories) > 1"
    )

    assert found == []


def test_words_of_the_standard_are_in_title_case(loaded: Night) -> None:
    small = {"and", "of"}
    for column in (
        "ChargeCategory",
        "ChargeFrequency",
        "PricingCategory",
        "ServiceCategory",
        "CommitmentDiscountStatus",
    ):
        for value in {str(value) for value in loaded.values(column, f"{quoted(column)} is not null")}:
            assert all(word[:1].isupper() or word in small for word in value.split()), value


def test_each_line_item_type_has_its_category_and_frequency(loaded: Night) -> None:
    found = loaded.rows(
        'distinct "x_LineItemType", "ChargeCategory", "ChargeFrequency", "x_CreditKind"',
        order="1",
        where="\"x_Source\" = 'aws' and \"x_LineItemType\" <> 'SavingsPlanNegation'",
    )

    discount = ("Credit", "One-Time", "negotiated")
    assert {str(item): tuple(rest) for item, *rest in found} == {
        "Usage": ("Usage", "Usage-Based", None),
        "DiscountedUsage": ("Usage", "Usage-Based", None),
        "SavingsPlanCoveredUsage": ("Usage", "Usage-Based", None),
        "Unheard": ("Usage", "Usage-Based", None),
        "RIFee": ("Purchase", "Recurring", None),
        "SavingsPlanRecurringFee": ("Purchase", "Recurring", None),
        "SavingsPlanUpfrontFee": ("Purchase", "One-Time", None),
        "Fee": ("Purchase", "One-Time", None),
        "OtherOutOfCycleCharges": ("Purchase", "One-Time", None),
        "FlatRateSubscription": ("Purchase", "Recurring", None),
        "Tax": ("Tax", "One-Time", None),
        "Credit": ("Credit", "One-Time", "promotional"),
        "Refund": ("Adjustment", "One-Time", "refund"),
        "EdpDiscount": discount,
        "PrivateRateDiscount": discount,
        "SppDiscount": discount,
        "RiVolumeDiscount": discount,
        "BundledDiscount": discount,
        "Discount": discount,
        "DistributorDiscount": discount,
    }


def test_units_are_those_of_the_standard(loaded: Night) -> None:
    found = {
        str(unit)
        for unit in loaded.values("PricingUnit", "\"x_Source\" in ('aws', 'gcp') and \"PricingUnit\" is not null")
    }

    assert {"Hours", "GB-Months", "GB-Seconds"} <= found
    assert found & {"Hrs", "GB-Mo", "Lambda-GB-Second", "hour", "gibibyte month"} == set()


def test_consumed_units_are_those_of_the_standard(loaded: Night) -> None:
    found = {
        str(unit)
        for unit in loaded.values("ConsumedUnit", "\"x_Source\" in ('aws', 'gcp') and \"ConsumedUnit\" is not null")
    }

    assert found & {"Hrs", "GB-Mo", "Lambda-GB-Second", "hour", "seconds", "gibibyte month"} == set()


def test_columns_carry_their_descriptions(loaded: Night) -> None:
    found = loaded.warehouse.rows(
        "select column_name, comment from duckdb_columns()"
        " where schema_name = 'focus' and table_name = 'cost_and_usage'"
    )

    assert found == [(column.name, column.description) for column in COST_AND_USAGE.columns]
