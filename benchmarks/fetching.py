"""Fetching from a stand-in for S3 that waits before each answer, as a distant bucket does: ours, and one by one.

`python -m benchmarks.fetching` is the stand-in; it prints its port and serves until its stdin ends.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Thread

from ingest.aws.fetch import fetch_objects
from ingest.aws.s3 import Bucket, S3Object
from ingest.aws.session import client
from ingest.source import AwsAccess, S3Location, SourceSettings

OBJECTS = 200
LATENCY_SECONDS = 0.03
_CONTENT = bytes(range(256)) * 1024
_ETAG = hashlib.md5(_CONTENT, usedforsecurity=False).hexdigest()
_LOCATION = S3Location(bucket="bench", prefix="")


@contextmanager
def distant_bucket() -> Iterator[str]:
    """Run the stand-in in a process of its own and yield its port."""
    command = [sys.executable, "-m", "benchmarks.fetching"]
    with Popen(command, cwd=Path(__file__).parent.parent, stdin=PIPE, stdout=PIPE, text=True) as server:
        if server.stdout is None or server.stdin is None:
            raise RuntimeError("the stand-in has no pipes")
        yield server.stdout.readline().strip()
        server.stdin.close()


def fetch(arguments: Sequence[str]) -> dict[str, float]:
    """Fetch every object as a night does: PORT FOLDER."""
    settings = _settings(arguments[0])
    objects = [S3Object(key=_key(number), size=len(_CONTENT), etag=_ETAG, modified_ns=0) for number in range(OBJECTS)]
    bucket = Bucket(settings, _LOCATION)
    return _timed(lambda: fetch_objects(bucket, objects, Path(arguments[1])))


def fetch_plainly(arguments: Sequence[str]) -> dict[str, float]:
    """Fetch every object with boto3, one after the other: PORT FOLDER."""
    s3 = client(_settings(arguments[0]), "s3")

    def work() -> None:
        for number in range(OBJECTS):
            body = s3.get_object(Bucket=_LOCATION.bucket, Key=_key(number))["Body"].read()
            Path(arguments[1], str(number)).write_bytes(body)

    return _timed(work)


def _settings(port: str) -> SourceSettings:
    """Return a source in the stand-in, with made-up credentials in the environment."""
    keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "made-up")
    os.environ |= keys | {"AWS_DEFAULT_REGION": "us-east-1"}
    access = AwsAccess(endpoint_url=f"http://127.0.0.1:{port}")
    return SourceSettings(name="bench", kind="aws-export", location=_LOCATION, access=access)


def _key(number: int) -> str:
    """Return the key of an object."""
    return f"data/{number:05d}.csv.gz"


def _timed(work: Callable[[], object]) -> dict[str, float]:
    """Return the seconds on the wall, and of the processor, that `work` takes."""
    started, spent = time.perf_counter(), time.process_time()
    work()
    return {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - spent}


class _Handler(BaseHTTPRequestHandler):
    """Answers every GET with the same content, after a while."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer."""
        time.sleep(LATENCY_SECONDS)
        self.send_response(200)
        self.send_header("ETag", f'"{_ETAG}"')
        self.send_header("Content-Length", str(len(_CONTENT)))
        self.end_headers()
        self.wfile.write(_CONTENT)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _serve() -> None:
    """Serve until stdin ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve()
