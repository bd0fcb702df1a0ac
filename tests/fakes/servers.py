"""A Slack webhook and a mail server on this machine that take everything and remember it, for whole nights."""

from __future__ import annotations

import email
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default as modern
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller


@dataclass
class SlackServer:
    """An incoming webhook; `status` is what it answers."""

    url: str
    status: int = 200
    bodies: list[dict[str, object]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """Return the fallback text of each message."""
        return [str(body["text"]) for body in self.bodies]


@dataclass
class MailServer:
    """A plain mail server."""

    port: int
    mails: list[EmailMessage] = field(default_factory=list)

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802, ANN401 - aiosmtpd's
        """Take a message."""
        self.mails.append(email.message_from_bytes(envelope.content, policy=modern))
        return "250 taken"

    @property
    def subjects(self) -> list[str]:
        """Return the subject of each message."""
        return [str(mail["Subject"]) for mail in self.mails]

    @property
    def contents(self) -> list[tuple[str, str]]:
        """Return subject and plain text of each message."""
        bodies = [mail.get_body(("plain",)) for mail in self.mails]
        texts = ["" if body is None else str(body.get_content()) for body in bodies]
        return list(zip(self.subjects, texts, strict=True))


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def slack_server() -> Iterator[SlackServer]:
    """Run a webhook for the `with` block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(server.status)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

        def handle(self) -> None:
            """Bear a client that was killed."""
            try:
                super().handle()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = SlackServer(f"http://127.0.0.1:{listening.server_port}/services/made-up")
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """Run a mail server for the `with` block."""
    server = MailServer(free_port())
    controller = Controller(server, hostname="127.0.0.1", port=server.port)
    controller.start()
    try:
        yield server
    finally:
        controller.stop()
