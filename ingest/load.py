"""Load: landed files to a part, in one transaction, or nothing.

A scan of the landed files comes first: it decides what the staging SELECT needs to know (net or gross, row offsets),
counts what is odd, and sums the cost column on its own. Then one transaction swaps the part, its tag sets, its ledger
rows and the view, after these have been seen to hold: BilledCost equals the sum of the scan, per billing account and
currency, to the last decimal; rows read = charges + rows dropped - rows added; no other source holds the same account and
month. A checkpoint follows, since replaced blocks are reused only after one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from importlib.resources import files

import duckdb

from ingest import ledger
from ingest.dataset import Dataset, Described, describe_files
from ingest.delivery import Delivery
from ingest.errors import LoadRefused, SourceConflict, SourceUnreadable
from ingest.fields import CONVERTED
from ingest.formats import unreadable
from ingest.landed import columns_of, create_landed_view, unknown_columns
from ingest.source import SourceSettings
from sql.contract import COST_AND_USAGE, MONEY
from sql.parts import Part, next_month, part_name, refresh_views, relation_over, tags_name
from sql.warehouse import Row, Warehouse, literal, quoted

_CSV_LINE = re.compile(r"CSV Error on Line: (?P<line>\d+)")
_CSV_FILE = re.compile(r"file\s*=\s*(?P<file>\S+)")
_FROM_LANDED = re.compile(r"\nfrom landed\b")
_EFFECTS = ("noted", "dropped", "added")
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """How strict and when."""

    loaded_at: datetime
    accept_shrink: bool = False


@dataclass(frozen=True, slots=True)
class ScanRow:
    """Facts about one provider, billing account and currency of a delivery, by the names of the scan's columns."""

    values: Mapping[str, object]

    @property
    def key(self) -> tuple[str, str, str]:
        """Return (provider, billing account, currency)."""
        return str(self.values["provider"]), str(self.values["billing_account_id"]), str(self.values["billing_currency"])

    def amount(self, name: str) -> Decimal:
        """Return an amount, 0 where the scan has no such column."""
        value = self.values.get(name)
        return value if isinstance(value, Decimal) else Decimal(str(value or 0))

    def number(self, name: str) -> int:
        """Return a count."""
        return int(str(self.values.get(name) or 0))


def load_delivery(
    warehouse: Warehouse, delivery: Delivery, source: SourceSettings, datasets: Sequence[Dataset], options: LoadOptions
) -> ledger.LoadRecord:
    """Load a landed delivery and return what it came to.

    Raises SourceUnreadable, LoadRefused or SourceConflict; the part, ledger and view are then as they were.
    """
    try:
        described = describe_files(delivery.files, datasets, warehouse)
        create_landed_view(warehouse, described, delivery.billing_month if delivery.rows_of_month_only else None)
        _set_variables(warehouse, delivery, described)
        scan = _scan(warehouse, described)
        _refuse_unconverted(warehouse, described, scan)
        _refuse_scan(delivery, described, scan)
        with warehouse.transaction():
            loaded = _swap(warehouse, delivery, source, described, scan, options)
    except (SourceUnreadable, SourceConflict, LoadRefused) as error:
        error.located(source=delivery.source, billing_month=delivery.billing_month)
        raise
    except duckdb.Error as error:
        raise _explained(error, delivery) from error
    warehouse.checkpoint()
    return loaded


def _set_variables(warehouse: Warehouse, delivery: Delivery, described: Described) -> None:
    """Set what staging and scan read besides `landed`."""
    month = delivery.billing_month
    warehouse.execute(f"set variable billing_month = timestamp '{month}'")
    warehouse.execute(f"set variable next_billing_month = timestamp '{next_month(month)}'")
    warehouse.execute("set variable net_payers = cast([] as varchar[])")
    currency = "null" if delivery.currency is None else literal(delivery.currency)
    warehouse.execute(f"set variable default_currency = cast({currency} as varchar)")
    warehouse.execute("set variable row_offsets = cast([] as bigint[][])")
    warehouse.execute(f"set variable row_offsets = {_row_offsets(warehouse, described)}")


def _row_offsets(warehouse: Warehouse, described: Described) -> str:
    """Return the rows before each file (parquet) or group, as a list of lists."""
    offsets: list[list[int]] = []
    before = 0
    for position, group in enumerate(described.groups, start=1):
        if group.shape.format == "parquet":
            counts = _parquet_rows(warehouse, [str(file.path) for file in group.files])
        elif len(described.groups) == 1:
            counts = [0]
        else:
            counts = [int(str(warehouse.value(f"select count(*) from landed where file_group = {position}")))]
        starts = [before + sum(counts[:index]) for index in range(len(counts))]
        offsets.append(starts)
        before += sum(counts)
    return f"cast({offsets} as bigint[][])"


def _parquet_rows(warehouse: Warehouse, paths: Sequence[str]) -> list[int]:
    """Return the rows of each parquet file, from its metadata."""
    listed = ", ".join(literal(path) for path in paths)
    rows = warehouse.rows(f"select file_name, num_rows from parquet_file_metadata([{listed}])")
    by_name = {str(row[0]): int(str(row[1])) for row in rows}
    return [by_name[path] for path in paths]


def _scan(warehouse: Warehouse, described: Described) -> list[ScanRow]:
    """Run the scan of the dataset, with a count per converted column of what did not convert."""
    converted = [item for item in described.dataset.fields if item.type in CONVERTED]
    counts = "".join(f",\n    count({quoted('bad_' + item.name)}) as {quoted('bad: ' + item.name)}" for item in converted)
    text = staging_text(f"{described.dataset.staging}.scan.sql")
    statement = _FROM_LANDED.sub(lambda found: counts.removeprefix(",") + found[0], text, count=1)
    cursor = warehouse.execute(statement)
    names = [str(column[0]) for column in cursor.description or []]
    scan = [ScanRow(dict(zip(names, row, strict=True))) for row in cursor.fetchall()]
    net = [literal(row.key[1]) for row in scan if row.values.get("is_net")]
    if net:
        warehouse.execute(f"set variable net_payers = [{', '.join(sorted(set(net)))}]")
    return scan


def _refuse_unconverted(warehouse: Warehouse, described: Described, scan: Sequence[ScanRow]) -> None:
    """Refuse a value that does not convert in a required column, naming the first one."""
    for item in described.dataset.fields:
        if not item.is_required or not any(row.number(f"bad: {item.name}") for row in scan):
            continue
        bad = quoted("bad_" + item.name)
        found = warehouse.row(
            f"select file_group, row_number, {bad} from landed where {bad} is not null order by row_number limit 1"
        )
        if found is None:
            continue
        group = described.groups[int(str(found[0])) - 1]
        column = columns_of(item, list(described.columns()))[0].name
        kind = "a date" if item.type == "instant" else "a finite number"
        raise LoadRefused(
            f"row {found[1]}, column {column}: {str(found[2])[:60]!r} is not {kind}",
            file=", ".join(file.name for file in group.files[:3]),
            hint="the column is required; deliver the file again, or correct it",
        )


def _refuse_scan(delivery: Delivery, described: Described, scan: Sequence[ScanRow]) -> None:
    """Refuse what the scan shows to be wrong as a whole."""
    names = ", ".join(file.name for file in delivery.files[:3])
    if any(row.values["billing_currency"] is None for row in scan):
        raise LoadRefused(
            "rows without a currency", file=names, hint='set `currency = "USD"` in the [[source]] where the export has none'
        )
    if any(row.values["billing_account_id"] is None for row in scan):
        raise LoadRefused("rows without a billing account", file=names, hint="the export must carry the payer's id")
    strangers = sum(row.number("noted: billing period other than that of the delivery") for row in scan)
    if delivery.month_is_stated and strangers:
        raise LoadRefused(
            f"{strangers} rows are of another month than {delivery.billing_month:%Y-%m}",
            file=names,
            hint='correct `period` of the [[source]], or set it to "from-rows"',
        )


def _swap(
    warehouse: Warehouse,
    delivery: Delivery,
    source: SourceSettings,
    described: Described,
    scan: Sequence[ScanRow],
    options: LoadOptions,
) -> ledger.LoadRecord:
    """Write part, tag sets and ledger; raises where the totals do not hold, so that the transaction rolls back."""
    part = Part(
        source=delivery.source,
        billing_month=delivery.billing_month,
        load_id=delivery.load_id,
        export_kind=described.export_kind,
        name=part_name(delivery.source, delivery.billing_month),
    )
    target = f"parts.{quoted(part.name)}"
    warehouse.execute(f"create or replace table {target} as\n{staging_text(f'{described.dataset.staging}.sql')}")
    added = _add_residuals(warehouse, target, scan)
    warehouse.execute(
        f"create or replace table parts.{quoted(tags_name(part.name))} as\n"
        + _reading(staging_text("tag_set.sql"), f"from {target}")
    )
    totals = _totals(warehouse, part, scan)
    counts = _counts(described, scan, added)
    loaded = _record(warehouse, delivery, part, scan, totals, counts, options)
    _refuse_totals(loaded)
    _refuse_shrunk(warehouse, loaded, options)
    _settle_holders(warehouse, source, loaded)
    ledger.record(warehouse, loaded)
    refresh_views(warehouse)
    return loaded


def _add_residuals(warehouse: Warehouse, target: str, scan: Sequence[ScanRow]) -> int:
    """Add one charge per (billing account, currency) that the netting of negations left something of."""
    residuals = [row for row in scan if row.amount("residual_cost") != 0]
    first = sum(row.number("rows_read") for row in scan) + 1
    for position, row in enumerate(residuals):
        _, account, currency = row.key
        warehouse.execute(
            f"insert into {target} by name select cast(? as bigint) as \"x_RowNumber\", cast(? as {MONEY}) as \"BilledCost\","
            " ? as \"BillingAccountId\", ? as \"BillingCurrency\", getvariable('billing_month') as \"ChargePeriodStart\","
            " getvariable('next_billing_month') as \"ChargePeriodEnd\", 0 as \"EffectiveCost\","
            f" cast(? as {MONEY}) as \"ListCost\", cast(? as {MONEY}) as \"ContractedCost\","
            " 'Savings Plan negations without their usage' as \"ChargeDescription\","
            " 'AWS Savings Plans' as \"ServiceName\", 'SavingsPlanNegation' as \"x_LineItemType\"",
            [first + position, row.amount("residual_cost"), account, currency, *[row.amount("residual_cost")] * 2],
        )
    return len(residuals)


def _totals(warehouse: Warehouse, part: Part, scan: Sequence[ScanRow]) -> list[ledger.Total]:
    """Return the totals of the new part beside those of the scan."""
    rows = warehouse.rows(
        'select "ProviderName", "BillingAccountId", "BillingCurrency", count(*), coalesce(sum("BilledCost"), 0)'
        f" from ({relation_over(COST_AND_USAGE.full_name, [part])}) group by 1, 2, 3 order by 1, 2, 3"
    )
    loaded = {(str(row[0]), str(row[1]), str(row[2])): row for row in rows}
    scanned = {row.key: row for row in scan}
    return [_total(key, loaded.get(key), scanned.get(key)) for key in sorted(loaded.keys() | scanned.keys())]


def _total(key: tuple[str, str, str], loaded: Row | None, scanned: ScanRow | None) -> ledger.Total:
    """Return one line of control totals."""
    provider, account, currency = key
    return ledger.Total(
        provider=provider,
        billing_account_id=account,
        billing_currency=currency,
        rows_loaded=0 if loaded is None else int(str(loaded[3])),
        delivered_cost=ZERO if scanned is None else scanned.amount("delivered_cost"),
        billed_cost=ZERO if loaded is None else Decimal(str(loaded[4])),
        rounded_cost=ZERO if scanned is None else scanned.amount("rounded_cost"),
    )


def _counts(described: Described, scan: Sequence[ScanRow], added: int) -> list[ledger.Count]:
    """Return what is odd, and the rows dropped and added, by rule."""
    summed: dict[tuple[str, str, str], int] = {}
    for row in scan:
        for name, value in row.values.items():
            for key, number in _named_counts(name, value):
                summed[key] = summed.get(key, 0) + number
    if added:
        summed[("added", "Savings Plan negation left uncancelled, kept as one charge", "")] = added
    for name in unknown_columns(described):
        summed[("noted", "unknown column, not loaded", name)] = 1
    blank = sum(1 for column in described.columns() if not column.name.strip())
    if blank:
        summed[("noted", "blank header cell", "")] = blank
    return [ledger.Count(rule=key[1], effect=key[0], subject=key[2], rows=number) for key, number in summed.items() if number]


def _named_counts(name: str, value: object) -> list[tuple[tuple[str, str, str], int]]:
    """Return the counts in one column of the scan: `effect: rule`, or `bad: field`."""
    effect, separator, rule = name.partition(": ")
    if not separator or value is None:
        return []
    if effect == "bad":
        return [(("noted", "value does not convert, read as null", rule), int(str(value)))]
    if effect not in _EFFECTS:
        return []
    if isinstance(value, dict):
        return [((effect, rule, str(subject)), int(number)) for subject, number in value.items()]
    return [((effect, rule, ""), int(str(value)))]


def _record(
    warehouse: Warehouse,
    delivery: Delivery,
    part: Part,
    scan: Sequence[ScanRow],
    totals: Sequence[ledger.Total],
    counts: Sequence[ledger.Count],
    options: LoadOptions,
) -> ledger.LoadRecord:
    """Return the ledger record of the new part."""
    facts = warehouse.row(
        'select max(case when "ChargeCategory" = \'Usage\' then cast("ChargePeriodStart" as date) end), count("ResourceId"),'
        f" count(*) from ({relation_over(COST_AND_USAGE.full_name, [part])})"
    )
    last_usage, resources, rows = facts or (None, 0, 0)
    return ledger.LoadRecord(
        delivery=delivery,
        export_kind=part.export_kind,
        part=part.name,
        loaded_at=options.loaded_at,
        rows_read=sum(row.number("rows_read") for row in scan),
        rows_loaded=int(str(rows)),
        last_usage_date=last_usage if isinstance(last_usage, date) else None,
        has_resource_ids=bool(resources) or not rows,
        totals=totals,
        counts=counts,
    )


def _refuse_totals(load: ledger.LoadRecord) -> None:
    """Refuse a part whose money or rows do not tie to the files."""
    for total in load.totals:
        if total.billed_cost != total.delivered_cost:
            raise LoadRefused(
                f"BilledCost of {total.billing_account_id} is {total.billed_cost} {total.billing_currency}, but the files"
                f" hold {total.delivered_cost}",
                hint="this is a fault of the conversion: keep the files and report it",
            )
    moved = {effect: sum(count.rows for count in load.counts if count.effect == effect) for effect in _EFFECTS}
    if load.rows_read != load.rows_loaded + moved["dropped"] - moved["added"]:
        raise LoadRefused(
            f"{load.rows_read} rows were read, but {load.rows_loaded} loaded, {moved['dropped']} dropped and"
            f" {moved['added']} added",
            hint="this is a fault of the conversion: keep the files and report it",
        )


def _refuse_shrunk(warehouse: Warehouse, load: ledger.LoadRecord, options: LoadOptions) -> None:
    """Refuse a month that lost more than half of its rows, unless that was said to be right."""
    current = ledger.current_load(warehouse, load.delivery.source, load.delivery.billing_month)
    if current is not None and load.rows_loaded * 2 < current[1] and not options.accept_shrink:
        raise LoadRefused(
            f"the month has {load.rows_loaded} rows where {current[1]} are loaded",
            hint="if that is right, run again with --accept-shrink",
        )


def _settle_holders(warehouse: Warehouse, source: SourceSettings, load: ledger.LoadRecord) -> None:
    """Take over from the source that this one replaces; refuse where any other holds the same account and month."""
    month = load.delivery.billing_month
    for holder, held in ledger.other_holders(warehouse, source.name, month, load.totals).items():
        own = {total.billing_account_id for total in load.totals}
        if holder != source.replaces or not ledger.accounts(warehouse, holder, month) <= own:
            raise SourceConflict(
                f"billing account {', '.join(sorted(set(held)))} is loaded from source {holder} already",
                hint=f'keep one of the two, or set `replaces = "{holder}"` in {source.name}, or part them by `from` and `until`',
            )
        old = part_name(holder, month)
        ledger.retire(warehouse, holder, month, [old, tags_name(old)])


def _explained(error: duckdb.Error, delivery: Delivery) -> SourceUnreadable | LoadRefused:
    """Return one clear error for what DuckDB could not read, naming file and line."""
    text = str(error)
    line = _CSV_LINE.search(text)
    file = _CSV_FILE.search(text)
    name = file["file"].rsplit("/", 1)[-1] if file else ", ".join(item.name for item in delivery.files[:3])
    where = {"source": delivery.source, "billing_month": delivery.billing_month}
    if line:
        reason = next((part for part in text.split("\n") if part.startswith(("Expected", "Value with", "Invalid"))), "")
        return LoadRefused(
            f"line {line['line']}: {reason.strip() or 'the row does not fit the header'}",
            file=name,
            hint="the last good version stays loaded; deliver the file again",
            **where,  # type: ignore[arg-type]
        )
    if isinstance(error, duckdb.ConversionException | duckdb.InvalidInputException):
        return LoadRefused(text.split("\n", 1)[0], file=name, hint="the last good version stays loaded", **where)  # type: ignore[arg-type]
    if isinstance(error, duckdb.IOException | duckdb.HTTPException):
        unread = unreadable(error, name)
        unread.located(source=delivery.source, billing_month=delivery.billing_month)
        return unread
    raise error


def _reading(text: str, source: str) -> str:
    """Return staging text with its `from part` reading `source`."""
    return re.sub(r"\bfrom part\b", lambda _: source, text)


@cache
def staging_text(name: str) -> str:
    """Return `sql/models/staging/<name>` as it stands."""
    return files("sql").joinpath("models", "staging", name).read_text(encoding="utf-8").rstrip().rstrip(";")
