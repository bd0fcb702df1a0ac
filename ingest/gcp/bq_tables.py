"""Tables of BigQuery as a night sees them: what they are, and which rows of which invoice month their partitions hold.

A table is looked at before it is asked, so that one made by hand, a view or a linked copy is met with a clear word. The
state of all months takes one query per table, over the few bytes of the columns that say month and export time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeVar

from ingest.errors import SourceUnreadable
from ingest.gcp.bq_errors import data_request, job_request
from ingest.gcp.bq_session import asked, query_client
from ingest.source import BigQueryLocation, BigQueryTable
from sql.contract import QUERY_COST
from sql.warehouse import Warehouse

if TYPE_CHECKING:
    from google.cloud.bigquery import Client, QueryJob, SchemaField, Table

T = TypeVar("T")
Kind = Literal["standard", "detailed", "focus"]
_MONTH = re.compile(r"(?:19|20|21)\d{2}(?:0[1-9]|1[0-2])", re.ASCII)
_NAMES = re.compile(r"[A-Za-z_]\w{0,299}", re.ASCII)
_EARLIER = timedelta(days=1)
"""How long before an invoice month's first day UTC its first rows may be exported at most; Pacific begins later."""
_PACIFIC = timedelta(hours=8)
"""How far Pacific time is behind UTC at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """The columns of a kind of export that say what belongs where."""

    required: frozenset[str]
    exported_at: str
    month: str
    """Expression for the invoice month of a row, YYYYMM."""
    in_month: str
    """Condition for the rows of one, with {month}, {start} and {end}; simple enough for the Storage API."""


_BILLING = _Columns(
    required=frozenset({"billing_account_id", "cost", "usage_start_time", "export_time", "invoice.month"}),
    exported_at="export_time",
    month="COALESCE(invoice.month, FORMAT_TIMESTAMP('%Y%m', usage_start_time))",
    in_month="(invoice.month = '{month}' OR (invoice.month IS NULL"
    " AND usage_start_time >= TIMESTAMP '{start}' AND usage_start_time < TIMESTAMP '{end}'))",
)
_FOCUS = _Columns(
    required=frozenset({"BilledCost", "BillingPeriodStart", "ChargePeriodStart", "x_ExportTime"}),
    exported_at="x_ExportTime",
    month="FORMAT_TIMESTAMP('%Y%m', COALESCE(BillingPeriodStart, ChargePeriodStart))",
    in_month="((BillingPeriodStart >= TIMESTAMP '{start}' AND BillingPeriodStart < TIMESTAMP '{end}')"
    " OR (BillingPeriodStart IS NULL"
    " AND ChargePeriodStart >= TIMESTAMP '{start}' AND ChargePeriodStart < TIMESTAMP '{end}'))",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportTable:
    """A table that turned out to be a billing export."""

    table: BigQueryTable
    kind: Kind
    is_view: bool
    by: str
    """Column that says when rows came: _PARTITIONTIME, or the time of their export."""
    is_partitioned: bool

    @property
    def columns(self) -> _Columns:
        """Return the columns of its kind."""
        return _FOCUS if self.kind == "focus" else _BILLING

    def condition(self, month: date, since: date, until: date) -> str:
        """Return the condition for the rows of an invoice month that came from `since` up to but without `until`."""
        in_month = self.columns.in_month.format(
            month=f"{month:%Y%m}", start=f"{month} 00:00:00+00", end=f"{_next(month)} 00:00:00+00"
        )
        return f"{_came(self.by, since)} AND {self.by} < TIMESTAMP '{until} 00:00:00+00' AND {in_month}"


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
        found = [self._probe(table) for table in self.location.tables]
        kinds = {table.kind for table in found}
        if len(kinds) > 1:
            named = ", ".join(f"{table.table.table} ({table.kind})" for table in found)
            raise SourceUnreadable(
                f"the tables are of several kinds, which hold the same costs: {named}",
                hint="name one kind in `table`: detailed has the resources, standard has not",
            )
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
        """Return the first invoice month that is looked at; months begin by the provider's Pacific time."""
        today = (self.now - _PACIFIC).date()
        number = today.year * 12 + today.month - 1 - self.location.lookback_months
        return min({date(number // 12, number % 12 + 1, 1), *self.asked_for})

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

    def _probe(self, table: BigQueryTable) -> ExportTable:
        """Return what a table is."""
        request = data_request(f"{table.project}.{table.dataset}", "bigquery.tables.get")
        seen: Table = asked(
            self.location,
            request,
            lambda: self.client.get_table(
                str(table),
                retry=None,  # type: ignore[arg-type]
                timeout=self.location.patience.read_seconds,
            ),
        )
        names = set(_names(seen.schema))
        kind = _kind(names)
        if kind is None:
            missing = sorted(_BILLING.required - names)
            raise SourceUnreadable(
                f"{table} is no billing export: it has no column {', '.join(missing)}",
                hint="name the table that Cloud Billing writes: gcp_billing_export_v1_..., ..._resource_v1_... or"
                " gcp_billing_export_focus_...",
            )
        exported_at = _FOCUS.exported_at if kind == "focus" else _BILLING.exported_at
        partitioning = seen.time_partitioning
        is_by_ingestion = partitioning is not None and partitioning.field is None
        is_partitioned = is_by_ingestion or (partitioning is not None and partitioning.field == exported_at)
        if not is_partitioned:
            what = "a view" if seen.table_type != "TABLE" else "not partitioned by the day of export"
            self.notes.append(f"{table.table} is {what}: each query reads it by {exported_at}, from end to end")
        return ExportTable(
            table=table,
            kind=kind,
            is_view=seen.table_type != "TABLE",
            by="_PARTITIONTIME" if is_by_ingestion else exported_at,
            is_partitioned=is_partitioned,
        )

    def _state(self, table: ExportTable, first: date) -> list[tuple[date, object, int, datetime]]:
        """Return (day, month as text, rows, last export) of what came since shortly before `first`."""
        columns = table.columns
        statement = (
            f"SELECT day, invoice_month, COUNT(*) AS n, MAX(exported_at) AS exported_at FROM (SELECT DATE({table.by})"
            f" AS day, {columns.month} AS invoice_month, {columns.exported_at} AS exported_at FROM `{table.table}`"
            f" WHERE {_came(table.by, first - _EARLIER)}) AS came GROUP BY day, invoice_month"
        )
        seconds = self.location.patience.read_seconds
        rows = self.query(statement, lambda job: list(job.result(retry=None, job_retry=None, timeout=seconds)))
        return [(row[0], row[1], int(row[2]), row[3]) for row in rows]


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


def _came(by: str, since: date) -> str:
    return f"{by} >= TIMESTAMP '{since} 00:00:00+00'"


def _next(month: date) -> date:
    """Return the month after."""
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def _names(fields: Sequence[SchemaField], prefix: str = "") -> Iterable[str]:
    """Yield the names of columns, members of records under dotted ones."""
    for item in fields:
        if _NAMES.fullmatch(item.name):
            yield f"{prefix}{item.name}"
        if item.mode != "REPEATED":
            yield from _names(item.fields, f"{prefix}{item.name}.")


def _kind(names: set[str]) -> Kind | None:
    """Return which export a table with these columns is."""
    if names >= _FOCUS.required:
        return "focus"
    if not names >= _BILLING.required:
        return None
    return "detailed" if "resource.global_name" in names else "standard"
