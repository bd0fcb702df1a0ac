"""How: a Slack incoming webhook, by slack-sdk.

The webhook's address is the secret. It never enters an error text: neither slack-sdk's nor urllib's own words are
repeated, and slack-sdk's logger, which prints addresses and bodies, is off. Retries are made here, since the SDK's
handlers wait as long as the service says, inside the call.

Source: https://api.slack.com/messaging/webhooks#handling_errors
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from alerts.errors import DeliveryFailed
from alerts.loopback import is_loopback
from alerts.settings import SlackWebhookChannel
from sql.waypoints import waypoint

if TYPE_CHECKING:
    from slack_sdk.webhook import WebhookClient, WebhookResponse

PATIENCE_SECONDS = 60.0
"""How long the retries of one run may take together; then messages wait for the next run."""
MOST_TRIES = 5
"""How often one message is tried in one run."""
LONGEST_WAIT_SECONDS = 30.0

_OK = 200
_TOO_MANY_REQUESTS = 429
_SERVER_ERRORS = 500
_LONGEST_DELAY_SECONDS = 43_200.0
"""Half a day: however long a service asks for, the next night tries again."""
_ERROR_WORD = re.compile(r"[a-z][a-z_ ]{1,60}")
_ADVICE = {
    403: "the workspace does not allow it",
    404: "the webhook or its Slack channel was removed",
    410: "its Slack channel is archived",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to wait for an answer and between tries; tests pass their own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    answer_seconds: int = 10
    """How long one try waits for Slack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackWebhook:
    """An open webhook: posts bodies, with retries until `deadline` on the clock of `patience`."""

    channel: SlackWebhookChannel
    url: str
    now: datetime
    deadline: float
    patience: Patience

    def post(self, render: Callable[[bool], dict[str, object]], *, is_resent: bool) -> bool:
        """Post `render(is_resent)`, again while the service asks for time; returns whether a copy may be the second.

        Raises DeliveryFailed when it is refused, after MOST_TRIES, or when the deadline leaves no room for another try.
        """
        client = self._client()
        tries = 0
        while True:
            try:
                self._try(client, render(is_resent))
            except DeliveryFailed as error:
                tries += 1
                wait = min(error.retry_after or float(2 ** (tries - 1)), LONGEST_WAIT_SECONDS)
                is_resent = is_resent or error.may_have_arrived
                end_of_next_try = self.patience.clock() + wait + self.patience.answer_seconds
                if not error.is_retryable or tries == MOST_TRIES or end_of_next_try > self.deadline:
                    error.may_have_arrived = is_resent
                    raise
                self.patience.sleep(wait)
            else:
                return is_resent

    def _try(self, client: WebhookClient, body: dict[str, object]) -> None:
        """Post once; raises DeliveryFailed unless Slack says yes."""
        from http.client import HTTPException
        from urllib.error import URLError

        from slack_sdk.errors import SlackClientError

        try:
            with waypoint("send", f"slack {self.channel.id}"):
                response = client.send_dict(body)
        except URLError as error:
            # urllib wraps what goes wrong before the request is out, and only that.
            raise DeliveryFailed(f"Slack cannot be reached ({_reason(error.reason)})", is_retryable=True) from None
        except (OSError, HTTPException, SlackClientError, ValueError, LookupError) as error:
            raise DeliveryFailed(
                f"Slack did not answer properly ({_reason(error)})", is_retryable=True, may_have_arrived=True
            ) from None
        _check(response, self.now)

    def _client(self) -> WebhookClient:
        """Return a client that neither logs nor retries; a proxy is used for other machines only."""
        from slack_sdk.webhook import WebhookClient

        silent = logging.Logger("slack-webhook", level=logging.CRITICAL + 1)
        client = WebhookClient(self.url, timeout=self.patience.answer_seconds, logger=silent, retry_handlers=[])
        if is_loopback(urlsplit(self.url).hostname):
            client.proxy = None
        return client


def open_webhook(
    channel: SlackWebhookChannel, url: str, *, now: datetime, deadline: float, patience: Patience
) -> SlackWebhook:
    """Return the webhook at `url`; raises DeliveryFailed unless the address is https, or http on this machine."""
    if not _is_usable(url):
        raise DeliveryFailed(f"{channel.url} does not hold an https address", is_retryable=True)
    return SlackWebhook(channel=channel, url=url, now=now, deadline=deadline, patience=patience)


def _is_usable(url: str) -> bool:
    """Return whether `url` is a whole address to which a message may go."""
    try:
        parts = urlsplit(url)
        is_whole = bool(parts.hostname) and parts.port != 0 and url.isascii() and url.isprintable() and " " not in url
    except ValueError:
        return False
    return is_whole and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname)))


def _check(response: WebhookResponse, now: datetime) -> None:
    """Raise DeliveryFailed unless the answer is 200; slack-sdk returns refusals, and follows redirects.

    A refusal would only repeat itself in the same run; a later one may find the webhook repaired.
    """
    status = response.status_code
    if status == _OK and not response.body.lstrip().startswith("<"):
        return
    if status == _OK:
        raise DeliveryFailed("a web page answered instead of Slack", is_retryable=True)
    word = response.body.strip() if _ERROR_WORD.fullmatch(response.body.strip()) else ""
    answer = f"Slack answered {status}" + (f" {word}" if word else "")
    if status == _TOO_MANY_REQUESTS or status >= _SERVER_ERRORS:
        headers = {str(name).lower(): str(value) for name, value in response.headers.items()}
        raise DeliveryFailed(answer, is_retryable=True, retry_after=_retry_after(headers.get("retry-after"), now))
    advice = _ADVICE.get(status)
    raise DeliveryFailed(f"{answer}: {advice}" if advice else answer, is_retryable=False)


def _retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds to wait that a Retry-After header asks for, as a number or a date; None if it is neither."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return min(float(value.strip()[:9]), _LONGEST_DELAY_SECONDS)
    try:
        seconds = (parsedate_to_datetime(value) - now).total_seconds()
    except (ValueError, TypeError):
        return None
    return min(max(seconds, 0.0), _LONGEST_DELAY_SECONDS)


def _reason(error: object) -> str:
    """Return why, without the words of a library that may repeat the address."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__
