"""Tables of BigQuery as a night sees them: which rows of which invoice month their partitions hold.

The state of all months takes one query per table, over the few bytes of the columns that say month and export time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from ingest.errors import SourceUnreadable
from ingest.gcp.bq_errors import job_request
from ingest.gcp.bq_export import ExportTable, first_month, look_at, refuse_several_kinds
from ingest.gcp.bq_session import asked, query_client
from ingest.source import BigQueryLocation
from sql.contract import QUERY_COST
from sql.warehouse import Warehouse

if TYPE_CHECKING:
    from google.cloud.bigquery import Client, QueryJob

T = TypeVar("T")
_UNKNOWN = datetime.min.replace(tzinfo=UTC)
_MONTH = re.compile(r"(?:19|20|21)\d{2}(?:0[1-9]|1[0-2])", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Partition:
    """What a partition of a table holds of one invoice month."""

    table: str
    day: date
    rows: int
    exported_at: datetime


@dataclass(slots=True, kw_only=True)
class Tables:
    """The tables of a source, asked by one client; every query is counted in `ops.query_cost`."""

    source: str
    location: BigQueryLocation
    client: Client
    warehouse: Warehouse
    now: datetime
    asked_for: frozenset[date] = frozenset()
    """Months that are looked at wherever they lie."""
    notes: list[str] = field(default_factory=list)

    def probed(self) -> list[ExportTable]:
        """Return what each table is; raises SourceUnreadable for one that is no billing export."""
        found = [look_at(self.client, self.location, table) for table in self.location.tables]
        self.notes += [note for table in found for note in table.notes]
        refuse_several_kinds(found)
        return found

    def months(
        self, tables: Iterable[ExportTable], months: Iterable[date] | None = None
    ) -> dict[date, list[Partition]]:
        """Return, by invoice month within the lookback, the state of its partitions; or of `months` alone.

        Raises SourceUnreadable where a row tells no month.
        """
        first = self.first_month
        wanted = None if months is None else set(months)
        found: dict[date, list[Partition]] = {}
        for table in tables:
            for day, text, rows, exported_at in self._state(table, first):
                if not isinstance(text, str) or not _MONTH.fullmatch(text):
                    raise SourceUnreadable(
                        f"{rows} rows of {table.table.table} tell no invoice month",
                        hint="an export has YYYYMM in invoice.month; compare the table with Google's own",
                    )
                month = date(int(text[:4]), int(text[4:]), 1)
                if month >= first and (wanted is None or month in wanted):
                    partition = Partition(str(table.table), day, rows, exported_at)
                    found.setdefault(month, []).append(partition)
                elif month < first and day >= first + timedelta(days=15) and wanted is None:
                    self.notes.append(
                        f"{rows} rows of {month:%Y-%m} came on {day}: beyond `lookback_months`, so not loaded"
                    )
        return {month: sorted(partitions) for month, partitions in sorted(found.items())}

    @property
    def first_month(self) -> date:
        """Return the first invoice month that is looked at."""
        return min({first_month(self.location, self.now), *self.asked_for})

    def query(self, statement: str, read: Callable[[QueryJob], T]) -> T:
        """Return what `read` makes of a query's result; what it billed is kept even where reading failed."""
        from google.cloud.bigquery import QueryJobConfig

        def run() -> T:
            config = QueryJobConfig(maximum_bytes_billed=self.location.max_bytes_billed, use_query_cache=False)
            job = self.client.query(
                statement,
                job_config=config,
                retry=None,  # type: ignore[arg-type]
                job_retry=None,
                timeout=self.location.patience.read_seconds,
            )
            try:
                return read(job)
            finally:
                self.note_cost(job.statement_type or "SELECT", job.total_bytes_billed or 0)

        return asked(self.location, job_request(self.location.paying_project), run)

    def note_cost(self, statement_kind: str, bytes_billed: int) -> None:
        """Keep what a query billed."""
        self.warehouse.execute(
            f"insert into {QUERY_COST.full_name} values (?, ?, ?, ?)",
            [self.source, self.now, statement_kind[:60], bytes_billed],
        )

    def _state(self, table: ExportTable, first: date) -> list[tuple[date, object, int, datetime]]:
        """Return (day, month as text, rows, last export) of what came since shortly before `first`.

        Where rows do not tell, day and last export are the first that there can be.
        """
        seconds = self.location.patience.read_seconds
        rows = self.query(
            table.state_statement(first), lambda job: list(job.result(retry=None, job_retry=None, timeout=seconds))
        )
        return [(row[0] or date.min, row[1], int(row[2]), row[3] or _UNKNOWN) for row in rows]


def open_tables(
    source: str, location: BigQueryLocation, warehouse: Warehouse, now: datetime, asked_for: frozenset[date]
) -> Tables:
    """Return the tables of a source, with nothing asked yet; raises SourceUnreadable without credentials."""
    client = query_client(location)
    return Tables(source=source, location=location, client=client, warehouse=warehouse, now=now, asked_for=asked_for)


def version_of_state(partitions: Sequence[Partition]) -> str:
    """Return the version of a month: a hash of the state of its partitions, in any order."""
    lines = (
        f"{item.table} {item.day} {item.rows} {item.exported_at.astimezone(UTC).isoformat()}"
        for item in sorted(partitions)
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
