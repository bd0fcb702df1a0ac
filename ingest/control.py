"""Controls: what has to hold before a new part may replace the old one. Run inside the transaction that swaps it."""

from __future__ import annotations

from ingest import ledger
from ingest.errors import LoadRefused, SourceConflict
from ingest.scan import EFFECTS
from ingest.source import SourceSettings
from sql.parts import part_name, tags_name
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


def refuse_shrunk(warehouse: Warehouse, load: ledger.LoadRecord) -> None:
    """Refuse a month that lost more than half of its rows, unless that was said to be right."""
    current = ledger.current_load(warehouse, load.delivery.source, load.delivery.billing_month)
    if current is not None and load.rows_loaded * 2 < current[1]:
        raise LoadRefused(
            f"the month has {load.rows_loaded} rows where {current[1]} are loaded",
            hint="if that is right, run again with --accept-shrink",
        )


def settle_holders(warehouse: Warehouse, source: SourceSettings, load: ledger.LoadRecord) -> None:
    """Take over from the source that this one replaces; refuse where any other holds the same account and month."""
    month = load.delivery.billing_month
    for holder, held in ledger.other_holders(warehouse, source.name, month, load.totals).items():
        own = {total.billing_account_id for total in load.totals}
        if holder != source.replaces or not ledger.accounts(warehouse, holder, month) <= own:
            raise SourceConflict(
                f"billing account {', '.join(sorted(set(held)))} is loaded from source {holder} already",
                hint=f'keep one of the two, or set `replaces = "{holder}"` in {source.name}, or part them by `from`'
                " and `until`",
            )
        old = part_name(holder, month)
        ledger.retire(warehouse, holder, month, [old, tags_name(old)])
