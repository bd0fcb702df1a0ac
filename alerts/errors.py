"""What can go wrong between a judgement and a message.

AlertError
├── RouteError      a route names a channel that the configuration does not have
└── DeliveryFailed  a channel did not take a message: `is_retryable` says whether to try again in this run
"""

from __future__ import annotations


class AlertError(Exception):
    """Root of the errors that `alerts` raises; `hint` says what to do about it."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class RouteError(AlertError):
    """A route names a channel that the configuration does not have."""

    def __init__(self, team: str | None, channel: str) -> None:
        owner = "the default route" if team is None else f"the route of team {team!r}"
        super().__init__(f"{owner} names channel {channel!r}, which does not exist", hint="add it as a [[channel]]")
        self.team = team
        self.channel = channel


class DeliveryFailed(AlertError):
    """A channel did not take a message; the text holds no secret, so it may be stored and shown."""

    def __init__(
        self,
        message: str,
        *,
        is_retryable: bool,
        retry_after: float | None = None,
        may_have_arrived: bool = False,
    ) -> None:
        super().__init__(message)
        self.is_retryable = is_retryable
        """True: the channel is down. False: it refused this message, which waits for the next run."""
        self.retry_after = retry_after
        """Seconds that the service asked to wait; None if it did not say."""
        self.may_have_arrived = may_have_arrived
        """True where the answer was lost after the message had gone out, so that the next try may be a second copy."""
