"""What the configuration says about messages: channels, routes, and who owns what. Built by the front door."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from sql.secret import SecretReference

Security = Literal["starttls", "ssl", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackWebhookChannel:
    """An incoming webhook: one fixed Slack channel."""

    id: str
    url: SecretReference


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailChannel:
    """An SMTP relay and who receives."""

    id: str
    smtp_host: str
    smtp_port: int = 587
    security: Security = "starttls"
    username: str | None = None
    password: SecretReference | None = None
    sender: str
    recipients: tuple[str, ...]


Channel = SlackWebhookChannel | EmailChannel


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where a team's messages go; `team` None is the default route, for what no other route takes."""

    team: str | None
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSettings:
    """All of it."""

    channels: tuple[Channel, ...] = ()
    routes: tuple[Route, ...] = ()
    minimum_monthly_waste: Decimal = Decimal(20)
    """Waste below this a month is never told alone, in the currency that it is billed in."""
