"""Batches become row groups: memory is bounded by those, whatever the table's size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow
from pyarrow.parquet import ParquetFile

from ingest.gcp.bq_fetch import GROUP_ROWS, write_batches


def test_a_long_stream_is_held_one_row_group_at_a_time(tmp_path: Path) -> None:
    batch = pyarrow.record_batch({"cost": pyarrow.array(range(10_000)), "name": pyarrow.array(["x" * 50] * 10_000)})
    most = 0

    def batches() -> Iterator[pyarrow.RecordBatch]:
        nonlocal most
        for _ in range(100):
            copy = pyarrow.ipc.read_record_batch(batch.serialize(), batch.schema)
            most = max(most, pyarrow.total_allocated_bytes())
            yield copy

    before = pyarrow.total_allocated_bytes()
    written = write_batches(tmp_path / "t.parquet", batch.schema, batches())

    groups = ParquetFile(tmp_path / "t.parquet").metadata
    assert (written.rows, groups.num_rows, groups.num_row_groups) == (1_000_000, 1_000_000, 1_000_000 // GROUP_ROWS)
    assert most - before < 4 * batch.nbytes * GROUP_ROWS / batch.num_rows
