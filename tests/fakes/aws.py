"""S3 and STS on this machine: moto's server, and a proxy in front of it for what moto does not do.

The proxy passes requests on, counts them, waits where it is told to, and cuts, refuses or interferes at the request
that a rule picks.
"""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

KEYS = {
    "AWS_ACCESS_KEY_ID": "made-up-key",
    "AWS_SECRET_ACCESS_KEY": "made-up-secret",
    "AWS_DEFAULT_REGION": "us-east-1",
}
BUCKET = "acme-billing"
ACCOUNT = "123456789012"
"""Whose everything is that no role was assumed for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it reached the proxy."""

    method: str
    path: str
    """Path with %-escapes resolved, as `/bucket/key`."""
    query: Mapping[str, str]
    range: str | None
    agent: str

    @property
    def kind(self) -> str:
        """Return LIST, GET, HEAD, or the method of anything else."""
        return "LIST" if self.method == "GET" and "list-type" in self.query else self.method

    @property
    def key(self) -> str:
        """Return the object's key."""
        return self.path.removeprefix("/").partition("/")[2]


@dataclass(slots=True)
class Refuse:
    """Answer with an error of AWS instead of passing the request on."""

    status: int
    code: str
    message: str = "made up"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Cut:
    """Pass the request on, and break the connection after so many bytes of the body, at once or after a while."""

    after: int
    is_reset: bool = False
    """Whether it is reset, as a firewall does, and not closed."""
    seconds: float = 0.0
    """How long nothing comes before."""


@dataclass(slots=True)
class First:
    """Do something before the request is passed on."""

    work: Callable[[], object]


@dataclass(slots=True)
class Spoil:
    """Pass the request on, and change the first byte of the body."""


@dataclass(slots=True)
class Instead:
    """Answer with a page instead of passing the request on, as what is no AWS does."""

    status: int
    body: str


Answer = Refuse | Cut | First | Spoil | Instead
Rule = Callable[[Asked], Answer | None]


@dataclass(slots=True)
class Aws:
    """The endpoint that tests give to the product, and what reached it."""

    port: int
    upstream: int
    asked: list[Asked] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    latency: float = 0.0
    """Seconds that each request waits."""

    @property
    def endpoint(self) -> str:
        """Return the address of the proxy."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, service: str = "s3") -> Any:  # noqa: ANN401 - a client of any service
        """Return a plain client of the server behind the proxy, for tests to arrange things."""
        import boto3

        make: Any = boto3.client
        return make(service, endpoint_url=f"http://127.0.0.1:{self.upstream}", region_name="us-east-1")

    def bucket(self, name: str = BUCKET) -> S3Client:
        """Create a bucket and return a client."""
        client: S3Client = self.client()
        client.create_bucket(Bucket=name)
        return client

    def upload(self, folder: Path, bucket: str = BUCKET, prefix: str = "") -> None:
        """Upload every file below a folder, under its path."""
        client = self.client()
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                client.put_object(
                    Bucket=bucket, Key=f"{prefix}{path.relative_to(folder).as_posix()}", Body=path.read_bytes()
                )

    def age(self, bucket: str, prefix: str, at: datetime) -> None:
        """Let the objects below a prefix have been written at an instant; moto runs in this process."""
        from moto.s3.models import s3_backends

        for key, item in s3_backends[ACCOUNT]["aws"].buckets[bucket].keys.items():
            if key.startswith(prefix):
                item.last_modified = at.replace(tzinfo=None)

    def once(self, wanted: Callable[[Asked], bool], answer: Answer, times: int = 1) -> None:
        """Answer the next requests that are wanted in another way."""
        left = [times]

        def rule(asked: Asked) -> Answer | None:
            if left[0] and wanted(asked):
                left[0] -= 1
                return answer
            return None

        self.rules.append(rule)

    def count(self, kind: str, part: str = "") -> int:
        """Return how many requests of a kind, about a path that contains `part`, there were."""
        return sum(asked.kind == kind and part in asked.path for asked in self.asked)

    def forget(self) -> None:
        """Start counting anew, without rules."""
        self.asked.clear()
        self.rules.clear()


@contextmanager
def moto_server() -> Iterator[int]:
    """Run moto's server for the `with` block and yield its port."""
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
        yield port
    finally:
        server.stop()


@contextmanager
def proxy(upstream: int) -> Iterator[Aws]:
    """Run a proxy in front of a server on this machine for the `with` block."""

    class Handler(_Passing):
        aws = Aws(port=0, upstream=upstream)

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    Handler.aws.port = listening.server_port
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Handler.aws
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


class _Passing(BaseHTTPRequestHandler):
    """Passes one request after the other on."""

    aws: Aws
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        """Bear a client that went away."""
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError, ValueError):
            # The last is what a closed file says: the connection was reset on purpose.
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _pass(self) -> None:
        parts = urlsplit(self.path)
        asked = Asked(
            method=self.command,
            path=unquote(parts.path),
            query={name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()},
            range=self.headers.get("Range"),
            agent=self.headers.get("User-Agent", ""),
        )
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.aws.asked.append(asked)
        time.sleep(self.aws.latency)
        answer = next((found for rule in self.aws.rules if (found := rule(asked)) is not None), None)
        if isinstance(answer, Refuse):
            self._refuse(answer)
            return
        if isinstance(answer, Instead):
            self._send(answer.status, answer.body, {"Content-Type": "text/html"})
            return
        if isinstance(answer, First):
            answer.work()
        self._answer(body, answer)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass  # noqa: N815 - the library's names

    def _refuse(self, refusal: Refuse) -> None:
        text = f"<Error><Code>{refusal.code}</Code><Message>{refusal.message}</Message></Error>"
        wrapped = f"<ErrorResponse>{text}</ErrorResponse>" if self.command == "POST" else text
        if "X-Amz-Target" in self.headers:
            wrapped = json.dumps({"__type": refusal.code, "message": refusal.message})
        self._send(refusal.status, wrapped, refusal.headers)

    def _send(self, status: int, text: str, headers: Mapping[str, str]) -> None:
        body = b"" if self.command == "HEAD" else text.encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self, body: bytes, answer: Answer | None) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.aws.upstream, timeout=30)
        try:
            # The path goes on as it came: `//` and %-escapes are part of a key.
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in {"connection", "expect", "transfer-encoding"}:
                    connection.putheader(name, value)
            connection.endheaders(body or None)
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in {"connection", "transfer-encoding", "content-length", "date", "server"}:
                self.send_header(name, value)
        length = response.getheader("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        if isinstance(answer, Spoil):
            content = bytes([content[0] ^ 1]) + content[1:]
        if isinstance(answer, Cut):
            content = content[: answer.after]
            self.close_connection = True
        self.wfile.write(content)
        if isinstance(answer, Cut):
            time.sleep(answer.seconds)
            if answer.is_reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
