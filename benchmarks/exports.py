"""Made-up exports below `benchmarks/data/`: written once, then hard-linked into the source of each measurement.

| folder | what |
|---|---|
| `million/` | one month of 1M charges, legacy columns, parquet |
| `ten-million/` | one month of 10M charges in ten files |
| `earlier/` | the twelve months before, 1M charges each |
| `small/` | four months of 100k charges |
| `additions/` | sixty files of some charges more for the last of them |
| `csv/` | `million/` as csv.gz in two files |
| `maps/` | `million/` as CUR 2.0, with MAP columns for tags, product, cost categories |
| `ten-million-maps/` | `ten-million/` as CUR 2.0 |
| `narrow/` | 20,000 charges as csv, 100 columns |
| `wide/` | the same charges in 1,500 columns: most are tag keys, of which a row fills some ten |
| `gcp-million/` | one month of 1M charges of a detailed Cloud Billing export, parquet as BigQuery writes it |
| `gcp-ten-million/` | one month of 10M of them in ten files |
| `gcp-ndjson/` | `gcp-million/` as NDJSON in two files |

Run as `python -m benchmarks.exports FOLDER FIRST STEP`: writes every STEP-th file of a folder from the FIRST on, so
that two processes share the work (`range()` feeds one thread only).
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sql.warehouse import Warehouse

DATA = Path(__file__).parent / "data"
MONTH = date(2026, 11, 1)
MILLION = 1_000_000
SWAPS = 60
_RESOURCES_PER_MILLION = 50_000
_WIDE_ATTRIBUTES = 100
_WIDE_TAG_KEYS = 1300
_NOT_IN_NARROW = """
    file_row_number, product_alarm_type, product_database_engine, product_durability, product_from_location,
    product_from_location_type, product_max_iopsvolume, product_storage_class, product_to_location,
    product_transfer_type, product_version, product_volume_api_name, product_volume_type, product_ecu,
    product_intel_avx2_available, product_gpu_memory, product_capacitystatus, product_classicnetworkingsupport,
    product_pre_installed_sw"""
"""Columns that staging does not read, so that 100 of the 118 are left."""
_GCP = "gcp_charges.sql"
_PARQUET = "format parquet, compression snappy"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFile:
    """One file of made-up charges: rows `[first_row, after_row)` of a month, or `query` over another file."""

    name: str
    month: date = MONTH
    first_row: int = 0
    after_row: int = MILLION
    rows_of_month: int = MILLION
    charges: str = "charges.sql"
    source: str | None = None
    """Path below `data/` of the file that `query` reads."""
    query: str = ""
    options: str = _PARQUET


def month_before(month: date, count: int) -> date:
    """Return the first day of the month `count` months before."""
    months = month.year * 12 + month.month - 1 - count
    return date(months // 12, months % 12 + 1, 1)


def files_of(folder: str) -> list[ExportFile]:
    """Return what a folder holds."""
    return list(_FOLDERS[folder]())


def paths_of(folder: str, month: date | None = None) -> list[Path]:
    """Return the files of a folder, or those of one month."""
    return [DATA / folder / file.name for file in files_of(folder) if month in {None, file.month}]


def is_written(folder: str) -> bool:
    """Return whether a folder holds what the present text would write."""
    stamp = DATA / folder / "stamp"
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _digest(folder)


def mark_written(folder: str) -> None:
    """Note that a folder is whole."""
    (DATA / folder / "stamp").write_text(_digest(folder), encoding="utf-8")


def deliver(root: Path, month: date, paths: list[Path]) -> None:
    """Make a data export of `paths` at `root`, or a newer delivery of its month: hard links and a manifest."""
    partition = f"BILLING_PERIOD={month:%Y-%m}"
    data, metadata = root / "bench" / "data" / partition, root / "bench" / "metadata" / partition
    data.mkdir(parents=True, exist_ok=True)
    metadata.mkdir(parents=True, exist_ok=True)
    for path in paths:
        link = data / path.name
        link.unlink(missing_ok=True)
        link.hardlink_to(path)
    keys = [f"s3://bench/bench/data/{partition}/{path.name}" for path in paths]
    (metadata / "bench-Manifest.json").write_text(json.dumps({"dataFiles": keys}), encoding="utf-8")


def _million() -> Iterator[ExportFile]:
    yield ExportFile(name="bench-00001.snappy.parquet")


def _ten_million() -> Iterator[ExportFile]:
    for number in range(10):
        yield ExportFile(
            name=f"bench-{number + 1:05d}.snappy.parquet",
            first_row=number * MILLION,
            after_row=(number + 1) * MILLION,
            rows_of_month=10 * MILLION,
        )


def _earlier() -> Iterator[ExportFile]:
    for count in range(12, 0, -1):
        month = month_before(MONTH, count)
        yield ExportFile(name=f"bench-{month:%Y-%m}.snappy.parquet", month=month)


def _small() -> Iterator[ExportFile]:
    for count in range(3, -1, -1):
        month = month_before(MONTH, count)
        yield ExportFile(
            name=f"bench-{month:%Y-%m}.snappy.parquet", month=month, after_row=100_000, rows_of_month=100_000
        )


def _additions() -> Iterator[ExportFile]:
    for number in range(SWAPS):
        first = 100_000 + 50 * SWAPS * number
        yield ExportFile(
            name=f"bench-added-{number:02d}.snappy.parquet",
            first_row=first,
            after_row=first + 50 * (number + 1),
            rows_of_month=100_000,
        )


def _csv() -> Iterator[ExportFile]:
    for number in range(2):
        yield ExportFile(
            name=f"bench-{number + 1:05d}.csv.gz",
            source="million/bench-00001.snappy.parquet",
            query=f"select * from delivered where file_row_number % 2 = {number}",
            options="format csv, header, compression gzip",
        )


def _maps() -> Iterator[ExportFile]:
    for file in _million():
        yield ExportFile(name=file.name, source=f"million/{file.name}", query=_sql("maps.sql"))


def _ten_million_maps() -> Iterator[ExportFile]:
    for file in _ten_million():
        yield ExportFile(name=file.name, source=f"ten-million/{file.name}", query=_sql("maps.sql"))


def _narrow() -> Iterator[ExportFile]:
    yield _small_csv("narrow", "")


def _wide() -> Iterator[ExportFile]:
    attributes = [_seldom(f"product/attribute{number:02d}", number, of=50) for number in range(_WIDE_ATTRIBUTES)]
    keys = [_seldom(f"resourceTags/user:key-{number:04d}", number, of=130) for number in range(_WIDE_TAG_KEYS)]
    yield _small_csv("wide", ", ".join([*attributes, *keys]))


def _small_csv(name: str, further: str) -> ExportFile:
    """Return 20,000 charges of the earliest month of `small` as CSV, with `further` columns."""
    return ExportFile(
        name=f"{name}-00001.csv",
        month=month_before(MONTH, 3),
        source=f"small/bench-{month_before(MONTH, 3):%Y-%m}.snappy.parquet",
        query=f"select * exclude ({_NOT_IN_NARROW}), {further} from delivered where file_row_number < 20000",
        options="format csv, header",
    )


def _seldom(name: str, number: int, of: int) -> str:
    """Return a column that one resource in `of` has a value in."""
    drawn = "hash(line_item_resource_id) % 1000003"
    return f"case when ({drawn} + {number * 7919}) % {of} = 0 then 'value-' || {drawn} % 50 end as \"{name}\""


def _gcp_million() -> Iterator[ExportFile]:
    yield ExportFile(name="bench-000000000000.parquet", charges=_GCP)


def _gcp_ten_million() -> Iterator[ExportFile]:
    for number in range(10):
        yield ExportFile(
            name=f"bench-{number:012d}.parquet",
            first_row=number * MILLION,
            after_row=(number + 1) * MILLION,
            rows_of_month=10 * MILLION,
            charges=_GCP,
        )


def _gcp_ndjson() -> Iterator[ExportFile]:
    names = ("usage_start_time", "usage_end_time", "export_time")
    instants = ", ".join(f"strftime({name}, '%Y-%m-%d %H:%M:%S UTC') as {name}" for name in names)
    for number in range(2):
        yield ExportFile(
            name=f"bench-{number:012d}.ndjson",
            source="gcp-million/bench-000000000000.parquet",
            query=(
                f"select * exclude (file_row_number) replace ({instants}) from delivered"
                f" where file_row_number % 2 = {number}"
            ),
            options="format json",
        )


_FOLDERS = {
    "million": _million,
    "ten-million": _ten_million,
    "earlier": _earlier,
    "small": _small,
    "additions": _additions,
    "csv": _csv,
    "maps": _maps,
    "ten-million-maps": _ten_million_maps,
    "narrow": _narrow,
    "wide": _wide,
    "gcp-million": _gcp_million,
    "gcp-ten-million": _gcp_ten_million,
    "gcp-ndjson": _gcp_ndjson,
}


def _sql(name: str) -> str:
    """Return the text of a statement file beside this module."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8").rstrip().rstrip(";")


def _digest(folder: str) -> str:
    """Return the hash of everything that decides what a folder holds."""
    files = files_of(folder)
    texts = (*(_sql(name) for name in sorted({file.charges for file in files})), repr(files))
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _write(file: ExportFile, target: Path) -> None:
    """Write one file."""
    from sql.warehouse import Warehouse, literal

    temporary = target.with_name(f".{target.name}.tmp")
    with Warehouse.in_memory() as warehouse:
        warehouse.execute("set threads = 1")
        warehouse.execute("set preserve_insertion_order = true")
        query = _derived(warehouse, file) if file.source else _generated(warehouse, file)
        warehouse.execute(f"copy ({query}) to {literal(str(temporary))} ({file.options}, use_tmp_file false)")
    temporary.rename(target)


def _generated(warehouse: Warehouse, file: ExportFile) -> str:
    """Prepare the made-up resources of a month and return the query for the rows of a file."""
    resources = file.rows_of_month * _RESOURCES_PER_MILLION // MILLION
    hours = (month_before(file.month, -1) - file.month).days * 24
    warehouse.execute(
        f"set variable billing_month = date '{file.month}'; set variable resources = {resources};"
        f" set variable hours = {hours}; set variable invoice_id = '27{file.month:%Y%m}447'"
    )
    warehouse.execute(_sql(file.charges))
    return f"from charges({file.first_row}, {file.after_row})"


def _derived(warehouse: Warehouse, file: ExportFile) -> str:
    """Make the view `delivered` over the file that this one is made from, and return the query."""
    from sql.warehouse import literal

    path = literal(str(DATA / str(file.source)))
    warehouse.execute(f"create view delivered as from read_parquet({path}, file_row_number = true)")
    return file.query


def main(arguments: list[str]) -> None:
    """Write every `step`-th file of a folder from the `first` on."""
    folder, first, step = arguments[0], int(arguments[1]), int(arguments[2])
    (DATA / folder).mkdir(parents=True, exist_ok=True)
    for file in files_of(folder)[first::step]:
        _write(file, DATA / folder / file.name)


if __name__ == "__main__":
    main(sys.argv[1:])
