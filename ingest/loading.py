"""A load under way: what its steps share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from ingest.dataset import Described
from ingest.delivery import Delivery
from ingest.scan import SPLIT_ROWS, ScanRow, staging_text
from sql.contract import COST_AND_USAGE
from sql.parts import Part, relation_over, split_name, tags_name, texts_name
from sql.warehouse import Warehouse, quoted

_FROM_PART = re.compile(r"\bfrom part\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """One load under way: where to, what, and what the scan found."""

    warehouse: Warehouse
    delivery: Delivery
    delivered: Described
    """What was delivered."""
    described: Described
    """What is read: the same, with parquet in the place of NDJSON."""
    part: Part
    scan: Sequence[ScanRow]
    amortise: bool = True
    """Whether the source wants commitments spread."""

    @property
    def is_amortised(self) -> bool:
        """Return whether EffectiveCost is worked out here."""
        dataset = self.described.dataset
        return dataset.is_amortised and (self.amortise or not dataset.spreads_fees)

    @property
    def table(self) -> str:
        """Return the part's table, quoted."""
        return f"parts.{quoted(self.part.name)}"

    @property
    def charges(self) -> str:
        """Return the FOCUS charges of the new part as a relation."""
        return f"({relation_over(COST_AND_USAGE.full_name, [self.part])})"

    @property
    def split(self) -> str:
        """Return the table of split costs, quoted; where the delivery has none, it does not exist."""
        return f"parts.{quoted(split_name(self.part.name))}"

    @property
    def tags(self) -> str:
        """Return the table of tag sets, quoted."""
        return f"parts.{quoted(tags_name(self.part.name))}"

    @property
    def texts(self) -> str:
        """Return the table of the texts of tags, quoted; it exists where rows have the id of theirs alone."""
        return f"parts.{quoted(texts_name(self.part.name))}"

    @property
    def month(self) -> date | None:
        """Return the month that rows are read of, where files hold those of other months too."""
        return self.delivery.billing_month if self.delivery.rows_of_month_only else None

    @property
    def split_rows(self) -> int:
        """Return how many rows of split costs the delivery has."""
        return sum(row.number(SPLIT_ROWS) for row in self.scan)

    def staging(self, name: str) -> str:
        """Return a staging text of the delivery's dataset: `name` is what follows that of the dataset."""
        return staging_text(f"{self.described.dataset.staging}.{name}.sql")

    def over_part(self, name: str) -> str:
        """Return a staging text over the relation `part` as one over the new part's table."""
        return over(self.staging(name), f"{self.table} as part")


def over(text: str, relation: str) -> str:
    """Return a staging text over the relation `part` as one over another relation."""
    return _FROM_PART.sub(lambda _: f"from {relation}", text)
