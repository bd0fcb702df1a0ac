"""Controls: what has to hold before a new part may replace the old one. Run inside the transaction that swaps it."""

from __future__ import annotations

from collections.abc import Sequence

from ingest import ledger
from ingest.errors import LoadRefused, SourceConflict
from ingest.scan import EFFECTS
from ingest.source import SourceSettings
from sql.parts import part_name, tables_of
from sql.warehouse import Warehouse


def refuse_totals(load: ledger.LoadRecord) -> None:
    """Refuse a part whose money or rows do not tie to the files."""
    for total in load.totals:
        if total.billed_cost != total.delivered_cost:
            raise LoadRefused(
                f"BilledCost of {total.billing_account_id} is {total.billed_cost} {total.billing_currency}, but the"
                f" files hold {total.delivered_cost}",
                hint="this is a fault of the conversion: keep the files and report it",
            )
    moved = {effect: sum(count.rows for count in load.counts if count.effect == effect) for effect in EFFECTS}
    if load.rows_read != load.rows_loaded + moved["dropped"] - moved["added"]:
        raise LoadRefused(
            f"{load.rows_read} rows were read, but {load.rows_loaded} loaded, {moved['dropped']} dropped and"
            f" {moved['added']} added",
            hint="this is a fault of the conversion: keep the files and report it",
        )


def refuse_unset(load: ledger.LoadRecord) -> None:
    """Refuse a part with charges that every sum would leave out, or that belong to no currency or day."""
    if load.rows_unset:
        raise LoadRefused(
            f"{load.rows_unset} charges have no cost, no currency or no day",
            hint="this is a fault of the conversion: keep the files and report it",
        )


def refuse_shrunk(warehouse: Warehouse, load: ledger.LoadRecord) -> None:
    """Refuse a month that lost more than half of its rows, unless that was said to be right."""
    current = ledger.current_load(warehouse, load.delivery.source, load.delivery.billing_month)
    if current is not None:
        _refuse_half(load, current[1])


def settle_holders(
    warehouse: Warehouse, source: SourceSettings, sources: Sequence[SourceSettings], load: ledger.LoadRecord
) -> None:
    """Take over from the source that this one replaces, or whose `from` and `until` no longer hold the month.

    Raises SourceConflict where any other source holds the same account and month.
    """
    month = load.delivery.billing_month
    for holder, held in ledger.other_holders(warehouse, source.name, month, load.totals).items():
        own = {total.billing_account_id for total in load.totals}
        leaving = next((other for other in sources if other.name == holder and not other.covers(month)), None)
        if leaving is None and (holder != source.replaces or not ledger.accounts(warehouse, holder, month) <= own):
            raise SourceConflict(
                f"billing account {', '.join(sorted(set(held)))} is loaded from source {holder} already",
                hint=f'keep one of the two, or set `replaces = "{holder}"` in {source.name}, or part them by `from`'
                " and `until`",
            )
        ledger.retire(warehouse, holder, month, tables_of(part_name(holder, month)))


def refuse_stub(warehouse: Warehouse, source: SourceSettings, load: ledger.LoadRecord) -> None:
    """Refuse to replace another source's month by less than half of its rows, unless that was said to be right."""
    if source.replaces is not None:
        replaced = ledger.current_load(warehouse, source.replaces, load.delivery.billing_month)
        if replaced is not None:
            _refuse_half(load, replaced[1])


def _refuse_half(load: ledger.LoadRecord, rows: int) -> None:
    """Refuse a load that has less than half of `rows`."""
    if load.rows_loaded * 2 < rows:
        raise LoadRefused(
            f"the month has {load.rows_loaded} rows where {rows} are loaded",
            hint="if that is right, run again with --accept-shrink",
        )
