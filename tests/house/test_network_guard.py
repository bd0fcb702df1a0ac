from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest


@pytest.mark.parametrize("host", ["192.0.2.1", "0.0.0.0", "169.254.169.254", "example.org"])  # noqa: S104 - refused
def test_a_connection_that_leaves_this_machine_is_refused(host: str) -> None:
    with socket.socket() as client, pytest.raises(OSError, match="tests reach loopback only"):
        client.connect((host, 80))


def test_a_datagram_that_leaves_this_machine_is_refused() -> None:
    with (
        socket.socket(type=socket.SOCK_DGRAM) as client,
        pytest.raises(OSError, match="tests reach loopback only"),
    ):
        client.sendto(b"x", ("192.0.2.1", 8125))


def test_a_name_is_not_looked_up() -> None:
    with pytest.raises(OSError, match="tests reach loopback only"):
        socket.create_connection(("example.org", 443))


def test_loopback_works() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("localhost", port), timeout=5) as client:
            assert client.getpeername()[1] == port


def test_unix_sockets_work(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        server.listen()
        client.connect(path)


def test_nobodys_credentials_or_settings_reach_a_test() -> None:
    assert not [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "OVERRUN_"))]
