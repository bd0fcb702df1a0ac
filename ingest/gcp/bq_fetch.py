"""Rows of a table into a parquet file: streamed by the Storage Read API, or by a query where that is refused.

Memory is bounded: batches are gathered up to a row group and written. Nested types and columns nobody knows are kept. A
file is taken when its rows are as many as the table's state says; what came of a broken try is thrown away, save for a
stream, which goes on at the row where it broke.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.errors import SourceUnreadable
from ingest.gcp.bq_errors import data_request, explained, is_passing, session_request
from ingest.gcp.bq_export import ExportTable
from ingest.gcp.bq_session import asked, pause, read_client
from ingest.gcp.bq_tables import Tables
from ingest.source import BigQueryLocation
from sql.files import file_errors, remove

if TYPE_CHECKING:
    import pyarrow
    from google.cloud.bigquery import QueryJob
    from google.cloud.bigquery_storage_v1.services.big_query_read import BigQueryReadClient
    from google.cloud.bigquery_storage_v1.types import ReadSession

GROUP_ROWS = 100_000
GROUP_BYTES = 48 << 20
"""A row group is written once it has as many rows, or as many bytes of Arrow."""
NOT_SET = "rows come by queries, slower: `storage_endpoint_url` is not set beside `endpoint_url`"
_PAGE_ROWS = 20_000
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A parquet file that is whole."""

    rows: int
    size: int
    sha256: str


@dataclass(slots=True, kw_only=True)
class Reader:
    """Reads rows of the tables of one source; asks the Storage API until it is refused once."""

    tables: Tables
    _client: BigQueryReadClient | None = None
    _is_refused: bool = False
    _noted: set[str] = field(default_factory=set)

    def fetch(self, table: ExportTable, condition: str, path: Path) -> Written:
        """Write the rows of `table` that meet `condition` to `path`; raises SourceUnreadable."""
        batches = None if table.is_view else self._streamed(table, condition)
        if batches is None:
            return self._queried(table, condition, path)
        return write_batches(path, *batches)

    def _queried(self, table: ExportTable, condition: str, path: Path) -> Written:
        """Write the result of a query, page by page; one that breaks is asked again from its beginning."""
        statement = f"SELECT * FROM `{table.table}` WHERE {condition}"
        seconds = self.tables.location.patience.read_seconds

        def read(job: QueryJob) -> Written:
            rows = job.result(page_size=_PAGE_ROWS, retry=None, job_retry=None, timeout=seconds)
            batches = iter(rows.to_arrow_iterable(bqstorage_client=None))
            first = next(batches, None)
            if first is None:
                return Written(rows=0, size=0, sha256="")
            return write_batches(path, first.schema, chain([first], batches))

        return self.tables.query(statement, read)

    def _streamed(
        self, table: ExportTable, condition: str
    ) -> tuple[pyarrow.Schema, Iterator[pyarrow.RecordBatch]] | None:
        """Return the schema and the batches of a read session, or None where the Storage API is refused."""
        import pyarrow

        client = self._storage()
        if client is None:
            return None
        try:
            session = open_session(client, self.tables.location, table, condition)
        except SourceUnreadable as error:
            refusal = refusal_note(error)
            if refusal is None:
                raise
            self._is_refused = True
            self._note(refusal)
            return None
        self.tables.note_cost("READ_SESSION", int(session.estimated_total_bytes_scanned))
        schema = pyarrow.ipc.read_schema(pyarrow.py_buffer(session.arrow_schema.serialized_schema))
        return schema, self._batches(client, table, session, schema)

    def _batches(
        self, client: BigQueryReadClient, table: ExportTable, session: ReadSession, schema: pyarrow.Schema
    ) -> Iterator[pyarrow.RecordBatch]:
        """Yield the batches of every stream; one that breaks goes on behind the last row that came.

        Source: BigQuery Storage API reference, ReadRowsRequest: the same offset gives the same rows.
        """
        import pyarrow
        from google.api_core.exceptions import GoogleAPIError

        location = self.tables.location
        request = data_request(f"{table.table.project}.{table.table.dataset}")
        for stream in session.streams:
            offset = attempt = 0
            while True:
                try:
                    for message in client.read_rows(read_stream=stream.name, offset=offset, retry=None, timeout=None):
                        content = pyarrow.py_buffer(message.arrow_record_batch.serialized_record_batch)
                        batch = pyarrow.ipc.read_record_batch(content, schema)
                        offset, attempt = offset + batch.num_rows, 0
                        yield batch
                    break
                except GoogleAPIError as error:
                    attempt += 1
                    if attempt >= location.patience.attempts or not is_passing(error):
                        raise explained(error, request, attempt) from error
                    pause(location, attempt)

    def _storage(self) -> BigQueryReadClient | None:
        """Return the client of the Storage API, or None where it is not to be asked."""
        if self._client is None and not self._is_refused:
            self._client = read_client(self.tables.location)
            if self._client is None:
                self._is_refused = True
                self._note(NOT_SET)
        return None if self._is_refused else self._client

    def _note(self, text: str) -> None:
        """Note something once."""
        if text not in self._noted:
            self._noted.add(text)
            self.tables.notes.append(text)


def open_session(
    client: BigQueryReadClient, location: BigQueryLocation, table: ExportTable, condition: str
) -> ReadSession:
    """Open a read session of one stream, so that one file has all rows; raises SourceUnreadable."""
    from google.cloud.bigquery_storage_v1 import types

    named = table.table
    wanted = types.ReadSession(
        table=f"projects/{named.project}/datasets/{named.dataset}/tables/{named.table}",
        data_format=types.DataFormat.ARROW,
        read_options=types.ReadSession.TableReadOptions(row_restriction=condition),
    )
    parent = f"projects/{location.paying_project}"
    return asked(
        location,
        session_request(location.paying_project),
        lambda: client.create_read_session(
            parent=parent,
            read_session=wanted,
            max_stream_count=1,
            retry=None,
            timeout=location.patience.read_seconds,
        ),
    )


def refusal_note(error: SourceUnreadable) -> str | None:
    """Return that queries do instead of a session that was refused, or None where they would not do either."""
    from google.api_core.exceptions import Forbidden, InvalidArgument, MethodNotImplemented

    if not isinstance(error.__cause__, Forbidden | InvalidArgument | MethodNotImplemented):
        return None
    return f"the Storage Read API is refused, so that rows come by queries, slower: {error.args[0]}"


def write_batches(path: Path, schema: pyarrow.Schema, batches: Iterator[pyarrow.RecordBatch]) -> Written:
    """Write batches in row groups; what an earlier try left is replaced, and what breaks off leaves no file."""
    from pyarrow.parquet import ParquetWriter

    rows = 0
    try:
        with file_errors(path), ParquetWriter(path, schema, compression="zstd") as writer:
            for group in _groups(schema, batches):
                writer.write_table(group)
                rows += group.num_rows
    except BaseException:
        remove(path)
        raise
    sha256 = hashlib.sha256()
    with file_errors(path), path.open("rb") as stream:
        while chunk := stream.read(_READ_BYTES):
            sha256.update(chunk)
    return Written(rows=rows, size=path.stat().st_size, sha256=sha256.hexdigest())


def _groups(schema: pyarrow.Schema, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.Table]:
    """Yield batches gathered into tables of the size of a row group."""
    import pyarrow

    held: list[pyarrow.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            yield pyarrow.Table.from_batches(held, schema)
            held, rows, size = [], 0, 0
    if held:
        yield pyarrow.Table.from_batches(held, schema)
