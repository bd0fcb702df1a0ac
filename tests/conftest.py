"""What every test stands on: no network but loopback, no credentials or settings of whoever runs them.

Imports nothing of the house and nothing heavy, so that one unit test starts at once.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

_FOREIGN_PREFIXES = (
    "AWS_", "AZURE_", "BOTO_", "CLOUDSDK_", "GCLOUD_", "GCP_", "GOOGLE_", "OVERRUN_", "SLACK_", "SMTP_",
)  # fmt: skip
# A proxy would carry a request for loopback, or for anywhere, out of the reach of the guard below.
_FOREIGN_NAMES = {"ALL_PROXY", "BIGQUERY_EMULATOR_HOST", "HTTP_PROXY", "HTTPS_PROXY", "STORAGE_EMULATOR_HOST"}

# A machine with other work on it is no fault of the code: no test asserts a time.
settings.register_profile("overrun", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("overrun")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long ones: where several processes share the tests, the end is not spent in waiting for one."""
    items.sort(key=lambda item: item.path.parent.name not in {"e2e", "property"})


class NetworkBlocked(OSError):
    """A test reached for an address beyond this machine."""


def _is_local(host: object) -> bool:
    """Return whether `host`, as given to a socket call, means this machine; no name is looked up."""
    if host is None or host in {"", "localhost", b"localhost"}:
        return True
    text = host.decode() if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text.split("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_foreign(address: object) -> None:
    """Raise NetworkBlocked unless `address` (host, port, ...) is loopback."""
    host = address[0] if isinstance(address, tuple) else address
    if not _is_local(host):
        raise NetworkBlocked(f"tests reach loopback only, not {address!r}")


def _guarded(method: Callable[..., Any], *, address_index: int) -> Callable[..., Any]:
    """Return the socket `method`, refusing internet addresses other than loopback."""

    def call(self: socket.socket, *arguments: Any) -> Any:  # noqa: ANN401 - stands for four methods
        if self.family in {socket.AF_INET, socket.AF_INET6} and arguments:
            _refuse_foreign(arguments[address_index])
        return method(self, *arguments)

    return call


@pytest.fixture(scope="session", autouse=True)
def _loopback_only() -> Iterator[None]:
    """Block connections and look-ups that leave this machine; AF_UNIX is free."""
    look_up = socket.getaddrinfo

    def guarded_look_up(host: bytes | str | None, *rest: Any, **options: Any) -> Any:  # noqa: ANN401 - as the original
        _refuse_foreign((host,))
        return look_up(host, *rest, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", _guarded(socket.socket.connect, address_index=0))
        patch.setattr(socket.socket, "connect_ex", _guarded(socket.socket.connect_ex, address_index=0))
        patch.setattr(socket.socket, "sendto", _guarded(socket.socket.sendto, address_index=-1))
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield


def _is_foreign(name: str) -> bool:
    """Return whether the environment variable `name` belongs to whoever runs the tests; TZ is kept."""
    return name.upper().startswith(_FOREIGN_PREFIXES) or name.upper() in _FOREIGN_NAMES


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> Iterator[None]:
    """Clear cloud credentials, proxies and Overrun's own settings, for the tests and the processes they start."""
    with pytest.MonkeyPatch.context() as patch:
        for name in filter(_is_foreign, list(os.environ)):
            patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of independent sample exports, or skip."""
    return _shared("data", "the independent sample exports")


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """Return the folder that lists inputs which broke other products, or skip."""
    return _shared("cases", "the list of inputs that broke other products")


def _shared(name: str, content: str) -> Path:
    """Return the folder `name` of ../shared, or skip with the reason."""
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"{content} ({folder}) is not on this machine")
    return folder
