"""The checks for waste that billing data alone can answer: their defaults, and what usage types mean to them.

The lists in `sql/data` have public facts: names of usage types and SKUs as bills have them, and which family of
machines stands in for which. Each check is a model, `core.waste_<name>`; the configuration changes its numbers or turns
it off.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files

Row = tuple[object, ...]

AWS, GOOGLE = "AWS", "Google Cloud"


@dataclass(frozen=True, slots=True, kw_only=True)
class WasteCheck:
    """One check with its numbers."""

    name: str
    title: str
    """What it looks for, as people read it."""
    meaning: str
    """Meaning of the usage that it cannot do without."""
    window_days: int
    minimum_days: int
    """Days of the window on which a resource must be charged before anything is claimed."""
    saving_percent: int | None = 100
    """Part of the cost that is saved; None where it follows from prices or quantities of the bill."""
    limit: int | None = None
    """The check's own threshold, where it has one."""
    providers: tuple[str, ...] | None = None
    """Providers whose bills it reads; None for all that have usage of its meaning."""
    needs_resources: bool = True
    is_enabled: bool = True


CHECKS = (
    WasteCheck(name="idle_address", title="Public address that nothing uses", meaning="idle_address",
               window_days=7, minimum_days=7),
    WasteCheck(name="idle_nat", title="NAT gateway without traffic", meaning="nat_hours",
               window_days=14, minimum_days=14),
    WasteCheck(name="idle_load_balancer", title="Load balancer without traffic", meaning="balancer_hours",
               window_days=7, minimum_days=7),
    WasteCheck(name="stopped_machine_disk", title="Disk of a stopped machine", meaning="disk",
               window_days=30, minimum_days=30),
    WasteCheck(name="old_snapshot", title="Old snapshot", meaning="snapshot", window_days=90, minimum_days=85),
    WasteCheck(name="gp2_volume", title="Volume of type gp2 instead of gp3", meaning="disk",
               window_days=7, minimum_days=7, saving_percent=20, limit=170, providers=(AWS,)),
    WasteCheck(name="provisioned_iops", title="Provisioned operations that gp3 has for nothing", meaning="disk_iops",
               window_days=7, minimum_days=7, limit=3000, providers=(AWS,)),
    WasteCheck(name="previous_generation", title="Machine of an old family", meaning="machine",
               window_days=7, minimum_days=7, saving_percent=None, providers=(AWS,)),
    WasteCheck(name="arm_twin", title="Machine that has a cheaper twin with ARM processors", meaning="machine",
               window_days=7, minimum_days=7, saving_percent=None, providers=(AWS,)),
    WasteCheck(name="unused_commitment", title="Commitment that is not used up", meaning="unused_commitment",
               window_days=30, minimum_days=7, providers=(AWS, GOOGLE), needs_resources=False),
    WasteCheck(name="uncovered_on_demand", title="Steady usage on demand without a commitment", meaning="machine",
               window_days=30, minimum_days=25, saving_percent=0, needs_resources=False),
    WasteCheck(name="idle_reservation", title="Reserved capacity that nothing takes", meaning="unused_reservation",
               window_days=7, minimum_days=7),
    WasteCheck(name="log_growth", title="Logs that are never deleted", meaning="log_storage",
               window_days=90, minimum_days=85, saving_percent=None),
    WasteCheck(name="idle_bucket", title="Bucket that nobody asks", meaning="bucket_storage",
               window_days=30, minimum_days=30, saving_percent=0, limit=10),
    WasteCheck(name="idle_endpoint", title="Endpoint of a model without traffic", meaning="endpoint_hours",
               window_days=14, minimum_days=14),
    WasteCheck(name="always_on_notebook", title="Notebook that runs day and night", meaning="notebook_hours",
               window_days=7, minimum_days=7, saving_percent=None, limit=20),
    WasteCheck(name="extended_support", title="Version under extended support", meaning="extended_support",
               window_days=7, minimum_days=2),
    WasteCheck(name="short_lived_machine", title="Short-lived machines on demand", meaning="machine",
               window_days=7, minimum_days=1, saving_percent=0, limit=6, providers=(AWS,)),
    WasteCheck(name="cross_zone_traffic", title="Traffic between zones", meaning="cross_zone_traffic",
               window_days=30, minimum_days=25, saving_percent=0, limit=10, needs_resources=False),
    WasteCheck(name="used_address", title="Public addresses in use", meaning="used_address",
               window_days=7, minimum_days=7, saving_percent=0),
    WasteCheck(name="gpu_without_metrics", title="GPUs of which no metric says whether they work", meaning="machine",
               window_days=7, minimum_days=1, saving_percent=None),
)  # fmt: skip
"""In the order in which they are listed."""


SAVING_KEYS = frozenset(
    {
        "gp2_volume",
        "uncovered_on_demand",
        "idle_bucket",
        "short_lived_machine",
        "cross_zone_traffic",
        "used_address",
    }
)
"""Checks whose saving the configuration may say."""


def check_template() -> str:
    """Return the table of every check with its defaults, as comments of a configuration file."""
    lines: list[str] = []
    for check in CHECKS:
        lines += [f"# {check.title}.", f"#[waste.{check.name}]", "#enabled = true"]
        lines += [f"#window_days = {check.window_days}", f"#minimum_days = {check.minimum_days}"]
        lines += [f"#saving_percent = {check.saving_percent}"] if check.name in SAVING_KEYS else []
        lines += [f"#limit = {check.limit}"] if check.limit is not None else []
    return "\n".join(lines) + "\n"


def check_rows(checks: Iterable[WasteCheck]) -> list[Row]:
    """Return the rows of `settings.waste_check`."""
    return [
        (
            check.name,
            check.title,
            check.meaning,
            check.is_enabled,
            check.window_days,
            check.minimum_days,
            Decimal(check.saving_percent or 0) / 100,
            None if check.limit is None else float(check.limit),
            check.needs_resources,
        )
        for check in checks
    ]


def provider_rows(checks: Iterable[WasteCheck]) -> list[Row]:
    """Return the rows of `settings.waste_provider`: on which cloud each check knows what to look for."""
    known = {(row["provider"], row["meaning"]) for row in _listed("waste_meanings.csv")}
    return [
        (check.name, provider)
        for check in checks
        for provider in (AWS, GOOGLE)
        if (provider in check.providers if check.providers is not None else (provider, check.meaning) in known)
    ]


def meaning_rows() -> list[Row]:
    """Return the rows of `settings.waste_meaning`; of several patterns that fit, the first counts."""
    return [
        (
            number,
            row["provider"],
            row["service_code"] or None,
            row["usage_pattern"],
            row["meaning"],
            row["detail"] or None,
        )
        for number, row in enumerate(_listed("waste_meanings.csv"), start=1)
    ]


def twin_rows() -> list[Row]:
    """Return the rows of `settings.machine_twin`."""
    return [
        (row["check_name"], row["provider"], row["family"], row["twin_family"]) for row in _listed("machine_twins.csv")
    ]


def _listed(name: str) -> list[dict[str, str]]:
    """Return the rows of a list of the release."""
    return list(csv.DictReader(files("sql").joinpath("data", name).read_text(encoding="utf-8").splitlines()))
