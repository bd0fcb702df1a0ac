"""A warehouse that ingests night after night, and what tests ask it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import Any

from ingest.errors import IngestError
from ingest.retention import KeepLanded
from ingest.run import IngestOptions, IngestReport, ingest
from ingest.source import GcsLocation, S3Location, SourceKind, SourceSettings
from sql.warehouse import Row, Warehouse, quoted

NOW = datetime(2026, 11, 20, 3, tzinfo=UTC)
TWELVE_PLACES = Decimal("1e-12")


def source(
    location: Path | S3Location | GcsLocation,
    kind: SourceKind = "aws-export",
    *,
    name: str = "main",
    **settings: Any,  # noqa: ANN401 - a field of any type
) -> SourceSettings:
    """Return a source; the settings are the fields of SourceSettings."""
    return SourceSettings(name=name, kind=kind, location=location, **settings)


def rounded(value: object) -> Decimal:
    """Return a delivered cost as DESIGN has it: a double by its shortest text, 12 places, half up; nothing is 0."""
    if value is None or value == "":
        return Decimal(0)
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(str(value))
    with localcontext(prec=60):
        return exact.quantize(TWELVE_PLACES, rounding=ROUND_HALF_UP)


@dataclass(slots=True)
class Night:
    """One warehouse and its landing folder, run as often as a test likes."""

    warehouse: Warehouse
    landing: Path
    now: datetime = NOW
    keep_landed: KeepLanded = "open-months"
    charges: str = "focus.cost_and_usage"
    """What is asked for charges: the view, or a copy of it where a test asks often."""

    def run(
        self, *sources: SourceSettings, accept_shrink: bool = False, months: frozenset[date] | None = None
    ) -> IngestReport:
        """Ingest what the sources deliver; problems are in the report."""
        options = IngestOptions(
            landing=self.landing,
            now=self.now.astimezone(UTC).replace(tzinfo=None),
            accept_shrink=accept_shrink,
            months=months,
            keep_landed=self.keep_landed,
        )
        return ingest(self.warehouse, sources, options)

    def load(self, *sources: SourceSettings, months: frozenset[date] | None = None) -> IngestReport:
        """Ingest, and see that nothing was refused."""
        report = self.run(*sources, months=months)
        assert not report.problems, [str(problem) for problem in report.problems]
        return report

    def refusal(self, *sources: SourceSettings) -> IngestError:
        """Ingest, and return the one problem that there is."""
        problems = self.run(*sources).problems
        assert len(problems) == 1, [str(problem) for problem in problems]
        return problems[0]

    def refusals(self, *sources: SourceSettings) -> dict[str, IngestError]:
        """Ingest, and return the problem of each source, by its name; none may have two."""
        problems = self.run(*sources).problems
        by_source = {str(problem.source): problem for problem in problems}
        assert len(by_source) == len(problems), [str(problem) for problem in problems]
        return by_source

    def rows(
        self, columns: str, order: str = '"x_Source", "x_BillingMonth", "x_RowNumber"', where: str = "true"
    ) -> list[Row]:
        """Return columns of the charges in the order of their delivery."""
        return self.warehouse.rows(f"select {columns} from {self.charges} where {where} order by {order}")

    def values(self, column: str, where: str = "true") -> list[object]:
        """Return one column of the charges in the order of their delivery."""
        return [row[0] for row in self.rows(quoted(column), where=where)]

    def billed(self, where: str = "true") -> Decimal:
        """Return the sum of BilledCost."""
        total = self.warehouse.value(f'select coalesce(sum("BilledCost"), 0) from focus.cost_and_usage where {where}')
        assert isinstance(total, Decimal)
        return total

    def counts(self) -> dict[tuple[str, str], int]:
        """Return what the loads in force counted: rows by (rule, subject)."""
        rows = self.warehouse.rows(
            "select rule, subject, sum(rows) from ops.load_count semi join"
            " (select load_id from ops.load where is_current) as load using (load_id) group by all"
        )
        return {(str(rule), str(subject)): int(str(number)) for rule, subject, number in rows}

    def rest(self) -> Decimal:
        """Return what rounding took from the loads in force."""
        total = self.warehouse.value(
            "select coalesce(sum(rounded_cost), 0) from ops.load_total semi join"
            " (select load_id from ops.load where is_current) as load using (load_id)"
        )
        assert isinstance(total, Decimal)
        return total

    def tags(self) -> set[tuple[str, str]]:
        """Return every (key, value) of core.tag_set."""
        return {
            (str(key), str(value)) for key, value in self.warehouse.rows("select tag_key, tag_value from core.tag_set")
        }

    def fingerprint(self, name: str = "main", month: date | None = None) -> Row | None:
        """Return an order-free checksum of charges, tags and ledger of a source, in a month or in all."""
        of_month = "" if month is None else f" and {{}} = date '{month}'"
        charges = f"\"x_Source\" = '{name}'" + of_month.format('"x_BillingMonth"')
        others = f"source = '{name}'" + of_month.format("billing_month")
        return self.warehouse.row(
            f"select (select (count(*), bit_xor(hash(charge))) from focus.cost_and_usage as charge where {charges}),"
            f" (select (count(*), bit_xor(hash(tag))) from core.tag_set as tag where {others}),"
            f" (select (count(*), bit_xor(hash(load))) from ops.load as load where {others}),"
            " (select (count(*), bit_xor(hash(total))) from ops.load_total as total semi join"
            f" (select load_id from ops.load where {others}) as load using (load_id))"
        )

    def tables(self) -> Row | None:
        """Return order-free checksums of all charges and tags, the ledger apart."""
        return self.warehouse.row(
            'select (select (count(*), bit_xor(hash(charge)), sum(charge."BilledCost"))'
            " from focus.cost_and_usage as charge),"
            " (select (count(*), bit_xor(hash(tag))) from core.tag_set as tag)"
        )
