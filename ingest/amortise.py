"""Commitments of a new part: their fees spread over usage, what is unused of them, and the proof of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from ingest import ledger
from ingest.loading import Loading

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


def spread_fees(loading: Loading) -> list[ledger.Count]:
    """Spread the fees of commitments over the charges that they cover, where the export leaves that to its readers."""
    if not (loading.described.dataset.spreads_fees and loading.is_amortised):
        return []
    text = loading.over_part("spread")
    loading.warehouse.execute(f"create or replace temporary table spread as\n{text}")
    loading.warehouse.execute(
        f'update {loading.table} as part set "EffectiveCost" = spread.effective_cost,'
        ' "x_UnusedKnown" = spread.is_known,'
        ' "CommitmentDiscountQuantity" = coalesce(spread.quantity, "CommitmentDiscountQuantity")'
        ' from spread where part."x_RowNumber" = spread.row_number'
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


def add_unused(loading: Loading) -> ledger.Count:
    """Add the charges for what no usage took of a commitment."""
    rows = 0
    if loading.is_amortised:
        text = loading.over_part("unused")
        rows = int(str(loading.warehouse.value(f"insert into {loading.table} by name\n{text}")))
    return ledger.Count(rule=_UNUSED, effect="added", subject="", rows=rows)


def commitments_of(loading: Loading) -> list[ledger.Commitment]:
    """Return the amortisation identity of each commitment of the new part."""
    if not loading.is_amortised:
        return []
    rows = loading.warehouse.rows(loading.over_part("commitments"))
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
            starts_at=starts_at if isinstance(starts_at, datetime) else None,
            ends_at=ends_at if isinstance(ends_at, datetime) else None,
        )
        for account, commitment, currency, fee, upfront, used, unused, gap, starts_at, ends_at in rows
    ]


def effective_cost_state(
    loading: Loading, commitments: Sequence[ledger.Commitment], counts: Sequence[ledger.Count]
) -> str:
    """Return whether EffectiveCost is proven: every commitment's identity holds, and none lacks amortised costs."""
    dataset = loading.described.dataset
    if dataset.spreads_fees and not loading.amortise:
        return "as delivered"
    if not dataset.is_amortised:
        return dataset.effective_cost_state
    is_missing = any(count.rule.endswith(AS_BILLED) or count.rule in UNCHECKED for count in counts)
    return "unproven" if is_missing or any(one.has_gap for one in commitments) else "proven"
