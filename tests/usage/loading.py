"""Loading runs night after night, and what tests ask of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from ingest.checksums import Checksums
from ingest.errors import IngestError
from ingest.usage.load import UsageReport, load_usage
from ingest.usage.source import RunSource, RunSourceKind
from sql.runner import build
from sql.settings import replace_settings
from sql.warehouse import Row, Warehouse

NOW = datetime(2026, 11, 20, 3)  # noqa: DTZ001 - as the ledger keeps it
HEADER = "JobID|Cluster|Account|User|Submit|Start|End|Elapsed|State|NNodes|NCPUS|ReqTRES|AllocTRES|NodeList|JobName"


def job(job_id: str = "7", **fields: str) -> str:
    """Return a row under HEADER: two hours on 8 processors and 2 accelerators of one node."""
    row = {
        "Cluster": "c1", "Account": "vision", "User": "ada", "Submit": "2026-10-05T07:00:00",
        "Start": "2026-10-05T08:00:00", "End": "2026-10-05T10:00:00", "Elapsed": "02:00:00", "State": "COMPLETED",
        "NNodes": "1", "NCPUS": "8", "ReqTRES": "", "AllocTRES": "billing=8,cpu=8,gres/gpu=2", "NodeList": "n1",
        "JobName": "train",
    }  # fmt: skip
    return "|".join([job_id, *(row | fields).values()])


@dataclass(slots=True)
class Loading:
    """One warehouse and the folder of one source."""

    warehouse: Warehouse
    folder: Path

    def source(self, kind: RunSourceKind = "slurm", **settings: Any) -> RunSource:  # noqa: ANN401 - fields of any type
        """Return the source of the folder; the settings are the fields of RunSource."""
        return replace(RunSource(name="hpc", kind=kind, location=self.folder), **settings)

    def write(self, *lines: str, name: str = "sacct.log") -> Path:
        """Write a file of the source."""
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def run(self, *sources: RunSource, now: datetime = NOW) -> UsageReport:
        """Load what the sources tell, or that of the folder as Slurm's."""
        checksums = Checksums(self.warehouse, int(4e18))
        return load_usage(self.warehouse, sources or [self.source()], checksums, now)

    def load(self, *sources: RunSource) -> UsageReport:
        """Load, and see that nothing was refused."""
        report = self.run(*sources)
        assert not report.problems, [str(problem) for problem in report.problems]
        return report

    def refusal(self, *sources: RunSource) -> IngestError:
        """Load, and return the one problem that there is."""
        problems = self.run(*sources).problems
        assert len(problems) == 1, [str(problem) for problem in problems]
        return problems[0]

    def rows(self, columns: str, table: str = "usage.run") -> list[Row]:
        """Return columns of a table, in order."""
        return self.warehouse.rows(f"select {columns} from {table} order by all")

    def build(self, **settings: Any) -> None:  # noqa: ANN401 - rows of any table
        """Build the models, on 20 November 2026."""
        replace_settings(self.warehouse, {"settings.night": [(NOW.date(),)], **settings})
        report = build(self.warehouse)
        assert not report.warnings


def hours(value: object) -> Decimal:
    """Return hours to the four places of the published totals."""
    return Decimal(str(value)).quantize(Decimal("0.0001"))
