"""What a table of BigQuery is: which billing export, or a view of one, and how its rows of a month are asked for.

A table is looked at before it is asked, so that one made by hand, a view or a linked copy is met with a clear word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

from ingest.errors import SourceUnreadable
from ingest.gcp.bq_errors import data_request
from ingest.gcp.bq_session import asked
from ingest.source import BigQueryLocation, BigQueryTable
from sql.parts import next_month

if TYPE_CHECKING:
    from google.cloud.bigquery import Client, SchemaField, Table

Kind = Literal["standard", "detailed", "focus"]
_NAMES = re.compile(r"[A-Za-z_]\w{0,299}", re.ASCII)
_PARTITION_TIME = "_PARTITIONTIME"
_EARLIER = timedelta(days=1)
"""How long before an invoice month's first day UTC its first rows may be exported at most; Pacific begins later."""
_BILLED_IN = "America/Los_Angeles"
"""Whose months Google's invoices are for."""
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
    zone: str
    """Where a month begins for rows that do not say theirs."""


_BILLING = _Columns(
    required=frozenset({"billing_account_id", "cost", "usage_start_time", "export_time", "invoice.month"}),
    exported_at="export_time",
    month=f"COALESCE(invoice.month, FORMAT_TIMESTAMP('%Y%m', usage_start_time, '{_BILLED_IN}'))",
    in_month="(invoice.month = '{month}' OR (invoice.month IS NULL"
    " AND usage_start_time >= TIMESTAMP '{start}' AND usage_start_time < TIMESTAMP '{end}'))",
    zone=_BILLED_IN,
)
_FOCUS = _Columns(
    required=frozenset({"BilledCost", "BillingPeriodStart", "ChargePeriodStart", "x_ExportTime"}),
    exported_at="x_ExportTime",
    month="FORMAT_TIMESTAMP('%Y%m', COALESCE(BillingPeriodStart, ChargePeriodStart))",
    in_month="((BillingPeriodStart >= TIMESTAMP '{start}' AND BillingPeriodStart < TIMESTAMP '{end}')"
    " OR (BillingPeriodStart IS NULL"
    " AND ChargePeriodStart >= TIMESTAMP '{start}' AND ChargePeriodStart < TIMESTAMP '{end}'))",
    zone="UTC",
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
    is_empty: bool
    """Whether it has no rows yet; a view does not tell."""

    @property
    def columns(self) -> _Columns:
        """Return the columns of its kind."""
        return _FOCUS if self.kind == "focus" else _BILLING

    def condition(self, month: date, since: date, until: date) -> str:
        """Return the condition for the rows of an invoice month that came from `since` up to but without `until`."""
        in_month = self.columns.in_month.format(
            month=f"{month:%Y%m}",
            start=_first_instant(month, self.columns.zone),
            end=_first_instant(next_month(month), self.columns.zone),
        )
        came = f"{_came(self.by, since)} AND {self.by} < TIMESTAMP '{until} 00:00:00+00'"
        return f"({came}{self._or_unknown}) AND {in_month}"

    def state_statement(self, first: date) -> str:
        """Return the query for (day, month as text, rows, last export) of what came since shortly before `first`.

        Day and last export are null where rows do not tell.
        """
        return (
            f"SELECT day, invoice_month, COUNT(*) AS n, MAX(exported_at) AS exported_at FROM (SELECT DATE({self.by})"
            f" AS day, {self.columns.month} AS invoice_month, {self.columns.exported_at} AS exported_at"
            f" FROM `{self.table}` WHERE {_came(self.by, first - _EARLIER)}{self._or_unknown}) AS came"
            " GROUP BY day, invoice_month"
        )

    @property
    def _or_unknown(self) -> str:
        """Return the end of a condition that lets rows pass of which nothing tells when they came.

        Without a partition's time are only those that are not in a partition yet, which come with one of the next
        nights.
        """
        return "" if self.by == _PARTITION_TIME else f" OR {self.by} IS NULL"

    @property
    def notes(self) -> list[str]:
        """Return that each query reads it from end to end, where that is so."""
        if self.is_partitioned:
            return []
        what = "a view" if self.is_view else "not partitioned by the day of export"
        return [f"{self.table.table} is {what}: each query reads it by {self.by}, from end to end"]


def look_at(client: Client, location: BigQueryLocation, table: BigQueryTable) -> ExportTable:
    """Return what a table is; raises SourceUnreadable for one that is no billing export."""
    request = data_request(f"{table.project}.{table.dataset}", "bigquery.tables.get")
    seen: Table = asked(
        location,
        request,
        lambda: client.get_table(
            str(table),
            retry=None,  # type: ignore[arg-type]
            timeout=location.patience.read_seconds,
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
    is_view = seen.table_type != "TABLE"
    partitioning = seen.time_partitioning
    is_by_ingestion = partitioning is not None and partitioning.field is None
    return ExportTable(
        table=table,
        kind=kind,
        is_view=is_view,
        by=_PARTITION_TIME if is_by_ingestion else exported_at,
        is_partitioned=is_by_ingestion or (partitioning is not None and partitioning.field == exported_at),
        is_empty=not is_view and seen.num_rows == 0 and seen.streaming_buffer is None,
    )


def refuse_several_kinds(tables: Sequence[ExportTable]) -> None:
    """Raise SourceUnreadable where tables are of several kinds, which would count twice."""
    if len({table.kind for table in tables}) > 1:
        named = ", ".join(f"{table.table.table} ({table.kind})" for table in tables)
        raise SourceUnreadable(
            f"the tables are of several kinds, which hold the same costs: {named}",
            hint="name one kind in `table`: detailed has the resources, standard has not",
        )


def first_month(location: BigQueryLocation, now: datetime) -> date:
    """Return the first invoice month of the lookback; months begin by the provider's Pacific time. `now` is UTC."""
    today = (now - _PACIFIC).date()
    number = today.year * 12 + today.month - 1 - location.lookback_months
    return date(number // 12, number % 12 + 1, 1)


def _came(by: str, since: date) -> str:
    return f"{by} >= TIMESTAMP '{since} 00:00:00+00'"


def _first_instant(month: date, zone: str) -> str:
    """Return when a month begins in a zone, in UTC."""
    begins = datetime.combine(month, time(), ZoneInfo(zone)).astimezone(UTC)
    return f"{begins:%Y-%m-%d %H:%M:%S}+00"


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
