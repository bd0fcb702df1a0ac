"""Which machine types and SKUs are hours of which accelerators: `sql/data/accelerators.csv` and the configuration.

The list has public facts, each with the documentation of the provider that it stands in. What it lacks is shown as
unknown (`core.accelerator_usage`) until a release or the configuration names it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from decimal import Decimal
from importlib.resources import files

from overrun.config import Accelerator

Row = tuple[object, ...]


def accelerator_rows(configured: Iterable[Accelerator]) -> list[Row]:
    """Return the rows of `settings.accelerator`.

    A machine type of the configuration goes before that of the list, and the first table of it before later ones.
    """
    own = [("machine", item.instance_type, item.accelerator, item.count) for item in configured]
    rows: dict[tuple[str, str], Row] = {}
    for row in (*own, *_listed()):
        rows.setdefault((row[0], row[1]), row)
    return list(rows.values())


def _listed() -> list[tuple[str, str, str, Decimal]]:
    """Return the list of the release."""
    text = files("sql").joinpath("data", "accelerators.csv").read_text(encoding="utf-8")
    return [
        (row["kind"], row["name"], row["accelerator"], Decimal(row["accelerator_count"]))
        for row in csv.DictReader(text.splitlines())
    ]
