"""What a source in BigQuery offers: the invoice months of its lookback, each with the version of its partitions' state.

The version is known before anything is fetched, so that a night with nothing new asks one small query per table and no
more. A month whose state changed is fetched whole, from every partition that has rows of it, and replaces what was
loaded: rows have no id, and equal ones are legitimate, so that nothing is told apart by content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from ingest.delivery import DeliveredFile, Delivery, Offer
from ingest.errors import SourceUnreadable
from ingest.gcp.bq_export import ExportTable
from ingest.gcp.bq_fetch import Reader
from ingest.gcp.bq_tables import Partition, Tables, open_tables, version_of_state
from ingest.landing import FETCHING
from ingest.source import BigQueryLocation, SourceSettings
from sql.files import make_directory, remove_tree
from sql.warehouse import Warehouse

_TRIES = 3
"""Times that a month is fetched at most while rows are being added to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BigQueryOffers:
    """What a source in BigQuery offers; notes may be added while months are fetched."""

    offers: list[Offer]
    problems: list[SourceUnreadable]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Asking:
    """The night that asks."""

    warehouse: Warehouse
    now_ns: int
    landing: Path
    months: frozenset[date]
    """Months to look at though they lie before the lookback."""


def offers_in_bigquery(source: SourceSettings, location: BigQueryLocation, asking: Asking) -> BigQueryOffers:
    """Return an offer for each month with rows; raises SourceUnreadable where a table cannot be asked.

    One table that cannot be asked stops the source: a month without its rows would look like one that shrank.
    """
    now = datetime.fromtimestamp(asking.now_ns // 1_000_000_000, UTC).replace(tzinfo=None)
    asked = frozenset(month for month in asking.months if source.covers(month))
    tables = open_tables(source.name, location, asking.warehouse, now, asked)
    probed = tables.probed()
    months = {month: state for month, state in tables.months(probed).items() if source.covers(month)}
    work = _Fetching(source=source, tables=tables, probed=probed, reader=Reader(tables=tables), landing=asking.landing)
    offers = [work.offer(month, partitions) for month, partitions in months.items()]
    return BigQueryOffers(offers=offers, problems=_gone(source, tables, months), notes=tables.notes)


def _gone(source: SourceSettings, tables: Tables, months: dict[date, list[Partition]]) -> list[SourceUnreadable]:
    """Return a problem for each loaded month of the lookback that has no rows any more."""
    if not months:
        return []
    rows = tables.warehouse.rows(
        "select billing_month from ops.load where is_current and source = ? and billing_month >= ? order by 1",
        [source.name, tables.first_month],
    )
    loaded = [month for (month,) in rows if isinstance(month, date) and source.covers(month)]
    return [
        SourceUnreadable(
            "the tables have no rows of this month any more, though it is loaded",
            source=source.name,
            billing_month=month,
            hint="check `table` of the [[source]], and whether rows or partitions were deleted; what is loaded stays",
        )
        for month in loaded
        if month not in months
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetching:
    """One source whose months are fetched."""

    source: SourceSettings
    tables: Tables
    probed: list[ExportTable]
    reader: Reader
    landing: Path

    def offer(self, month: date, partitions: Sequence[Partition]) -> Offer:
        """Return the offer of a month."""
        return Offer(
            source=self.source.name,
            billing_month=month,
            version=version_of_state(partitions),
            fetch=lambda: self._fetch(month, partitions),
        )

    def _fetch(self, month: date, partitions: Sequence[Partition]) -> Delivery:
        """Return a month's delivery; where rows were added meanwhile, the state is asked again."""
        for _ in range(_TRIES):
            files = self._files(month, partitions)
            if files is not None:
                return Delivery(
                    source=self.source.name,
                    billing_month=month,
                    version=version_of_state(partitions),
                    files=files,
                    month_is_stated=True,
                )
            partitions = self.tables.months(self.probed, [month]).get(month, [])
        raise SourceUnreadable(
            "rows came or went each time that the month was fetched",
            hint="the last good version stays, and the next run tries again",
        )

    def _files(self, month: date, partitions: Sequence[Partition]) -> tuple[DeliveredFile, ...] | None:
        """Return the files of a month, or None where a table has not the rows any more that its state told."""
        folder = self.landing / self.source.name / f"{month:%Y-%m}" / FETCHING
        remove_tree(folder)
        make_directory(folder)
        files: list[DeliveredFile] = []
        for table in self.probed:
            own = [item for item in partitions if item.table == str(table.table)]
            if not own:
                continue
            condition = table.condition(
                month, min(item.day for item in own), max(item.day for item in own) + timedelta(days=1)
            )
            named = table.table
            path = folder / f"{len(files):03d}-{named.table}.parquet"
            written = self.reader.fetch(table, condition, path)
            if written.rows != sum(item.rows for item in own):
                return None
            origin = f"bq://{named}"
            files.append(
                DeliveredFile(name=path.name, path=path, size=written.size, sha256=written.sha256, origin=origin)
            )
        return tuple(files) or None
