"""What the shipped list says of usage types and SKUs, as bills of both clouds write them."""

from __future__ import annotations

import duckdb
import pytest

from overrun.waste_checks import meaning_rows

AWS, GOOGLE = "AWS", "Google Cloud"


def meaning_of(provider: str, service_code: str, usage_type: str) -> str | None:
    """Return the meaning of the first pattern that fits, as `core.usage_meaning` takes it."""
    rows = [list(values) for values in zip(*meaning_rows(), strict=True)]
    kinds = ("integer", "varchar", "varchar", "varchar", "varchar", "varchar")
    listed = ", ".join(f"unnest(?::{kind}[])" for kind in kinds)
    found = duckdb.execute(
        f"select meaning from (select {listed}) as listed(number, provider, service_code, pattern, meaning, detail)"
        " where provider = ? and (service_code is null or service_code = ?)"
        " and lower(?) like pattern escape '\\' order by number limit 1",
        [*rows, provider, service_code, usage_type],
    ).fetchone()
    return None if found is None else str(found[0])


@pytest.mark.parametrize(
    ("service_code", "usage_type", "meaning"),
    [
        ("AmazonEC2", "ElasticIP:IdleAddress", "idle_address"),
        ("AmazonVPC", "USE1-PublicIPv4:IdleAddress", "idle_address"),
        ("AmazonVPC", "EU-PublicIPv4:InUseAddress", "used_address"),
        ("AmazonEC2", "NatGateway-Hours", "nat_hours"),
        ("AmazonEC2", "USE2-NatGateway-Bytes", "nat_traffic"),
        ("AmazonEC2", "USE1-NatGateway-Prvd-Bytes", "nat_traffic"),
        ("AWSELB", "LoadBalancerUsage", "balancer_hours"),
        ("AWSELB", "USW2-LCUUsage", "balancer_traffic"),
        ("AWSELB", "EU-DataProcessing-Bytes", "balancer_traffic"),
        ("AmazonEC2", "EU-DataProcessing-Bytes", "balancer_traffic"),
        ("AmazonCloudWatch", "DataProcessing-Bytes", None),
        ("AWSELB", "USE1-TS-LoadBalancerUsage", "trust_store"),
        ("AmazonEC2", "UnusedBox:m5.large", "unused_reservation"),
        ("AmazonEC2", "EU-UnusedDed:m5.large", "unused_reservation"),
        ("AmazonEC2", "BoxUsage:m5.large", "machine"),
        ("AmazonEC2", "USE1-SpotUsage:c6g.large", "spot_machine"),
        ("ElasticMapReduce", "BoxUsage:m5.large", None),
        ("AmazonRDS", "InstanceUsage:db.r5.large", "database"),
        ("AmazonEC2", "EBS:VolumeUsage.gp2", "disk"),
        ("AmazonEC2", "EBS:SnapshotUsage", "snapshot"),
        ("AmazonSageMaker", "USE1-Host:ml.g5.xlarge", "endpoint_hours"),
        ("AmazonSageMaker", "USE1-Hst:Data-Bytes-In", "endpoint_traffic"),
        ("AmazonSageMaker", "USE1-Train:ml.p4d.24xlarge", None),
        ("AmazonSageMaker", "USE1-Notebk:ml.t3.medium", "notebook_hours"),
        ("AmazonS3", "TimedStorage-ByteHrs", "bucket_storage"),
        ("AmazonCloudWatch", "USE1-TimedStorage-ByteHrs", "log_storage"),
    ],
)
def test_usage_types_of_aws(service_code: str, usage_type: str, meaning: str | None) -> None:
    assert meaning_of(AWS, service_code, usage_type) == meaning


@pytest.mark.parametrize(
    ("sku", "meaning"),
    [
        ("Static Ip Charge", "idle_address"),
        ("External IP Charge on a Standard VM", "used_address"),
        ("Networking Cloud Nat Gateway Uptime", "nat_hours"),
        ("Networking Cloud Nat Data Processing", "nat_traffic"),
        ("N1 Predefined Instance Core running in Americas", "machine"),
        ("Compute optimized Core running in EMEA", "machine"),
        ("Compute optimized Ram running in EMEA", "machine"),
        ("Micro Instance with burstable CPU running in Americas", "machine"),
        ("Small Instance with 1 VCPU running in Americas", "machine"),
        ("Spot Preemptible N2 Instance Core running in Americas", "spot_machine"),
        ("Nvidia Tesla T4 GPU running in Americas", "machine"),
        ("SSD backed PD Capacity", "disk"),
        ("Storage PD Snapshot in US", "snapshot"),
    ],
)
def test_skus_of_google_cloud(sku: str, meaning: str) -> None:
    assert meaning_of(GOOGLE, "6F81-5844-456A", sku) == meaning
