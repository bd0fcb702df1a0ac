"""Values that are odd but can be read in one way only: loaded, rounded once, counted in the ledger."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal, localcontext
from pathlib import Path
from random import Random

from tests.fakes.exports import (
    cur_line,
    cur_lines,
    deliver_export,
    deliver_legacy,
    focus_charge,
    gcp_row,
    legacy_rows,
    write_csv,
    write_gcp,
    write_ndjson,
    write_parquet,
)
from tests.ingest.night import Night, rounded, source

MIDNIGHT = datetime(2026, 10, 1)  # noqa: DTZ001 - instants in the warehouse are UTC without zone
FORMS_OF_MIDNIGHT = [
    "2026-10-01T00:00:00Z",
    "2026-10-01T00:00:00.000Z",
    "2026-10-01T00:00:00.000000Z",
    "2026-10-01T00:00:00.000000000Z",
    "2026-10-01T00:00:00",
    "2026-10-01 00:00:00",
    "2026-10-01 00:00:00.000",
    "2026-10-01T00:00Z",
    "2026-10-01T00:00",
    "2026-10-01T00Z",
    "2026-10-01T00",
    "2026-10-01",
    "2026-10",
    "2026-10-01 00:00:00+00:00",
    "2026-10-01 00:00:00+00",
    "2026-10-01T02:00:00+02:00",
    "2026-10-01T02:00:00+0200",
    "2026-10-01T02:00+02",
    "2026-10-01T05:30:00+05:30",
    "2026-09-30T16:00:00-08:00",
    "2026-09-30T16:00:00.000-08",
    "2026-09-30T24:00:00Z",
    "2026-10-01T00:00:00,000Z",
    "2026-10-01t00:00:00z",
    "20261001T000000Z",
    "20261001T000000.000Z",
    "20261001T000000",
    "20261001T0000Z",
    "20261001T0000",
    "20261001T00Z",
    "20261001",
    "20261001T020000+0200",
    "20261001T020000+02",
    "20260930T160000-0800",
    "2026-274",
    "2026274",
    "2026-274T00:00:00Z",
    "2026-W40-4",
    "2026W404",
    "2026-W40-4T00:00:00Z",
    "2026-10-01 00:00:00 UTC",
]


def test_every_form_of_a_date_is_the_same_instant(night: Night, bucket: Path) -> None:
    # In the optional column, where a form that is not understood is null and does not hide the others.
    deliver_legacy(bucket, "2026-10", [[cur_line(start="2026-09-30", end=form) for form in FORMS_OF_MIDNIGHT]])

    night.load(source(bucket))

    found = dict(zip(FORMS_OF_MIDNIGHT, night.values("ChargePeriodEnd"), strict=True))
    assert {form: instant for form, instant in found.items() if instant != MIDNIGHT} == {}


def test_one_file_may_hold_several_forms_of_a_date(night: Night, bucket: Path) -> None:
    forms = ["2026-10-01T00:00:00Z", "2026-10-01 02:00:00+02:00", "2026-10-01", "20261001T000000.000Z", "2026-W40-4"]
    deliver_legacy(bucket, "2026-10", [[cur_line(start=form, end=form) for form in forms]])

    night.load(source(bucket))

    assert night.values("ChargePeriodStart") == [MIDNIGHT] * len(forms)
    assert night.values("ChargePeriodEnd") == [MIDNIGHT] * len(forms)


def test_a_fraction_of_a_second_and_an_odd_offset_are_kept(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1", start="2026-10-01T05:45:00.250+05:45")])

    night.load(source(bucket))

    assert night.values("ChargePeriodStart") == [MIDNIGHT.replace(microsecond=250_000)]


def test_a_non_number_in_an_optional_column_is_null_and_counted_per_column(night: Night, bucket: Path) -> None:
    odd = cur_line(
        cost="2",
        line_item_usage_amount="many",
        pricing_public_on_demand_cost="convertible",
        reservation_effective_cost="n/a",
    )
    plain = cur_line(
        cost="1", line_item_usage_amount="3", pricing_public_on_demand_cost="1.5", reservation_effective_cost=""
    )
    deliver_legacy(bucket, "2026-10", [[plain, odd, odd]])

    night.load(source(bucket))

    assert night.rows('"BilledCost", "ConsumedQuantity", "ListCost"') == [
        (1, 3.0, Decimal("1.5")),
        (2, None, 2),
        (2, None, 2),
    ]
    rule = "value does not convert, read as null"
    assert night.counts() == {
        (rule, "line_item_usage_amount"): 2,
        (rule, "pricing_public_on_demand_cost"): 2,
        (rule, "reservation_effective_cost"): 2,
    }


def test_an_amount_that_is_no_finite_number_is_null(night: Night, bucket: Path) -> None:
    amounts = ["inf", "-Infinity", "NaN", "nan", "1e999", "0x10", "1,5", "--1", "1 000"]
    deliver_legacy(bucket, "2026-10", [[cur_line(line_item_usage_amount=amount) for amount in amounts]])

    night.load(source(bucket))

    found = dict(zip(amounts, night.values("ConsumedQuantity"), strict=True))
    assert found == dict.fromkeys(amounts)
    assert night.counts() == {("value does not convert, read as null", "line_item_usage_amount"): len(amounts)}


def test_an_unknown_line_item_type_is_usage_where_it_has_a_usage_type(night: Night, bucket: Path) -> None:
    rows = [cur_line(cost="3", item="Rebate2030"), cur_line(cost="-1", item="Rebate2030", line_item_usage_type="")]
    deliver_legacy(bucket, "2026-10", [[*rows, cur_line(cost="5", item="Andere")]])

    night.load(source(bucket))

    assert night.rows('"x_LineItemType", "ChargeCategory", "BilledCost", "EffectiveCost"') == [
        ("Rebate2030", "Usage", 3, 3),
        ("Rebate2030", "Adjustment", -1, -1),
        ("Andere", "Usage", 5, 5),
    ]
    assert night.counts() == {
        ("unknown line item type", "Rebate2030"): 2,
        ("unknown line item type", "Andere"): 1,
    }


def test_an_empty_line_item_type_is_usage_and_counted(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("1", item="")])

    night.load(source(bucket))

    assert night.values("ChargeCategory") == ["Usage"]
    assert night.counts() == {("empty line item type read as Usage", ""): 1}


def test_an_unknown_charge_category_is_an_adjustment_and_counted(night: Night, bucket: Path) -> None:
    write_csv(bucket / "f.csv", [focus_charge(cost="3", ChargeCategory="Rebate"), focus_charge(ChargeCategory="")])

    night.load(source(bucket, "focus-export"))

    assert night.values("ChargeCategory") == ["Adjustment", "Adjustment"]
    assert night.counts() == {("unknown charge category", "Rebate"): 1, ("unknown charge category", "(none)"): 1}


def test_an_empty_cost_is_nothing_and_counted(night: Night, bucket: Path) -> None:
    deliver_legacy(bucket, "2026-10", [cur_lines("", "2", "")])

    night.load(source(bucket))

    assert night.values("BilledCost") == [0, 2, 0]
    assert night.values("EffectiveCost") == [0, 2, 0]
    assert night.counts() == {("empty cost read as 0", ""): 2}


def test_an_empty_cost_of_a_focus_export_is_nothing_and_counted(night: Night, bucket: Path) -> None:
    write_csv(bucket / "f.csv", [focus_charge(cost=""), focus_charge(cost="NULL"), focus_charge(cost="2")])

    night.load(source(bucket, "focus-export"))

    assert night.values("BilledCost") == [0, 0, 2]
    assert night.counts() == {("empty cost read as 0", ""): 2}


def test_an_empty_usage_start_or_end_is_the_billing_periods_and_counted(night: Night, bucket: Path) -> None:
    rows = [cur_line(start=""), cur_line(end=""), cur_line(start="", end="")]
    deliver_legacy(bucket, "2026-10", [rows])

    night.load(source(bucket))

    following = MIDNIGHT.replace(month=11)
    assert night.rows('"ChargePeriodStart", "ChargePeriodEnd"') == [
        (MIDNIGHT, MIDNIGHT.replace(hour=1)),
        (MIDNIGHT, following),
        (MIDNIGHT, following),
    ]
    assert night.counts() == {
        ("empty usage start, the billing period's taken", ""): 2,
        ("empty usage end, the billing period's taken", ""): 2,
    }


def test_rows_that_tell_no_month_are_not_lost(night: Night, bucket: Path) -> None:
    rows = _without_period([cur_line(cost="1"), cur_line(cost="2", start="")])
    write_csv(bucket / "r.csv", legacy_rows(rows))

    report = night.run(source(bucket, period="from-rows"))

    # Either the load says that it cannot place the row, or the row is there.
    assert report.problems or night.billed() == 3


def _without_period(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return lines that do not say which bill they are on."""
    return [{name: value for name, value in row.items() if name != "bill_billing_period_start_date"} for row in rows]


LONG_COSTS = [
    "0.1234567890125",
    "-0.1234567890125",
    "0.12345678901249999",
    "0.000000000000499999",
    "0.0000000000005",
    "1.5E-7",
    "1E-13",
    "7.5e-13",
    "-4.9999999999999E-3",
    "1.23456789012345678E2",
    "99999999999999.123456789012499",
    "+1.5",
    ".5",
    "5.",
    "-0",
    "00012.50",
]


def test_a_cost_beyond_twelve_decimals_is_rounded_once_and_the_rest_recorded(night: Night, bucket: Path) -> None:
    payers = {f"{number:012d}": cost for number, cost in enumerate(LONG_COSTS)}
    deliver_legacy(bucket, "2026-10", [[cur_line(cost=cost, payer=payer) for payer, cost in payers.items()]])

    night.load(source(bucket))

    assert night.values("BilledCost") == [rounded(cost) for cost in LONG_COSTS]
    rows = night.warehouse.rows("select billing_account_id, rounded_cost from ops.load_total order by 1")
    recorded = {payers[str(payer)]: rest for payer, rest in rows}
    assert recorded == {cost: Decimal(cost) - rounded(cost) for cost in LONG_COSTS}


def test_what_rounding_took_adds_up_over_rows(night: Night, bucket: Path) -> None:
    write_csv(bucket / "f.csv", [focus_charge(cost=cost) for cost in ["0.0000000000004"] * 3 + ["0.0000000000006"]])

    night.load(source(bucket, "focus-export"))

    assert night.billed() == Decimal("1e-12")
    assert night.rest() == Decimal("8e-13")


def test_a_double_is_rounded_by_way_of_its_shortest_text(night: Night, bucket: Path) -> None:
    import pyarrow as pa

    chance = Random(4096)  # noqa: S311 - the same values each time
    values = [chance.uniform(-1, 1) * 10.0 ** chance.randint(-18, 13) for _ in range(3000)]
    values += [round(chance.uniform(-5000, 5000), chance.randint(0, 13)) for _ in range(3000)]
    values += [0.1 + 0.2, 4096.0, 4095.999999999999, 4096.0000000000005, 0.0000000000005, -0.0, 5e-324, 2.5e-12]
    rows = [focus_charge() | {"BilledCost": value} for value in values]
    write_parquet(bucket / "f.parquet", rows, {"BilledCost": pa.float64()})

    night.load(source(bucket, "focus-export"))

    loaded = zip(values, night.values("BilledCost"), strict=True)
    assert [(value, cost) for value, cost in loaded if cost != rounded(value)] == []
    with localcontext(prec=60):
        rests = [(Decimal(repr(value)) - rounded(value)).quantize(Decimal("1e-24")) for value in values]
        assert night.rest() == sum(rests)


def test_a_decimal_of_parquet_is_rounded_once(night: Night, bucket: Path) -> None:
    import pyarrow as pa

    values = [Decimal("1.000000000000600000"), Decimal("2.500000000000400000"), None]
    rows = [focus_charge() | {"BilledCost": value} for value in values]
    write_parquet(bucket / "f.parquet", rows, {"BilledCost": pa.decimal128(38, 18)})

    night.load(source(bucket, "focus-export"))

    assert night.values("BilledCost") == [Decimal("1.000000000001"), Decimal("2.5"), 0]
    assert night.counts() == {("empty cost read as 0", ""): 1}


def test_what_rounding_takes_from_a_decimal_of_parquet_is_recorded(night: Night, bucket: Path) -> None:
    import pyarrow as pa

    row = focus_charge() | {"BilledCost": Decimal("1.000000000000600000")}
    write_parquet(bucket / "f.parquet", [row], {"BilledCost": pa.decimal128(38, 18)})

    night.load(source(bucket, "focus-export"))

    assert night.rest() == Decimal("-4e-13")


def test_json_numbers_are_read_by_their_text(night: Night, bucket: Path) -> None:
    numbers = ["0.1", "1E-7", "-1.5e-05", "1234.123456789012", "4503599627370496", "0.30000000000000004"]
    write_gcp(bucket / "r.ndjson", [gcp_row(cost=number) for number in numbers])

    night.load(source(bucket, "gcp-export"))

    assert night.values("BilledCost") == [rounded(number) for number in numbers]


def test_a_decimal_that_json_carries_as_text_keeps_all_its_digits(night: Night, bucket: Path) -> None:
    write_ndjson(bucket / "r.ndjson", [gcp_row() | {"cost": "12345678901234.123456789012"}])

    night.load(source(bucket, "gcp-export"))

    assert night.values("BilledCost") == [Decimal("12345678901234.123456789012")]


def test_fields_that_the_first_object_lacks_are_read_from_later_ones(night: Night, bucket: Path) -> None:
    # BigQuery leaves out fields that are null.
    first = {
        name: value for name, value in gcp_row(cost="1").items() if name not in {"currency_conversion_rate", "tags"}
    }
    later = gcp_row(cost="2", cost_at_list=Decimal(3), seller_name="Acme", transaction_type="THIRD_PARTY_RESELLER")
    write_ndjson(bucket / "r.ndjson", [first, later])

    night.load(source(bucket, "gcp-export"))

    assert night.rows('"BilledCost", "ListCost", "PublisherName"')[1] == (2, 3, "Acme")


def test_tags_that_are_no_json_are_counted(night: Night, bucket: Path) -> None:
    write_csv(bucket / "f.csv", [focus_charge(Tags="{'team': 'vision'}"), focus_charge(Tags='{"team":"vision"}')])

    night.load(source(bucket, "focus-export"))

    assert night.tags() == {("team", "vision")}
    assert night.counts() == {("value does not convert, read as null", "Tags"): 1}


def test_a_map_of_tags_that_is_no_json_is_counted(night: Night, bucket: Path) -> None:
    deliver_export(bucket, "2026-10", [[cur_line(resource_tags="{user_team=vision}")]])

    night.load(source(bucket))

    assert night.tags() == set()
    assert len(night.counts()) == 1
