"""Where Google's libraries renew the credentials of a service account, on this machine, and keys that lead there."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

EMAIL = "overrun@acme-jobs.iam.gserviceaccount.com"
SECRET = "secret-detail of the account"


@dataclass(slots=True)
class GoogleTokens:
    """The endpoint, and what it was asked."""

    url: str
    refuses: bool = False
    """Whether renewals are refused as for a key that was deleted."""
    claims: list[dict[str, Any]] = field(default_factory=list)
    """What each request claimed: who asks, for which scope."""

    def key(self) -> str:
        """Return the content of a service-account file."""
        from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        private = generate_private_key(public_exponent=65537, key_size=2048)
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        account = {"type": "service_account", "project_id": "acme-jobs", "client_email": EMAIL, "private_key": pem}
        return json.dumps(account | {"token_uri": self.url})


@contextmanager
def google_tokens() -> Iterator[GoogleTokens]:
    """Run the endpoint for the `with` block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            payload = body["assertion"][0].split(".")[1]
            tokens.claims.append(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))
            granted = {"access_token": "a-token", "expires_in": 3600, "token_type": "Bearer"}
            refused = {"error": "invalid_grant", "error_description": SECRET}
            content = json.dumps(refused if tokens.refuses else granted).encode()
            self.send_response(400 if tokens.refuses else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tokens = GoogleTokens(f"http://127.0.0.1:{listening.server_port}/token")
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield tokens
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
