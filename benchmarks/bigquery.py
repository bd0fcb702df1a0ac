"""Streaming of a table from a stand-in for BigQuery's Storage Read API into a landed parquet file.

`python -m benchmarks.bigquery` is the stand-in; it prints its port and serves until its stdin ends. Every row of the
made-up export comes as often as the table is named for: `times_10` is ten times as long as the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from benchmarks.exports import MONTH, month_before, paths_of

_SERVICE = "google.cloud.bigquery.storage.v1.BigQueryRead"
_BATCH_ROWS = 2_000


@contextmanager
def storage_service() -> Iterator[str]:
    """Run the stand-in in a process of its own and yield its port."""
    command = [sys.executable, "-m", "benchmarks.bigquery"]
    with Popen(command, cwd=Path(__file__).parent.parent, stdin=PIPE, stdout=PIPE, text=True) as server:
        if server.stdout is None or server.stdin is None:
            raise RuntimeError("the stand-in has no pipes")
        yield server.stdout.readline().strip()
        server.stdin.close()


def stream(arguments: Sequence[str]) -> dict[str, float]:
    """Write a table to a landed file as a night does: PORT TIMES FILE."""
    from ingest.gcp.bq_export import ExportTable
    from ingest.gcp.bq_fetch import Reader
    from ingest.gcp.bq_tables import open_tables
    from ingest.source import BigQueryLocation, BigQueryTable
    from sql.parts import prepare
    from sql.warehouse import Warehouse

    port, times, path = arguments
    table = BigQueryTable(project="bench", dataset="billing", table=f"times_{times}")
    address = f"http://127.0.0.1:{port}"
    location = BigQueryLocation(tables=(table,), endpoint_url=address, storage_endpoint_url=address)
    export = ExportTable(
        table=table, kind="detailed", is_view=False, by="_PARTITIONTIME", is_partitioned=True, is_empty=False
    )
    with Warehouse.in_memory() as warehouse:
        prepare(warehouse)
        tables = open_tables("bench", location, warehouse, datetime.now(UTC).replace(tzinfo=None), frozenset())
        following: date = month_before(MONTH, -1)
        written = Reader(tables=tables).fetch(export, export.condition(MONTH, MONTH, following), Path(path))
    return {"rows": written.rows, "bytes": written.size}


def _serve() -> None:
    """Serve until stdin ends."""
    import grpc
    import pyarrow
    import pyarrow.parquet
    from google.cloud.bigquery_storage_v1 import types

    [path] = paths_of("gcp-million")
    file = pyarrow.parquet.ParquetFile(path)

    def open_session(request: Any, _: object) -> Any:  # noqa: ANN401 - proto-plus has no types
        name = request.read_session.table.rsplit("/", 1)[-1]
        schema = types.ArrowSchema(serialized_schema=file.schema_arrow.serialize().to_pybytes())
        return types.ReadSession(name=name, arrow_schema=schema, streams=[types.ReadStream(name=name)])

    def read_rows(request: Any, _: object) -> Iterator[Any]:  # noqa: ANN401
        for _turn in range(int(request.read_stream.removeprefix("times_"))):
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                content = types.ArrowRecordBatch(serialized_record_batch=batch.serialize().to_pybytes())
                yield types.ReadRowsResponse(arrow_record_batch=content, row_count=batch.num_rows)

    handlers = {
        "CreateReadSession": grpc.unary_unary_rpc_method_handler(
            open_session, types.CreateReadSessionRequest.deserialize, types.ReadSession.serialize
        ),
        "ReadRows": grpc.unary_stream_rpc_method_handler(
            read_rows, types.ReadRowsRequest.deserialize, types.ReadRowsResponse.serialize
        ),
    }
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, handlers),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    sys.stdin.read()


if __name__ == "__main__":
    _serve()
