"""Lines of every kind that exports of AWS and Google Cloud have, under every commitment that they come under."""

from __future__ import annotations

from tests.fakes.exports import Row, cur_line, gcp_row

PLAN = "arn:aws:savingsplans::111111111111:savingsplan/b"
RESERVED = "arn:aws:ec2:us-east-1:111111111111:reserved-instances/a"
ITEMS = (
    "Usage", "DiscountedUsage", "SavingsPlanCoveredUsage", "SavingsPlanNegation", "RIFee", "SavingsPlanRecurringFee",
    "SavingsPlanUpfrontFee", "Fee", "Tax", "Credit", "Refund", "EdpDiscount", "PrivateRateDiscount", "SppDiscount",
    "RiVolumeDiscount", "BundledDiscount", "Discount", "DistributorDiscount", "OtherOutOfCycleCharges",
    "FlatRateSubscription", "Unheard",
)  # fmt: skip
COMMITTED = {
    "DiscountedUsage": (RESERVED,), "RIFee": (RESERVED,), "Fee": ("", RESERVED),
    "SavingsPlanCoveredUsage": ("", PLAN), "SavingsPlanNegation": ("", PLAN), "SavingsPlanRecurringFee": (PLAN,),
    "SavingsPlanUpfrontFee": (PLAN,), "Refund": ("", PLAN), "Unheard": ("", PLAN, RESERVED),
}  # fmt: skip
"""Line item types that come under a commitment."""


def aws_lines() -> list[Row]:
    """Return lines of every type and under every commitment that it comes under, and of many services."""
    rows = []
    for item in ITEMS:
        rows += [
            cur_line(
                cost="-2"
                if item in {"Credit", "Refund", "SavingsPlanNegation"}
                or ("Discount" in item and item != "DiscountedUsage")
                else "2",
                item=item,
                savings_plan_savings_plan_a_r_n=commitment if commitment == PLAN else "",
                reservation_reservation_a_r_n=commitment if commitment == RESERVED else "",
                savings_plan_savings_plan_effective_cost="1" if commitment == PLAN else "",
                reservation_effective_cost="1" if commitment == RESERVED else "",
                pricing_unit="Hrs",
                product_region="us-east-1",
            )
            for commitment in COMMITTED.get(item, ("",))
        ]
    services = [
        ("AmazonS3", "Requests-Tier1", "Requests", ""), ("AmazonEC2", "EBS:VolumeUsage.gp3", "GB-Mo", "eu-west-1"),
        ("AmazonEC2", "EU-DataTransfer-Out-Bytes", "GB", "eu-west-1"),
        ("AWSLambda", "Lambda-GB-Second", "Lambda-GB-Second", ""),
        ("AmazonBedrock", "input-tokens", "1K tokens", "us-west-2"), ("acme-model", "x", "Units", "nowhere-9"),
        ("AmazonEC2", "SpotUsage:p4d.24xlarge", "Hrs", "us-east-1"), ("", "", "", "global"),
    ]  # fmt: skip
    for code, usage, unit, region in services:
        rows.append(
            cur_line(
                line_item_product_code=code, line_item_usage_type=usage, pricing_unit=unit, product_region=region,
                line_item_usage_amount="0" if unit == "Units" else "3",
            )
        )  # fmt: skip
    return rows


def gcp_rows() -> list[Row]:
    """Return rows of every cost type, a commitment, spot usage, support, and places that are no region."""
    sku = {"id": "2E27-4F75-95CD"}
    return [
        *(gcp_row(cost_type=kind) for kind in ("regular", "tax", "adjustment", "rounding_error", "credit", "unheard")),
        gcp_row(sku=sku | {"description": "Commitment v1: Cpu in Americas for 1 Year"}),
        gcp_row(sku=sku | {"description": "Spot Preemptible A100 GPU"}, credits=[("-0.5", "PROMOTION")]),
        gcp_row(credits=[("-1", "COMMITTED_USAGE_DISCOUNT")]),
        gcp_row(service={"id": "s", "description": "Support"}, project=None),
        gcp_row(
            service={"id": "v", "description": "Vertex AI"}, location={"location": "us", "region": None, "zone": None}
        ),
        gcp_row(service={"id": "c", "description": "Cloud Storage"}, location={"location": "global", "region": None}),
        gcp_row(location=None, resource=None, usage=None),
    ]
