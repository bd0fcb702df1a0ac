"""From export files to GPU-hours: which lines are hours of accelerators, how many, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from overrun.accelerators import accelerator_rows
from overrun.config import Accelerator
from sql.runner import build
from sql.settings import replace_settings
from sql.warehouse import Row
from tests.fakes.exports import Row as Line
from tests.fakes.exports import cur_line, deliver_export, gcp_row, write_gcp
from tests.ingest.night import Night, source

RI = "arn:aws:ec2:us-east-1:111111111111:reserved-instances/a"
HOURS = (
    "select accelerator, pricing, gpu_hours, unused_gpu_hours, utilised_gpu_hours, effective_cost, billed_cost"
    " from marts.gpu_hours order by all"
)


def machine(usage_type: str, hours: str, cost: str, product: str = "AmazonEC2", **others: Any) -> Line:  # noqa: ANN401
    """Return a line for hours of a machine."""
    return cur_line(
        cost=cost,
        line_item_usage_type=usage_type,
        line_item_product_code=product,
        line_item_usage_amount=hours,
        **({"pricing_unit": "Hrs"} | others),
    )


def gpu(description: str, seconds: int, cost: str, unit: str = "seconds", **others: Any) -> Line:  # noqa: ANN401
    """Return a row of a SKU of Compute Engine that is metered by the second."""
    usage = {"amount": Decimal(seconds), "unit": unit, "amount_in_pricing_units": None, "pricing_unit": "hour"}
    service = {"id": "6F81-5844-456A", "description": "Compute Engine"}
    row: Line = {"service": service, "sku": {"id": description[-9:], "description": description}, "usage": usage}
    return gcp_row(cost=cost, **(row | others))


def hours(night: Night, configured: Sequence[Accelerator] = ()) -> list[Row]:
    """Build with our list of accelerators and those of the configuration, and return the hours."""
    replace_settings(night.warehouse, {"settings.accelerator": accelerator_rows(configured)})
    report = build(night.warehouse)
    assert not report.warnings
    return night.warehouse.rows(HOURS)


def row(kind: str, pricing: str, used: str | None, unused: str | None, *costs: str) -> tuple[object, ...]:
    """Return a row of the mart as it is expected."""
    counts = [None if text is None else Decimal(text) for text in (used, unused)]
    return (kind, pricing, *counts, None, *map(Decimal, costs))


def test_hours_of_aws_machines(night: Night, bucket: Path) -> None:
    fee = {
        "reservation_reservation_a_r_n": RI,
        "reservation_effective_cost": "",
        "reservation_amortized_upfront_fee_for_billing_period": "0",
        "reservation_unused_amortized_upfront_fee_for_billing_period": "0",
        "reservation_unused_recurring_fee": "40",
        "reservation_unused_quantity": "26.6667",
    }
    deliver_export(bucket, "2026-10", [[
        # 2.5 h of 8 GPUs; the machine's disk, and traffic under its id, are none of it.
        machine("USE1-BoxUsage:p4d.24xlarge", "2.5", "81.925"),
        machine("USE1-EBS:VolumeUsage.gp3", "744", "9.5", pricing_unit="GB-Mo"),
        machine("USE1-EBSOptimized:p4d.24xlarge", "2.5", "7"),
        machine("USE1-DataTransfer-Out-Bytes", "12", "1.08", pricing_unit="GB"),
        # A fee of another service on the same hours.
        machine("USE1-BoxUsage:p4d.24xlarge", "2.5", "0.675", product="ElasticMapReduce"),
        machine("USE1-SpotUsage:g5.12xlarge", "3", "5.1", resource="i-2"),
        machine("USE1-Train:ml.p4d.24xlarge", "0.25", "9.4", product="AmazonSageMaker", resource="arn:job"),
        machine("USE1-Train:VolumeUsage.gp2", "0.1", "0.01", product="AmazonSageMaker", pricing_unit="GB-Mo"),
        # 4 h under a reservation that costs 1.5 an hour; of its fee of 46, 40 are of hours that nothing took.
        machine("USE1-BoxUsage:p3.2xlarge", "4", "0", item="DiscountedUsage", resource="i-3",
                reservation_reservation_a_r_n=RI, reservation_effective_cost="6"),
        machine("USE1-HeavyUsage:p3.2xlarge", "31", "46", item="RIFee", resource="", **fee),
        # Reserved, and no machine ran on it: 2 h of 8.
        machine("USE1-UnusedBox:p5.48xlarge", "2", "110", resource="cr-1"),
        machine("USE1-Reservation:p5.48xlarge", "2", "0", resource="cr-1"),
        machine("USE1-BoxUsage:p77.48xlarge", "1", "3", resource="i-4"),
    ]], suffix=".snappy.parquet")  # fmt: skip
    night.load(source(bucket))

    expected = [
        row("A100-40GB", "on-demand", "22", "0", "91.325", "91.325"),
        row("A10G", "spot", "12", "0", "5.1", "5.1"),
        row("H100", "unused reservation", "0", "16", "110", "110"),
        row("V100", "committed", "4", "0", "6", "0"),
        row("unknown", "on-demand", None, "0", "3", "3"),
    ]
    assert hours(night) == expected
    [unused] = night.rows('"EffectiveCost"', where="\"CommitmentDiscountStatus\" = 'Unused'")
    assert unused == (Decimal(40),)

    own = Accelerator(instance_type="p77.48xlarge", accelerator="X1", count=Decimal("16"))
    named = row("X1", "on-demand", "16", "0", "3", "3")
    assert hours(night, [own]) == [*expected[:-1], named]


def test_hours_of_google_gpus_are_those_of_their_own_lines(night: Night, bucket: Path) -> None:
    unused = [{"key": "compute.googleapis.com/is_unused_reservation", "value": "true"}]
    write_gcp(bucket / "r.ndjson", [
        # Two A100 for three hours: 21,600 GPU-seconds; a quarter is paid by a promotion.
        gpu("Nvidia Tesla A100 GPU running in Americas", 21_600, "17.604", credits=[("-4.401", "PROMOTION")]),
        gpu("A2 Instance Core running in Americas", 259_200, "2.275992"),
        gpu("A2 Instance Ram running in Americas", 1_836_000, "2.16087", unit="byte-seconds"),
        gpu("Nvidia Tesla T4 GPU attached to Spot Preemptible VMs running in Iowa", 1_800, "0.055"),
        gpu("Nvidia L4 GPU running in Iowa", 3_600, "0.56", system_labels=unused),
        gpu("Spot Preemptible A4 Nvidia B200 (1 gpu slice) running in Americas", 28_800, "39.6"),
        gpu("Commitment v1: Nvidia Tesla A100 GPU running in Americas for 1 Year", 3_600, "1.84"),
        gpu("Omniverse per GPU", 3_600, "9", transaction_type="THIRD_PARTY_RESELLER", seller_name="NVIDIA"),
        gpu("Management fee on Nvidia Tesla A100 GPU in Americas", 21_600, "2.64"),
    ])  # fmt: skip
    night.load(source(bucket, "gcp-export"))

    assert hours(night) == [
        row("A100-40GB", "on-demand", "6", "0", "13.203", "13.203"),
        row("B200", "spot", "8", "0", "39.6", "39.6"),
        row("L4", "unused reservation", "0", "1", "0.56", "0.56"),
        row("T4", "spot", "0.5", "0", "0.055", "0.055"),
    ]
    gross = "select cost_before_credits from marts.gpu_hours where accelerator = 'A100-40GB'"
    assert night.warehouse.value(gross) == Decimal("17.604")


def test_a_month_without_accelerators_has_no_hours(night: Night, bucket: Path) -> None:
    deliver_export(bucket, "2026-10", [[machine("USE1-BoxUsage:m6i.4xlarge", "5", "3.84")]])
    night.load(source(bucket))

    assert hours(night) == []


def test_hours_under_a_savings_plan_are_counted_once_and_what_is_taken_back_is_taken_off(
    night: Night, bucket: Path
) -> None:
    plan = "arn:aws:savingsplans::111111111111:savingsplan/a"
    covered = {"savings_plan_savings_plan_a_r_n": plan, "savings_plan_savings_plan_effective_cost": "20"}
    used = {"savings_plan_total_commitment_to_date": "20", "savings_plan_used_commitment": "20"}
    fees = {"item": "SavingsPlanRecurringFee", "product": "ComputeSavingsPlans", "resource": ""}
    kind = "USE1-BoxUsage:p4d.24xlarge"
    second = {"start": "2026-10-02T00:00:00Z", "end": "2026-10-02T01:00:00Z"}
    deliver_export(bucket, "2026-10", [[
        machine(kind, "1", "32", item="SavingsPlanCoveredUsage", **covered),
        machine(kind, "1", "-32", item="SavingsPlanNegation", savings_plan_savings_plan_a_r_n=plan),
        machine("ComputeSP:1yrNoUpfront", "1", "20", savings_plan_savings_plan_a_r_n=plan, **fees, **used),
        # The next day, on demand: an hour and a half, of which half an hour is taken back, and a refund.
        machine(kind, "1.5", "48", **second),
        machine(kind, "-0.5", "-16", **second),
        machine(kind, "1", "-10", item="Refund", **second),
    ]])  # fmt: skip
    night.load(source(bucket))

    assert hours(night) == [
        row("A100-40GB", "committed", "8", "0", "20", "0"),
        row("A100-40GB", "on-demand", "8", "0", "22", "22"),
    ]
    days = "select charge_date, pricing from marts.gpu_hours order by all"
    assert night.warehouse.rows(days) == [(date(2026, 10, 1), "committed"), (date(2026, 10, 2), "on-demand")]
