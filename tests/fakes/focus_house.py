"""The smallest house that a night runs in: one FOCUS export of a few rows, in which a name is hostile."""

from __future__ import annotations

import json
from pathlib import Path

HEADER = (
    "BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "BillingAccountId", "BillingCurrency",
    "BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd", "ChargeCategory", "ProviderName",
    "ServiceName", "ServiceCategory", "SubAccountId", "ResourceId", "Tags",
)  # fmt: skip
HOSTILE = "=HYPERLINK(1)\x1b[2J"
CONFIGURATION = """\
[[source]]
name = "clouds"
kind = "focus-export"
location = "exports"

[[team]]
name = "vision"
projects = ["detector"]

[[budget]]
id = "vision-monthly"
limit = { amount = "100", currency = "USD" }
scope = { team = ["vision"] }
"""


def write_house(folder: Path, more: str = "") -> Path:
    """Write export and configuration below `folder`; return the configuration, to which `more` is added."""
    exports = folder / "exports"
    exports.mkdir(parents=True, exist_ok=True)
    lines = [",".join(HEADER), *(_line(day, project) for day in (1, 2, 3) for project in ("detector", HOSTILE))]
    (exports / "focus.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    file = folder / "overrun.toml"
    file.write_text(CONFIGURATION + more, encoding="utf-8")
    return file


def _line(day: int, project: str) -> str:
    """Return one charge of 12.5 USD."""
    tags = json.dumps({"project": project})
    values = (
        "12.5", "12.5", "15", "12.5", "0123", "USD", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z",
        f"2026-11-{day:02}T00:00:00Z", f"2026-11-{day + 1:02}T00:00:00Z", "Usage", "Acme Cloud", "Compute", "Compute",
        "acct", f"r-{project}", tags,
    )  # fmt: skip
    return ",".join('"' + value.replace('"', '""') + '"' for value in values)
