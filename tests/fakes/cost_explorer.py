"""Answers of Cost Explorer, and a server on this machine that gives such answers in the order that a test says.

Organizations speaks the same protocol, so the server does for it, too.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

METRICS = ("UnblendedCost", "NetUnblendedCost", "AmortizedCost", "NetAmortizedCost")

Answer = tuple[int, Mapping[str, Any]]
"""HTTP status and body."""


def group(account: str, record_type: str, *amounts: str, unit: str = "USD") -> dict[str, Any]:
    """Return one group; `amounts` are those of the four metrics, or one for all of them."""
    values = amounts if len(amounts) == len(METRICS) else amounts * len(METRICS)
    metrics = {metric: {"Amount": value, "Unit": unit} for metric, value in zip(METRICS, values, strict=True)}
    return {"Keys": [account, record_type], "Metrics": metrics}


def page(
    *groups: Mapping[str, Any], month: str = "2026-10", is_estimated: bool = False, token: str | None = None
) -> dict[str, Any]:
    """Return one page of an answer."""
    period = {"Start": f"{month}-01", "End": f"{month}-28"}
    results = [{"TimePeriod": period, "Total": {}, "Groups": list(groups), "Estimated": is_estimated}]
    more = {} if token is None else {"NextPageToken": token}
    return {"ResultsByTime": results, "DimensionValueAttributes": [], **more}


def refusal(code: str, message: str, status: int = 400) -> Answer:
    """Return an error as services of the JSON protocol give it."""
    return status, {"__type": code, "message": message, "Message": message}


@dataclass(slots=True)
class JsonServer:
    """A service of AWS's JSON protocol that gives its answers in order, the last one for ever."""

    port: int = 0
    answers: list[Answer] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the requests."""
    before: Callable[[dict[str, Any]], object] = lambda _: None
    """Done with each body before it is answered."""
    most_at_once: int = 0
    """Requests that were there at the same time, at most."""

    @property
    def endpoint(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.port}"

    def give(self, *pages: Mapping[str, Any]) -> None:
        """Answer with these pages."""
        self.answers = [(200, answer) for answer in pages]

    def refuse(self, *refusals: Answer) -> None:
        """Answer with these errors."""
        self.answers = list(refusals)


@contextmanager
def json_server(answers: Sequence[Answer] = ()) -> Iterator[JsonServer]:
    """Run such a server for the `with` block."""
    server = JsonServer(answers=list(answers))
    lock, present = threading.Lock(), list[dict[str, Any]]()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                server.asked.append(question)
                status, answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                present.append(question)
                server.most_at_once = max(server.most_at_once, len(present))
            server.before(question)
            with lock:
                present.remove(question)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.port = listening.server_port
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
