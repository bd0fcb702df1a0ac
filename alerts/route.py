"""Who is told: the route of a team, or the default route. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from alerts.errors import RouteError
from alerts.settings import AlertSettings

DEFAULT_ROUTE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where messages go: the route's name in the state store, and channel ids."""

    route: str
    channels: tuple[str, ...]
    """Empty where nobody asked for delivery: the message is then kept and shown."""

    @property
    def audience(self) -> str:
        """Who has had the welcome digest: a route that gets its first channel has listeners who have heard nothing."""
        return self.route if self.channels else f"{self.route} (without channels)"


def find_destination(settings: AlertSettings, team: str | None) -> Destination:
    """Return the route of `team`, else the default route, else an implicit default route without channels.

    Several routes of one team are one route with all their channels. Raises RouteError where a route names a channel
    that does not exist.
    """
    for owner in dict.fromkeys((team, None)):
        matching = [route for route in settings.routes if route.team == owner]
        if matching:
            channels = tuple(dict.fromkeys(channel for route in matching for channel in route.channels))
            _check_channels(settings, owner, channels)
            return Destination(route=route_name(owner), channels=channels)
    return Destination(route=DEFAULT_ROUTE, channels=())


def route_name(team: str | None) -> str:
    """Return the name under which the state store knows a route; no team's name can equal the default's."""
    return DEFAULT_ROUTE if team is None else f"team {team}"


def _check_channels(settings: AlertSettings, team: str | None, channels: tuple[str, ...]) -> None:
    """Raise RouteError for the first channel that the configuration lacks."""
    known = {channel.id for channel in settings.channels}
    for channel in channels:
        if channel not in known:
            raise RouteError(team, channel)
