"""The scan: what a load has to know about its files before it begins, in one reading of them.

It counts what is odd, sums the cost column on its own, and settles what staging reads besides `landed`: DuckDB
variables `billing_month`, `next_billing_month`, `default_currency`, `net_payers` and `row_offsets`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, localcontext
from functools import cache
from importlib.resources import files

import duckdb

from ingest.dataset import Described
from ingest.delivery import Delivery
from ingest.errors import LoadRefused
from ingest.fieldcount import refuse_uneven_rows
from ingest.fields import CONVERTED, Field
from ingest.formats import table_function
from ingest.landed import by_folded_name, columns_of, create_landed_view, unknown_columns
from ingest.ledger import Count, RawTotal
from sql.parts import next_month
from sql.warehouse import Warehouse, literal, quoted

EFFECTS = ("noted", "dropped", "added")
SPLIT_ROWS = "dropped: split cost allocation row, part of its parent's cost"
UNKNOWN_COLUMN = "unknown column, not loaded"
ABSENT_COLUMN = "column is not delivered, taken as empty"
STRANGERS = "noted: billing period other than that of the delivery"
_UNEVEN = "uneven_rows"
_RAW = "raw: "
_ENOUGH_DIGITS = 60
_COUNTED = re.compile(r"\nfrom (?:landed|lines)\b")
"""Where a scan reads its rows: counts of what did not convert are added to the SELECT before it."""


@dataclass(frozen=True, slots=True)
class ScanRow:
    """Facts about some rows of one provider, billing account and currency, by the names of the scan's columns."""

    values: Mapping[str, object]

    @property
    def key(self) -> tuple[str, str, str]:
        """Return (provider, billing account, currency)."""
        provider, account, currency = (
            str(self.values[name]) for name in ("provider", "billing_account_id", "billing_currency")
        )
        return provider, account, currency

    def amount(self, name: str) -> Decimal:
        """Return an amount, 0 where the scan has no such column."""
        value = self.values.get(name)
        return value if isinstance(value, Decimal) else Decimal(str(value or 0))

    def number(self, name: str) -> int:
        """Return a count, 0 where the scan has no such column."""
        return int(str(self.values.get(name) or 0))


def scan_files(warehouse: Warehouse, delivery: Delivery, described: Described) -> list[ScanRow]:
    """Read the files once; returns the rows of the scan. Leaves the view `landed`.

    Raises LoadRefused where a required value does not convert, or where the files are wrong as a whole.
    """
    month = delivery.billing_month if delivery.rows_of_month_only else None
    _set_variables(warehouse, delivery, described)
    converted = [item for item in described.dataset.fields if item.type in CONVERTED]
    counts = ",\n".join(f"count({quoted('bad_' + item.name)}) as {quoted('bad: ' + item.name)}" for item in converted)
    counts += f",\ncount(*) filter (is_uneven) as {_UNEVEN}"
    text = staging_text(f"{described.dataset.staging}.scan.sql")
    statement = _COUNTED.sub(lambda found: counts + found[0], text, count=1)
    create_landed_view(warehouse, described, month, is_padded=True, read_by=text)
    cursor = _run(warehouse, described, month, statement)
    names = [str(column[0]) for column in cursor.description or []]
    scan = [ScanRow(dict(zip(names, row, strict=True))) for row in cursor.fetchall()]
    if any(row.number(_UNEVEN) for row in scan):
        _refuse_uneven_rows(described)
    create_landed_view(warehouse, described, month)
    _refuse_unconverted(warehouse, described, scan)
    _refuse_scan(delivery, scan)
    net = sorted({literal(row.key[1]) for row in scan if row.values.get("is_net")})
    if net:
        warehouse.execute(f"set variable net_payers = [{', '.join(net)}]")
    return scan


def _run(warehouse: Warehouse, described: Described, month: date | None, statement: str) -> duckdb.DuckDBPyConnection:
    """Run the scan over padded rows, or over rows as they are where DuckDB cannot pad them."""
    try:
        return warehouse.execute(statement)
    except duckdb.Error as error:
        if "CSV Error" not in str(error):
            raise
        _refuse_uneven_rows(described)
        if "null_padding" not in str(error):
            raise
        # DuckDB pads no rows that have line breaks within quotes, but reads them.
        create_landed_view(warehouse, described, month)
        return warehouse.execute(statement)


def total_of(scan: Sequence[ScanRow], name: str) -> dict[tuple[str, str, str], Decimal]:
    """Return an amount summed by (provider, billing account, currency)."""
    totals: dict[tuple[str, str, str], Decimal] = {}
    with localcontext(prec=_ENOUGH_DIGITS):
        for row in scan:
            totals[row.key] = totals.get(row.key, Decimal(0)) + row.amount(name)
    return totals


def raw_totals_of(scan: Sequence[ScanRow]) -> list[RawTotal]:
    """Return the sums of the delivered cost columns, for a check against the provider."""
    return [
        RawTotal(
            billing_account_id=row.key[1],
            sub_account_id=str(row.values.get("sub_account_id") or ""),
            line_item_type=str(row.values.get("line_item_type") or ""),
            billing_currency=row.key[2],
            metric=name.removeprefix(_RAW),
            amount=row.amount(name),
        )
        for row in scan
        for name, value in row.values.items()
        if name.startswith(_RAW) and value is not None
    ]


def counts_of(described: Described, scan: Sequence[ScanRow]) -> list[Count]:
    """Return what is odd, and the rows dropped and added, by rule."""
    summed: dict[tuple[str, str, str], int] = {}
    for row in scan:
        for name, value in row.values.items():
            for key, number in _named_counts(name, value):
                summed[key] = summed.get(key, 0) + number
    for name in unknown_columns(described):
        summed[("noted", UNKNOWN_COLUMN, name)] = 1
    named = by_folded_name(described.columns())
    for item in described.dataset.fields:
        if item.is_counted_absent and not columns_of(item, named):
            summed[("noted", ABSENT_COLUMN, item.name)] = 1
    blank = sum(1 for column in described.columns() if not column.name.strip())
    if blank:
        summed[("noted", "blank header cell", "")] = blank
    return [Count(rule=key[1], effect=key[0], subject=key[2], rows=number) for key, number in summed.items() if number]


@cache
def staging_text(name: str) -> str:
    """Return `sql/models/staging/<name>` as it stands."""
    return files("sql").joinpath("models", "staging", name).read_text(encoding="utf-8").rstrip().rstrip(";")


def _refuse_uneven_rows(described: Described) -> None:
    """Refuse CSV files with rows that do not fit their header."""
    for group in described.groups:
        if group.shape.format == "csv":
            for file in group.files:
                refuse_uneven_rows(file, group.shape)


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
    for group in described.groups:
        if group.shape.format == "parquet":
            counts = _parquet_rows(warehouse, [str(file.path) for file in group.files])
        elif len(described.groups) == 1:
            counts = [0]
        else:
            source = table_function(group.shape, [file.path for file in group.files])
            counts = [int(str(warehouse.value(f"select count(*) from {source}")))]
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


def _refuse_unconverted(warehouse: Warehouse, described: Described, scan: Sequence[ScanRow]) -> None:
    """Refuse a value that does not convert in a required column, naming the first one."""
    for item in described.dataset.fields:
        bad = quoted("bad_" + item.name)
        refused = (
            f"{bad} is not null" if item.is_required or item.is_strict else f"try_cast({bad} as double) is not null"
        )
        if not _may_be_refused(item) or not any(row.number(f"bad: {item.name}") for row in scan):
            continue
        found = warehouse.row(
            f"select file_name, row_number, {bad} from landed where {refused} order by row_number limit 1"
        )
        if found is None:
            continue
        column = columns_of(item, by_folded_name(described.columns()))[0].name
        kind = {"instant": "a date", "json": "JSON", "records": "a list of records"}.get(item.type, "a finite number")
        raise LoadRefused(
            f"row {found[1]}, column {column}: {str(found[2])[:60]!r} is not {kind}",
            file=str(found[0]).rsplit("/", 1)[-1],
            hint="the bill cannot be read without it; deliver the file again, or correct it",
        )


def _may_be_refused(item: Field) -> bool:
    """Return whether any value of a field fails the load: NaN, infinity and overflow do so in every money column."""
    return item.is_required or item.is_strict or item.type == "money"


def _refuse_scan(delivery: Delivery, scan: Sequence[ScanRow]) -> None:
    """Refuse what the scan shows to be wrong as a whole."""
    names = ", ".join(file.name for file in delivery.files[:3])
    if any(row.values["billing_currency"] is None for row in scan):
        raise LoadRefused(
            "rows without a currency",
            file=names,
            hint='set `currency = "USD"` in the [[source]] where the export has none',
        )
    if any(row.values["billing_account_id"] is None for row in scan):
        raise LoadRefused("rows without a billing account", file=names, hint="the export must carry the payer's id")
    strangers = sum(row.number(STRANGERS) for row in scan)
    if delivery.month_is_stated and strangers:
        raise LoadRefused(
            f"{strangers} rows are of another month than {delivery.billing_month:%Y-%m}",
            file=names,
            hint='correct `period` of the [[source]], or set it to "from-rows"',
        )


def _named_counts(name: str, value: object) -> list[tuple[tuple[str, str, str], int]]:
    """Return the counts in one column of the scan: `effect: rule`, or `bad: field`."""
    effect, separator, rule = name.partition(": ")
    if not separator or value is None:
        return []
    if effect == "bad":
        return [(("noted", "value does not convert, read as null", rule), int(str(value)))]
    if effect not in EFFECTS:
        return []
    if isinstance(value, dict):
        return [((effect, rule, str(subject)), int(number)) for subject, number in value.items()]
    return [((effect, rule, ""), int(str(value)))]
