"""How: email by SMTP, with TLS that is verified, and none only on this machine.

`SSL_CERT_FILE` names a private certificate authority. Signing in is done here: `smtplib.login` cannot send a password
outside ASCII. A message keeps its Message-ID however often it is sent, so that mail programs fold a second copy.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from email.errors import MessageDefect, NonASCIILocalPartDefect
from email.headerregistry import Address, AddressHeader, HeaderRegistry
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime
from typing import TYPE_CHECKING, cast

from alerts import render
from alerts.errors import DeliveryFailed
from alerts.loopback import is_loopback
from alerts.message import Message
from alerts.settings import EmailChannel
from sql.text import shortened, visible
from sql.waypoints import waypoint

if TYPE_CHECKING:
    import smtplib

ANSWER_SECONDS = 30

_AUTH_DONE = 235
_AUTH_CONTINUE = 334
_PERMANENT = 500
_ANSWER_LIMIT = 120
_SLUG_LIMIT = 40
_DOMAIN = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What makes one sending of a message: `dedupe_key` stays, the rest may differ between two of them."""

    dedupe_key: str
    is_resent: bool
    now: datetime


def build_email(channel: EmailChannel, message: Message, envelope: Envelope) -> EmailMessage:
    """Return the email with its text and HTML forms; raises DeliveryFailed for an address that is none.

    No header can be forged by a name: whatever could end a line is escaped visibly before it gets here.
    """
    sender = _address(channel.sender)
    domain = sender.domain if _DOMAIN.fullmatch(sender.domain) else "overrun.invalid"
    mail = EmailMessage(policy=SMTP_POLICY)
    mail["Subject"] = render.subject(message, is_resent=envelope.is_resent)
    mail["From"] = sender
    mail["To"] = [_address(recipient) for recipient in channel.recipients]
    mail["Date"] = format_datetime(envelope.now)
    mail["Message-ID"] = f"<{_digest(envelope.dedupe_key, 32)}.overrun@{domain}>"
    mail["List-Id"] = f"<{_list_name(message.route)}.overrun.{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Auto-Response-Suppress"] = "All"
    text = render.plain_text(message, is_resent=envelope.is_resent)
    mail.set_content(text, cte="quoted-printable")
    mail.add_alternative(render.html(message, is_resent=envelope.is_resent), subtype="html", cte="quoted-printable")
    return mail


def send_email(channel: EmailChannel, password: str | None, mail: EmailMessage) -> str | None:
    """Send the email; returns None, or which recipients the server refused while it took the others.

    Raises DeliveryFailed where it took none.
    """
    with waypoint("send", f"email {channel.id}"):
        smtp = _connect(channel, password)
        try:
            with _smtp_errors(may_have_arrived=True):
                refused = smtp.send_message(mail)
        finally:
            with suppress(Exception):
                smtp.quit()
            smtp.close()
    return _refusals(refused) if refused else None


def _connect(channel: EmailChannel, password: str | None) -> smtplib.SMTP:
    """Return a connection that is as safe as the channel asks for, and signed in."""
    import smtplib
    import ssl

    host, port = channel.smtp_host, channel.smtp_port
    if channel.security == "none" and not is_loopback(host):
        raise DeliveryFailed(f"{host} is not this machine, so security must be starttls or ssl", is_retryable=True)
    with _smtp_errors(may_have_arrived=False):
        context = ssl.create_default_context()
        if channel.security == "ssl":
            smtp: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=ANSWER_SECONDS, context=context)
        else:
            smtp = smtplib.SMTP(host, port, timeout=ANSWER_SECONDS)
        try:
            if channel.security == "starttls":
                smtp.starttls(context=context)
            if channel.username is not None:
                _sign_in(smtp, channel.username, password or "")
        except BaseException:
            smtp.close()
            raise
    return smtp


def _sign_in(smtp: smtplib.SMTP, username: str, password: str) -> None:
    """Sign in with PLAIN or LOGIN, user name and password in UTF-8; raises DeliveryFailed where it is refused."""
    smtp.ehlo_or_helo_if_needed()
    methods = smtp.esmtp_features.get("auth", "").upper().split()
    if "PLAIN" in methods:
        # Source: RFC 4616
        code, _ = smtp.docmd("AUTH", f"PLAIN {_base64(chr(0).join(('', username, password)))}")
    elif "LOGIN" in methods:
        code, _ = smtp.docmd("AUTH", f"LOGIN {_base64(username)}")
        if code == _AUTH_CONTINUE:
            code, _ = smtp.docmd(_base64(password))
    else:
        raise DeliveryFailed("the mail server offers neither AUTH PLAIN nor AUTH LOGIN", is_retryable=True)
    # The fault is the password's, so that the whole channel waits, whatever the code.
    if code != _AUTH_DONE:
        raise DeliveryFailed(f"the mail server refused the user name or password ({code})", is_retryable=True)


@contextmanager
def _smtp_errors(*, may_have_arrived: bool) -> Iterator[None]:
    """Turn what smtplib and the network raise into DeliveryFailed; `may_have_arrived` once the message is going out."""
    import smtplib
    import ssl

    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        is_retryable = any(code < _PERMANENT for code, _ in error.recipients.values())
        raise DeliveryFailed(_refusals(error.recipients), is_retryable=is_retryable) from error
    except smtplib.SMTPResponseException as error:
        answer = f"the mail server answered {error.smtp_code} {_words(error.smtp_error)}"
        is_retryable = error.smtp_code < _PERMANENT
        raise DeliveryFailed(answer.rstrip(), is_retryable=is_retryable) from error
    except smtplib.SMTPNotSupportedError as error:
        raise DeliveryFailed(f"the mail server cannot do what is needed ({error})", is_retryable=True) from error
    except ssl.SSLCertVerificationError as error:
        reason = f"the mail server's certificate is not trusted ({error.verify_message})"
        raise DeliveryFailed(reason, is_retryable=True) from error
    except (OSError, smtplib.SMTPException, UnicodeError) as error:
        reason = "no answer in time" if isinstance(error, TimeoutError) else visible(str(error))
        raise DeliveryFailed(
            f"the mail server cannot be reached ({shortened(reason, _ANSWER_LIMIT)})",
            is_retryable=True,
            may_have_arrived=may_have_arrived,
        ) from error


def _address(text: str) -> Address:
    """Return the one address in `text`; raises DeliveryFailed for none, several, or one with defects."""
    addresses, defects = _parsed_addresses(text)
    # A local part outside ASCII is no fault: the server says whether it takes one (SMTPUTF8).
    faults = [defect for defect in defects if not isinstance(defect, NonASCIILocalPartDefect)]
    if len(addresses) != 1 or faults or not addresses[0].domain:
        raise DeliveryFailed(f"not one email address: {shortened(visible(text), _ANSWER_LIMIT)}", is_retryable=True)
    return addresses[0]


def _parsed_addresses(text: str) -> tuple[tuple[Address, ...], tuple[MessageDefect, ...]]:
    """Return the addresses in `text`, none where it cannot be read at all, and what is wrong with them."""
    try:
        header = HeaderRegistry()("To", text)
    except Exception:
        # On text that is no address the parser fails in many ways: AttributeError, TypeError, UnboundLocalError.
        return (), ()
    return cast("AddressHeader", header).addresses, header.defects


def _refusals(refused: dict[str, tuple[int, bytes]]) -> str:
    """Return which recipients were refused and why."""
    each = (f"{visible(recipient)} ({code} {_words(answer)})" for recipient, (code, answer) in sorted(refused.items()))
    return f"refused recipients: {', '.join(each)}"


def _words(answer: bytes | str) -> str:
    """Return a server's words, cleaned and short."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return shortened(visible(text), _ANSWER_LIMIT)


def _list_name(route: str) -> str:
    """Return a name for mail filters that is one per route, whatever is in the route's name."""
    slug = re.sub(r"[^a-z0-9]+", "-", route.lower()).strip("-")[:_SLUG_LIMIT]
    return f"{slug}-{_digest(route, 8)}" if slug else _digest(route, 8)


def _digest(text: str, length: int) -> str:
    """Return the first `length` hex digits of a hash of `text`."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _base64(text: str) -> str:
    """Return `text` as base64 of its UTF-8."""
    return b64encode(text.encode()).decode("ascii")
