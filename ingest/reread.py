"""NDJSON is written to parquet before a load: it is read several times over, and parsing it is most of the work.

Values stay as they were read: scalars as text, nested lists as JSON text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ingest.dataset import Described, FileGroup
from ingest.delivery import DeliveredFile
from ingest.formats import parquet_shape, table_function
from ingest.unpack import scratch
from sql.files import make_directory
from sql.warehouse import Warehouse, literal


@contextmanager
def parsed_once(warehouse: Warehouse, described: Described) -> Iterator[Described]:
    """Give a delivery with parquet in place of NDJSON, for as long as it is read; every other file as it is."""
    with scratch(warehouse, "parsed") as folder:
        yield replace(
            described,
            groups=tuple(
                _parsed(warehouse, group, folder / f"{position:05d}") if group.shape.format == "ndjson" else group
                for position, group in enumerate(described.groups, start=1)
            ),
        )


def _parsed(warehouse: Warehouse, group: FileGroup, folder: Path) -> FileGroup:
    """Return the files of a group as parquet, rows in their order, each under its own name in a folder of its own."""
    files: list[DeliveredFile] = []
    for position, file in enumerate(group.files, start=1):
        target = folder / f"{position:05d}" / file.path.name
        make_directory(target.parent)
        warehouse.execute(
            f"copy (from {table_function(group.shape, [file.path])}) to {literal(str(target))}"
            " (format parquet, preserve_order true)"
        )
        files.append(replace(file, path=target, size=target.stat().st_size))
    return FileGroup(shape=parquet_shape(files[0], warehouse), files=tuple(files))
