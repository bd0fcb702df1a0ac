"""The ledger: what is loaded, from which files, with which totals. Tables `ops.load*`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import date, datetime
from decimal import Decimal

from ingest.delivery import Delivery
from sql.contract import (
    LEDGER_TABLES,
    LOAD,
    LOAD_COMMITMENT,
    LOAD_COUNT,
    LOAD_FILE,
    LOAD_INVOICE,
    LOAD_RAW_TOTAL,
    LOAD_TOTAL,
    MONEY,
    Table,
)
from sql.warehouse import Warehouse, quoted

GAP_TOLERANCE = Decimal("0.01")
"""What the identity of one commitment and month may miss, in its currency: AWS rounds each line of an export."""
EARLIER = "-"
"""Stands in a load id before the sequence of a superseded load whose content was loaded again later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Odd input, or rows dropped or added, under the name of the rule: a row of `ops.load_count` but for its load.

    `effect` is noted, dropped or added.
    """

    rule: str
    effect: str
    subject: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """Control totals of one provider, billing account and currency: a row of `ops.load_total` but for its load."""

    provider: str
    billing_account_id: str
    billing_currency: str
    rows_loaded: int
    delivered_cost: Decimal
    billed_cost: Decimal
    rounded_cost: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTotal:
    """Sum of a delivered cost column: a row of `ops.load_raw_total` but for its load."""

    billing_account_id: str
    sub_account_id: str
    line_item_type: str
    billing_currency: str
    metric: str
    amount: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """The amortisation identity of one commitment: a row of `ops.load_commitment` but for its load."""

    billing_account_id: str
    commitment_discount_id: str
    billing_currency: str
    fee_cost: Decimal
    amortised_upfront_cost: Decimal
    used_cost: Decimal
    unused_cost: Decimal
    gap_cost: Decimal
    starts_at: datetime | None = None
    ends_at: datetime | None = None

    @property
    def has_gap(self) -> bool:
        """Return whether the identity misses more than rounding explains."""
        return abs(self.gap_cost) > GAP_TOLERANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoiced:
    """How far one invoicing entity has invoiced a billing account: a row of `ops.load_invoice` but for its load."""

    billing_account_id: str
    invoicing_entity: str
    rows_delivered: int
    rows_invoiced: int
    invoice_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRecord:
    """What one load came to."""

    delivery: Delivery
    export_kind: str
    part: str
    loaded_at: datetime
    rows_read: int
    rows_loaded: int
    last_usage_date: date | None
    has_resource_ids: bool
    effective_cost_state: str
    """proven, unproven or as delivered."""
    totals: Sequence[Total]
    counts: Sequence[Count]
    invoiced: Sequence[Invoiced]
    raw_totals: Sequence[RawTotal] = ()
    commitments: Sequence[Commitment] = ()
    rows_unset: int = 0
    """Charges without a cost, a currency or a day, which no load may have."""


def current_load(warehouse: Warehouse, source: str, billing_month: date) -> tuple[str, int] | None:
    """Return the version and rows of the load in force of a (source, month), or None."""
    row = warehouse.row(
        "select version, rows_loaded from ops.load where is_current and source = ? and billing_month = ?",
        [source, billing_month],
    )
    return None if row is None else (str(row[0]), int(str(row[1])))


def versions(warehouse: Warehouse, source: str, billing_month: date) -> list[str]:
    """Return the versions of a (source, month) that were loaded, newest first."""
    rows = warehouse.rows(
        "select version from ops.load where source = ? and billing_month = ? order by sequence desc",
        [source, billing_month],
    )
    return list(dict.fromkeys(str(row[0]) for row in rows))


def months(warehouse: Warehouse) -> list[tuple[str, date]]:
    """Return every (source, month) that was ever loaded."""
    rows = warehouse.rows("select distinct source, billing_month from ops.load order by 1, 2")
    return [(str(source), month) for source, month in rows if isinstance(month, date)]


def is_invoiced(warehouse: Warehouse, source: str, billing_month: date) -> bool:
    """Return whether every delivered row of the load in force names its invoice."""
    row = warehouse.row(
        "select sum(rows_delivered), sum(rows_invoiced) from ops.load_invoice where load_id in"
        " (select load_id from ops.load where is_current and source = ? and billing_month = ?)",
        [source, billing_month],
    )
    return row is not None and row[0] is not None and row[0] == row[1]


def other_holders(
    warehouse: Warehouse, source: str, billing_month: date, totals: Sequence[Total]
) -> dict[str, list[str]]:
    """Return the other sources that hold one of these billing accounts in this month, with those accounts."""
    held: dict[str, list[str]] = {}
    for total in totals:
        rows = warehouse.rows(
            "select distinct load.source from ops.load as load inner join ops.load_total as total"
            " on total.load_id = load.load_id where load.is_current and load.source <> ? and load.billing_month = ?"
            " and total.provider = ? and total.billing_account_id = ? order by 1",
            [source, billing_month, total.provider, total.billing_account_id],
        )
        for row in rows:
            held.setdefault(str(row[0]), []).append(total.billing_account_id)
    return held


def accounts(warehouse: Warehouse, source: str, billing_month: date) -> set[str]:
    """Return the billing accounts that a source holds in a month."""
    rows = warehouse.rows(
        "select total.billing_account_id from ops.load as load inner join ops.load_total as total"
        " on total.load_id = load.load_id where load.is_current and load.source = ? and load.billing_month = ?",
        [source, billing_month],
    )
    return {str(row[0]) for row in rows}


def retire(warehouse: Warehouse, source: str, billing_month: date, tables: Sequence[str]) -> None:
    """Take a part out of force and drop its tables; its ledger rows stay."""
    warehouse.execute(
        "update ops.load set is_current = false where source = ? and billing_month = ?", [source, billing_month]
    )
    for table in tables:
        warehouse.execute(f"drop table if exists parts.{quoted(table)}")


def record(warehouse: Warehouse, load: LoadRecord) -> None:
    """Write the ledger rows of a load and put it in force. To be called in the transaction that swaps the part."""
    delivery, load_id = load.delivery, load.delivery.load_id
    sequence = warehouse.value(
        "select coalesce(max(sequence), 0) + 1 from ops.load where source = ? and billing_month = ?",
        [delivery.source, delivery.billing_month],
    )
    _make_way(warehouse, load_id)
    warehouse.execute(
        "update ops.load set is_current = false where source = ? and billing_month = ?",
        [delivery.source, delivery.billing_month],
    )
    _insert(warehouse, LOAD, [_load_row(load, int(str(sequence)))])
    _insert(warehouse, LOAD_FILE, [(load_id, file.name, file.size, file.sha256) for file in delivery.files])
    _insert(warehouse, LOAD_TOTAL, [(load_id, *astuple(total)) for total in load.totals])
    _insert(warehouse, LOAD_COUNT, [(load_id, *astuple(count)) for count in load.counts])
    _insert(warehouse, LOAD_RAW_TOTAL, [(load_id, *astuple(total)) for total in load.raw_totals])
    _insert(warehouse, LOAD_COMMITMENT, [(load_id, *astuple(commitment)) for commitment in load.commitments])
    record_invoiced(warehouse, load_id, load.invoiced)


def _make_way(warehouse: Warehouse, load_id: str) -> None:
    """Remove the rows of a load in force that is made again; those of one that had been superseded stay, renamed."""
    row = warehouse.row("select sequence, is_current from ops.load where load_id = ?", [load_id])
    if row is None:
        return
    sequence, is_current = row
    for table in LEDGER_TABLES:
        if is_current:
            warehouse.execute(f"delete from {table.full_name} where load_id = ?", [load_id])
        else:
            earlier = f"{load_id}{EARLIER}{sequence}"
            warehouse.execute(f"update {table.full_name} set load_id = ? where load_id = ?", [earlier, load_id])


def record_invoiced(warehouse: Warehouse, load_id: str, invoiced: Sequence[Invoiced]) -> None:
    """Write how far a load is invoiced."""
    _insert(warehouse, LOAD_INVOICE, [(load_id, *astuple(row)) for row in invoiced])


def _load_row(load: LoadRecord, sequence: int) -> tuple[object, ...]:
    """Return the row of `ops.load`, columns in contract order."""
    delivery = load.delivery
    return (
        delivery.load_id,
        delivery.source,
        delivery.billing_month,
        delivery.version,
        sequence,
        True,
        load.export_kind,
        load.part,
        ", ".join(sorted({total.provider for total in load.totals})),
        load.loaded_at,
        len(delivery.files),
        delivery.size,
        load.rows_read,
        load.rows_loaded,
        load.last_usage_date,
        load.has_resource_ids,
        load.effective_cost_state,
    )


def _insert(warehouse: Warehouse, table: Table, rows: Sequence[Sequence[object]]) -> None:
    """Insert rows, columns in contract order: one list per column, since planning takes long for many parameters."""
    if not rows:
        return
    # Amounts go as text, so that no list of them is taken for doubles.
    columns = [
        [str(value) if isinstance(value, Decimal) else value for value in column] for column in zip(*rows, strict=True)
    ]
    lists = ", ".join(
        f"cast(unnest(?::varchar[]) as {column.type})" if column.type == MONEY else f"unnest(?::{column.type}[])"
        for column in table.columns
    )
    warehouse.execute(f"insert into {table.full_name} select {lists}", columns)
