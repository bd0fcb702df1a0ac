"""Which hosts are this machine: the only ones to which a message may go without TLS. Pure."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str | None) -> bool:
    """Return whether `host` names this machine by itself; no name is looked up."""
    if host is None:
        return False
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
