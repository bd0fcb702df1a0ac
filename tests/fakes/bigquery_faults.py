"""What the emulator of BigQuery does not do: refuse, ask for patience, break off. Two stand in front of it on loopback.

`http_front` passes requests on and refuses those that a rule picks. `stream_front` does so for the Storage API, sends
each row as a message of its own, and breaks streams.
"""

from __future__ import annotations

import gzip
import http.client
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

SERVICE = "google.cloud.bigquery.storage.v1.BigQueryRead"
_HOP = frozenset({"connection", "content-length", "transfer-encoding", "content-encoding"})


@dataclass(slots=True)
class Refusal:
    """An error as BigQuery words it."""

    status: int
    reason: str


@dataclass(slots=True)
class Cut:
    """The connection breaks within the body."""


Rule = Callable[[str, str], Refusal | Cut | None]
"""What becomes of a request, given its method and path; None passes it on."""


@dataclass(slots=True)
class HttpFront:
    """The endpoint that tests give to the product, and what reached it."""

    url: str
    asked: list[tuple[str, str]] = field(default_factory=list)
    posted: list[str] = field(default_factory=list)
    """Bodies of what was posted."""
    rules: list[Rule] = field(default_factory=list)

    def refuse(self, part: str, answer: Refusal | Cut, times: int = 10**6, *, method: str | None = None) -> None:
        """Answer requests whose path has `part` so, a number of times."""
        left = [times]

        def rule(asked: str, path: str) -> Refusal | Cut | None:
            if part not in path or left[0] == 0 or method not in {None, asked}:
                return None
            left[0] -= 1
            return answer

        self.rules.append(rule)


@contextmanager
def http_front(upstream: str) -> Iterator[HttpFront]:
    """Run a front of the emulator's REST API for the `with` block."""
    there = urlsplit(upstream).netloc

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            front.asked.append((self.command, self.path))
            if body:
                front.posted.append(_text(body, self.headers.get("Content-Encoding")))
            answers = (rule(self.command, self.path) for rule in front.rules)
            answer = next((found for found in answers if found is not None), None)
            if isinstance(answer, Refusal):
                error = {"code": answer.status, "message": "made up", "errors": [{"reason": answer.reason}]}
                self._send(answer.status, json.dumps({"error": error}).encode())
                return
            connection = http.client.HTTPConnection(there, timeout=60)
            headers = {name: value for name, value in self.headers.items() if name.lower() != "accept-encoding"}
            connection.request(self.command, self.path, body, headers)
            got = connection.getresponse()
            content = got.read()
            connection.close()
            self._send(got.status, content, cut=isinstance(answer, Cut))

        def _send(self, status: int, content: bytes, *, cut: bool = False) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if cut else content)
            self.close_connection = cut

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _answer  # noqa: N815 - the base class's names

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    front = HttpFront(f"http://127.0.0.1:{listening.server_port}")
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield front
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def _text(body: bytes, encoding: str | None) -> str:
    return (gzip.decompress(body) if encoding == "gzip" else body).decode()


@dataclass(slots=True)
class StreamFront:
    """The Storage API as tests give it to the product."""

    url: str
    refused: str | None = None
    """Name of the gRPC status that sessions are refused with."""
    breaks: list[int] = field(default_factory=list)
    """After how many rows the next streams break; when it is used up they do not."""
    break_status: str = "UNAVAILABLE"
    offsets: list[int] = field(default_factory=list)
    """Row that each stream was asked from."""
    before_session: Callable[[], object] = lambda: None
    """What happens before a session is opened."""


@contextmanager
def stream_front(upstream: str) -> Iterator[StreamFront]:
    """Run a front of the emulator's Storage API for the `with` block."""
    import grpc
    from google.cloud.bigquery_storage_v1 import types

    channel = grpc.insecure_channel(urlsplit(upstream).netloc)
    open_session = channel.unary_unary(
        f"/{SERVICE}/CreateReadSession",
        types.CreateReadSessionRequest.serialize,
        types.ReadSession.deserialize,
    )
    read = channel.unary_stream(
        f"/{SERVICE}/ReadRows", types.ReadRowsRequest.serialize, types.ReadRowsResponse.deserialize
    )
    schemas: dict[str, Any] = {}

    def create(request: Any, context: Any) -> Any:  # noqa: ANN401 - of gRPC
        front.before_session()
        if front.refused is not None:
            context.abort(grpc.StatusCode[front.refused], "made up")
        session = open_session(request)
        schemas.update({stream.name: session.arrow_schema for stream in session.streams})
        return session

    def rows(request: Any, context: Any) -> Iterator[Any]:  # noqa: ANN401 - of gRPC
        front.offsets.append(request.offset)
        left = front.breaks.pop(0) if front.breaks else 10**9
        whole = read(types.ReadRowsRequest(read_stream=request.read_stream))
        for message in list(_one_by_one(whole, schemas[request.read_stream]))[request.offset :]:
            if left == 0:
                context.abort(grpc.StatusCode[front.break_status], "made up")
            left -= 1
            yield message

    handlers = {
        "CreateReadSession": grpc.unary_unary_rpc_method_handler(
            create, types.CreateReadSessionRequest.deserialize, types.ReadSession.serialize
        ),
        "ReadRows": grpc.unary_stream_rpc_method_handler(
            rows, types.ReadRowsRequest.deserialize, types.ReadRowsResponse.serialize
        ),
    }
    server = grpc.server(ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    front = StreamFront(f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}")
    server.start()
    try:
        yield front
    finally:
        server.stop(1).wait()
        channel.close()


def _one_by_one(messages: Iterator[Any], serialised: Any) -> Iterator[Any]:  # noqa: ANN401 - of gRPC
    """Yield a message for each row."""
    import pyarrow
    from google.cloud.bigquery_storage_v1 import types

    schema = pyarrow.ipc.read_schema(pyarrow.py_buffer(serialised.serialized_schema))
    for message in messages:
        content = pyarrow.py_buffer(message.arrow_record_batch.serialized_record_batch)
        batch = pyarrow.ipc.read_record_batch(content, schema)
        for position in range(batch.num_rows):
            row = batch.slice(position, 1).serialize().to_pybytes()
            yield types.ReadRowsResponse(
                arrow_record_batch=types.ArrowRecordBatch(serialized_record_batch=row, row_count=1), row_count=1
            )
