"""Load: landed files to a part, or nothing.

The scan of the landed files comes first (`ingest.scan`), and the part is written aside. Then one transaction swaps the
part, its tag sets, its ledger rows and the view, after the controls (`ingest.control`) have been seen to hold:
BilledCost equals the sum of the scan, per billing account and currency, to the last decimal; rows read = charges + rows
dropped - rows added; the month has not shrunk; no other source holds the same account and month. A checkpoint follows,
since replaced blocks are reused only after one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

import duckdb

from ingest import ledger
from ingest.amortise import add_unused, commitments_of, effective_cost_state, spread_fees
from ingest.control import refuse_shrunk, refuse_stub, refuse_totals, refuse_unset, settle_holders
from ingest.dataset import Dataset, Described, describe_files
from ingest.delivery import Delivery
from ingest.discounts import note_discounts, set_discounts
from ingest.errors import IngestError
from ingest.explain import explained
from ingest.invoiced import count_invoiced
from ingest.keys import unread_keys
from ingest.loading import Loading
from ingest.reread import parsed_once
from ingest.scan import (
    UNKNOWN_COLUMN,
    counts_of,
    raw_totals_of,
    scan_files,
    staging_text,
    total_of,
)
from ingest.source import SourceSettings
from ingest.tagging import find_labels, write_split, write_tag_sets
from ingest.unpack import unpacked
from sql.errors import WarehouseError
from sql.parts import (
    Part,
    aside_name,
    drop_aside,
    part_name,
    refresh_views,
    rename_part,
)
from sql.warehouse import Warehouse

_ORPHANS = "split cost allocation row without a charge of its parent that day, left out"
_RESIDUAL = "Savings Plan negation left uncancelled, kept as one charge"
_UNSET = (
    '"BilledCost" is null or "EffectiveCost" is null or "ListCost" is null or "ContractedCost" is null'
    ' or "BillingCurrency" is null or "ChargePeriodStart" is null'
)
"""Of which charges sums would be wrong without a word: no cost, no currency, no day."""
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """When, and how strict."""

    loaded_at: datetime
    accept_shrink: bool = False
    sources: Sequence[SourceSettings] = ()
    """All that are configured, to tell which source a month now belongs to."""


def load_delivery(
    warehouse: Warehouse, delivery: Delivery, source: SourceSettings, datasets: Sequence[Dataset], options: LoadOptions
) -> ledger.LoadRecord:
    """Load a landed delivery and return what it came to.

    Raises SourceUnreadable, LoadRefused or SourceConflict; the part, ledger and view are then as they were.
    """
    try:
        with (
            unpacked(warehouse, delivery.files) as files,
            parsed_once(warehouse, delivered := describe_files(files, datasets, warehouse)) as described,
        ):
            loading = Loading(
                warehouse=warehouse,
                delivery=delivery,
                delivered=delivered,
                described=described,
                part=_part(delivery, described),
                scan=scan_files(warehouse, delivery, described),
                amortise=source.amortise,
            )
            with _aside(warehouse):
                loaded = _write(loading, source, options)
                with warehouse.transaction():
                    _swap(loading, loaded, source, options)
    except IngestError as error:
        raise error.located(source=delivery.source, billing_month=delivery.billing_month)  # noqa: B904 - the same error
    except duckdb.Error as error:
        names = ", ".join(file.name for file in delivery.files[:3])
        raise explained(error, names).located(source=delivery.source, billing_month=delivery.billing_month) from error
    warehouse.checkpoint()
    return loaded


def _part(delivery: Delivery, described: Described) -> Part:
    """Return the part that a delivery becomes, under the name that it is written under."""
    return Part(
        source=delivery.source,
        billing_month=delivery.billing_month,
        load_id=delivery.load_id,
        export_kind=described.export_kind,
        name=aside_name(part_name(delivery.source, delivery.billing_month)),
    )


@contextmanager
def _aside(warehouse: Warehouse) -> Iterator[None]:
    """See to it that what is written aside takes its place or goes."""
    drop_aside(warehouse)
    try:
        yield
    except BaseException:
        # Where DuckDB is past that, the next run does it.
        with suppress(duckdb.Error, WarehouseError):
            drop_aside(warehouse)
        raise


def _write(loading: Loading, source: SourceSettings, options: LoadOptions) -> ledger.LoadRecord:
    """Write part and tag sets aside, and return what they came to.

    Each statement is a transaction of its own: DuckDB writes a table again that is changed in the one that creates it.
    """
    warehouse, dataset = loading.warehouse, loading.described.dataset
    if dataset.spreads_fees:
        set_discounts(warehouse, source, loading.delivery.billing_month)
    labels = find_labels(loading)
    warehouse.execute(f"create table {loading.table} as\n{staging_text(f'{dataset.staging}.sql')}")
    added = [_add_residuals(loading), *spread_fees(loading), add_unused(loading)]
    write_split(loading)
    noted = write_tag_sets(loading, labels)
    # They would keep memory through the rest of the night.
    for name in (*labels, "spread"):
        warehouse.execute(f"drop table if exists temp.{name}")
    return _record(loading, [*added, *noted], options)


def _swap(loading: Loading, loaded: ledger.LoadRecord, source: SourceSettings, options: LoadOptions) -> None:
    """Put the part in the place of the one in force; raises where the controls do not hold, so that all rolls back."""
    warehouse = loading.warehouse
    refuse_totals(loaded)
    refuse_unset(loaded)
    if not options.accept_shrink:
        refuse_shrunk(warehouse, loaded)
        refuse_stub(warehouse, source, loaded)
    settle_holders(warehouse, source, options.sources, loaded)
    rename_part(warehouse, loading.part.name, loaded.part)
    ledger.record(warehouse, loaded)
    if loading.described.dataset.spreads_fees:
        note_discounts(warehouse, source, loading.delivery.billing_month)
    refresh_views(warehouse)


def _orphans(loading: Loading) -> int:
    """Return how many rows of split costs have no charge to be shared: none of their parent on their day."""
    if not loading.split_rows:
        return 0
    shared = loading.warehouse.value(
        f"select coalesce(sum(split_rows), 0) from {loading.split} as split semi join"
        ' (select "ResourceId" as parent_resource_id, cast("ChargePeriodStart" as date) as charge_date,'
        f' "BillingCurrency" as billing_currency from {loading.charges}) as charge'
        " using (parent_resource_id, charge_date, billing_currency)"
    )
    return loading.split_rows - int(str(shared))


def _add_residuals(loading: Loading) -> ledger.Count:
    """Add one charge per (billing account, currency) that the netting of negations left something of."""
    residuals = {key: amount for key, amount in total_of(loading.scan, "residual_cost").items() if amount != 0}
    last = loading.warehouse.value(f'select coalesce(max("x_RowNumber"), 0) from {loading.table}')
    first = int(str(last)) + 1
    for position, ((_, account, currency), amount) in enumerate(sorted(residuals.items()), start=first):
        loading.warehouse.execute(
            f"insert into {loading.table} by name\n{staging_text('residual.sql')}",
            [-position, amount, account, currency],
        )
    return ledger.Count(rule=_RESIDUAL, effect="added", subject="", rows=len(residuals))


def _record(loading: Loading, added: Sequence[ledger.Count], options: LoadOptions) -> ledger.LoadRecord:
    """Return the ledger record of the new part."""
    facts = loading.warehouse.row(
        'select max(case when "ChargeCategory" = \'Usage\' then cast("ChargePeriodStart" as date) end),'
        f' count("ResourceId"), count(*), count(*) filter (where {_UNSET}) from {loading.charges}'
    )
    last_usage, resources, rows, unset = facts or (None, 0, 0, 0)
    orphans = ledger.Count(rule=_ORPHANS, effect="noted", subject="", rows=_orphans(loading))
    counts = [*counts_of(loading.described, loading.scan), *(count for count in (*added, orphans) if count.rows)]
    counts += _unread(loading)
    commitments = commitments_of(loading)
    return ledger.LoadRecord(
        delivery=loading.delivery,
        export_kind=loading.part.export_kind,
        part=part_name(loading.part.source, loading.part.billing_month),
        loaded_at=options.loaded_at,
        rows_read=sum(row.number("rows_read") for row in loading.scan),
        rows_loaded=int(str(rows)),
        rows_unset=int(str(unset)),
        last_usage_date=last_usage if isinstance(last_usage, date) else None,
        has_resource_ids=bool(resources) or not rows,
        effective_cost_state=effective_cost_state(loading, commitments, counts),
        totals=_totals(loading),
        counts=counts,
        raw_totals=raw_totals_of(loading.scan),
        commitments=commitments,
        invoiced=count_invoiced(loading.warehouse, loading.charges),
    )


def _unread(loading: Loading) -> list[ledger.Count]:
    """Return the keys of NDJSON that nothing reads, where the files were not looked through to learn their months."""
    if loading.delivery.rows_of_month_only:
        return []
    names = unread_keys(loading.warehouse, loading.delivered)
    return [ledger.Count(rule=UNKNOWN_COLUMN, effect="noted", subject=name, rows=1) for name in names]


def _totals(loading: Loading) -> list[ledger.Total]:
    """Return the totals of the new part beside those of the scan."""
    rows = loading.warehouse.rows(
        'select "ProviderName", "BillingAccountId", "BillingCurrency", count(*), coalesce(sum("BilledCost"), 0)'
        f" from {loading.charges} group by 1, 2, 3 order by 1, 2, 3"
    )
    loaded = {(str(row[0]), str(row[1]), str(row[2])): row for row in rows}
    delivered, rounded = (total_of(loading.scan, name) for name in ("delivered_cost", "rounded_cost"))
    return [
        ledger.Total(
            provider=key[0],
            billing_account_id=key[1],
            billing_currency=key[2],
            rows_loaded=int(str(loaded[key][3])) if key in loaded else 0,
            delivered_cost=delivered.get(key, ZERO),
            billed_cost=Decimal(str(loaded[key][4])) if key in loaded else ZERO,
            rounded_cost=rounded.get(key, ZERO),
        )
        for key in sorted(loaded.keys() | delivered.keys())
    ]
