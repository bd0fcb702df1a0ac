"""Load: landed files to a part, in one transaction, or nothing.

The scan of the landed files comes first (`ingest.scan`). Then one transaction swaps the part, its tag sets, its ledger
rows and the view, after the controls (`ingest.control`) have been seen to hold: BilledCost equals the sum of the scan,
per billing account and currency, to the last decimal; rows read = charges + rows dropped - rows added; the month has
not shrunk; no other source holds the same account and month. A checkpoint follows, since replaced blocks are reused
only after one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

import duckdb

from ingest import ledger
from ingest.control import refuse_shrunk, refuse_stub, refuse_totals, settle_holders
from ingest.dataset import Dataset, Described, describe_files
from ingest.delivery import Delivery
from ingest.errors import IngestError
from ingest.explain import explained
from ingest.invoiced import count_invoiced
from ingest.scan import SPLIT_ROWS, ScanRow, counts_of, raw_totals_of, scan_files, staging_text, total_of
from ingest.source import SourceSettings
from ingest.unpack import unpacked
from sql.contract import COST_AND_USAGE
from sql.parts import Part, part_name, refresh_views, relation_over, split_name, tags_name
from sql.warehouse import Warehouse, quoted

_FROM_PART = re.compile(r"\bfrom part\b")
_ORPHANS = "split cost allocation row without a charge of its parent that day, left out"
_COLLISION = "tags whose keys came to one, the first value in the alphabet taken"
_RESIDUAL = "Savings Plan negation left uncancelled, kept as one charge"
_UNUSED = "unused part of a commitment, beside its fee"
_SPREAD = "charge that the fee of a commitment is spread over"
_WHOLE_FEE = "commitment's fee spread as a whole, what is unused of it is not known"
AS_BILLED = "EffectiveCost is BilledCost"
"""How the rules end that say that a commitment's amortised costs are not delivered."""
UNCHECKED = (
    "recurring fee that does not tell what of it is unused",
    "empty line item type read as Usage",
    _WHOLE_FEE,
)
"""Rules that leave commitments without a proof."""
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """When, and how strict."""

    loaded_at: datetime
    accept_shrink: bool = False
    sources: Sequence[SourceSettings] = ()
    """All that are configured, to tell which source a month now belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loading:
    """One load under way: where to, what, and what the scan found."""

    warehouse: Warehouse
    delivery: Delivery
    described: Described
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
    def split_rows(self) -> int:
        """Return how many rows of split costs the delivery has."""
        return sum(row.number(SPLIT_ROWS) for row in self.scan)


def load_delivery(
    warehouse: Warehouse, delivery: Delivery, source: SourceSettings, datasets: Sequence[Dataset], options: LoadOptions
) -> ledger.LoadRecord:
    """Load a landed delivery and return what it came to.

    Raises SourceUnreadable, LoadRefused or SourceConflict; the part, ledger and view are then as they were.
    """
    try:
        with unpacked(warehouse, delivery.files) as files:
            described = describe_files(files, datasets, warehouse)
            loading = _Loading(
                warehouse=warehouse,
                delivery=delivery,
                described=described,
                part=_part(delivery, described),
                scan=scan_files(warehouse, delivery, described),
                amortise=source.amortise,
            )
            with warehouse.transaction():
                loaded = _swap(loading, source, options)
    except IngestError as error:
        raise error.located(source=delivery.source, billing_month=delivery.billing_month)  # noqa: B904 - the same error
    except duckdb.Error as error:
        names = ", ".join(file.name for file in delivery.files[:3])
        raise explained(error, names).located(source=delivery.source, billing_month=delivery.billing_month) from error
    warehouse.checkpoint()
    return loaded


def _part(delivery: Delivery, described: Described) -> Part:
    """Return the part that a delivery becomes."""
    return Part(
        source=delivery.source,
        billing_month=delivery.billing_month,
        load_id=delivery.load_id,
        export_kind=described.export_kind,
        name=part_name(delivery.source, delivery.billing_month),
    )


def _swap(loading: _Loading, source: SourceSettings, options: LoadOptions) -> ledger.LoadRecord:
    """Write part, tag sets and ledger; raises where the controls do not hold, so that the transaction rolls back."""
    warehouse = loading.warehouse
    staging = staging_text(f"{loading.described.dataset.staging}.sql")
    warehouse.execute(f"create or replace table {loading.table} as\n{staging}")
    added = [_add_residuals(loading), *_spread_fees(loading), _add_unused(loading)]
    _write_split(loading)
    noted = _write_tag_sets(loading)
    loaded = _record(loading, [*added, *noted], options)
    refuse_totals(loaded)
    if not options.accept_shrink:
        refuse_shrunk(warehouse, loaded)
        refuse_stub(warehouse, source, loaded)
    settle_holders(warehouse, source, options.sources, loaded)
    ledger.record(warehouse, loaded)
    refresh_views(warehouse)
    return loaded


def _of_part(loading: _Loading, name: str) -> str:
    """Return a staging text over the relation `part` as one over the new part's table."""
    return _FROM_PART.sub(lambda _: f"from {loading.table}", staging_text(name))


def _write_split(loading: _Loading) -> None:
    """Write the split costs of a delivery that has some, and drop those of the load before."""
    loading.warehouse.execute(f"drop table if exists {loading.split}")
    if loading.split_rows:
        text = staging_text(f"{loading.described.dataset.staging}.split.sql")
        loading.warehouse.execute(f"create table {loading.split} as\n{text}")


def _write_tag_sets(loading: _Loading) -> list[ledger.Count]:
    """Write the tag sets of charges and of what their costs are split among; count keys that came to one."""
    columns = '"x_TagSetId", "Tags", "x_CostCategories"'
    tagged = loading.charges
    if loading.split_rows:
        tagged = f"(select {columns} from {tagged} union all select {columns} from {loading.split})"
    text = _FROM_PART.sub(lambda _: f"from {tagged}", staging_text("tag_set.sql"))
    table = f"parts.{quoted(tags_name(loading.part.name))}"
    loading.warehouse.execute(f"create or replace table {table} as\n{text}")
    collisions = loading.warehouse.rows(f"select tag_key, count(*) from {table} where tag_values > 1 group by 1")
    return [
        ledger.Count(rule=_COLLISION, effect="noted", subject=str(key), rows=int(str(combinations)))
        for key, combinations in collisions
    ]


def _orphans(loading: _Loading) -> int:
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


def _add_residuals(loading: _Loading) -> ledger.Count:
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


def _spread_fees(loading: _Loading) -> list[ledger.Count]:
    """Spread the fees of commitments over the charges that they cover, where the export leaves that to its readers."""
    if not (loading.described.dataset.spreads_fees and loading.is_amortised):
        return []
    text = _of_part(loading, f"{loading.described.dataset.staging}.spread.sql")
    loading.warehouse.execute(
        f'update {loading.table} as part set "EffectiveCost" = spread.effective_cost, unused_cost = spread.unused_cost,'
        ' "x_UnusedKnown" = spread.is_known,'
        ' "CommitmentDiscountQuantity" = coalesce(spread.quantity, "CommitmentDiscountQuantity"),'
        ' "PricingCurrencyEffectiveCost" = case when "PricingCurrencyEffectiveCost" is not null then'
        " try_cast(cast(spread.effective_cost as double) / nullif(conversion_rate, 0) as decimal(38, 12)) end"
        f' from ({text}) as spread where part."x_RowNumber" = spread.row_number'
    )
    # A commitment is named where a fee names it: what names another would have no purchase.
    loading.warehouse.execute(
        f'update {loading.table} as part set "CommitmentDiscountId" = null where fee_kind is null and'
        ' "CommitmentDiscountId" is not null and "CommitmentDiscountId" not in (select "CommitmentDiscountId"'
        f' from {loading.table} where fee_kind is not null and "CommitmentDiscountId" is not null)'
    )
    counted = loading.warehouse.row(
        'select count(*) filter (where "x_UnusedKnown" is not null and fee_kind is null),'
        f' count(*) filter (where not "x_UnusedKnown" and fee_kind is not null) from {loading.table}'
    )
    spread, whole = counted or (0, 0)
    return [
        ledger.Count(rule=_SPREAD, effect="noted", subject="", rows=int(str(spread))),
        ledger.Count(rule=_WHOLE_FEE, effect="noted", subject="", rows=int(str(whole))),
    ]


def _add_unused(loading: _Loading) -> ledger.Count:
    """Add the charges for what no usage took of a commitment."""
    rows = 0
    if loading.is_amortised:
        text = _of_part(loading, f"{loading.described.dataset.staging}.unused.sql")
        rows = int(str(loading.warehouse.value(f"insert into {loading.table} by name\n{text}")))
    return ledger.Count(rule=_UNUSED, effect="added", subject="", rows=rows)


def _record(loading: _Loading, added: Sequence[ledger.Count], options: LoadOptions) -> ledger.LoadRecord:
    """Return the ledger record of the new part."""
    facts = loading.warehouse.row(
        'select max(case when "ChargeCategory" = \'Usage\' then cast("ChargePeriodStart" as date) end),'
        f' count("ResourceId"), count(*) from {loading.charges}'
    )
    last_usage, resources, rows = facts or (None, 0, 0)
    orphans = ledger.Count(rule=_ORPHANS, effect="noted", subject="", rows=_orphans(loading))
    counts = [*counts_of(loading.described, loading.scan), *(count for count in (*added, orphans) if count.rows)]
    commitments = _commitments(loading)
    return ledger.LoadRecord(
        delivery=loading.delivery,
        export_kind=loading.part.export_kind,
        part=loading.part.name,
        loaded_at=options.loaded_at,
        rows_read=sum(row.number("rows_read") for row in loading.scan),
        rows_loaded=int(str(rows)),
        last_usage_date=last_usage if isinstance(last_usage, date) else None,
        has_resource_ids=bool(resources) or not rows,
        effective_cost_state=_effective_cost_state(loading, commitments, counts),
        totals=_totals(loading),
        counts=counts,
        raw_totals=raw_totals_of(loading.scan),
        commitments=commitments,
        invoiced=count_invoiced(loading.warehouse, loading.charges),
    )


def _commitments(loading: _Loading) -> list[ledger.Commitment]:
    """Return the amortisation identity of each commitment of the new part."""
    if not loading.is_amortised:
        return []
    rows = loading.warehouse.rows(_of_part(loading, f"{loading.described.dataset.staging}.commitments.sql"))
    return [
        ledger.Commitment(
            billing_account_id=str(account),
            commitment_discount_id=str(commitment),
            billing_currency=str(currency),
            fee_cost=Decimal(str(fee)),
            amortised_upfront_cost=Decimal(str(upfront)),
            used_cost=Decimal(str(used)),
            unused_cost=Decimal(str(unused)),
            gap_cost=Decimal(str(gap)),
        )
        for account, commitment, currency, fee, upfront, used, unused, gap in rows
    ]


def _effective_cost_state(
    loading: _Loading, commitments: Sequence[ledger.Commitment], counts: Sequence[ledger.Count]
) -> str:
    """Return whether EffectiveCost is proven: every commitment's identity holds, and none lacks amortised costs."""
    dataset = loading.described.dataset
    if dataset.spreads_fees and not loading.amortise:
        return "as delivered"
    if not dataset.is_amortised:
        return dataset.effective_cost_state
    is_missing = any(count.rule.endswith(AS_BILLED) or count.rule in UNCHECKED for count in counts)
    return "unproven" if is_missing or any(one.has_gap for one in commitments) else "proven"


def _totals(loading: _Loading) -> list[ledger.Total]:
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
