"""Budget messages to a mail server on this machine that asks for TLS and a password."""

from __future__ import annotations

import email
import smtplib
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from email.message import EmailMessage
from email.policy import default as modern
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from alerts.deliver import DeliveryReport
from alerts.outbox import read_outbox
from alerts.run import conclude, deliver
from alerts.settings import AlertSettings, EmailChannel, Route
from sql.secret import SecretReference
from sql.state import StateStore
from tests.fakes.alerts import AS_OF, NOW, make_warehouse, spent

USER, PASSWORD = "overrun", "Zürich-пароль-秘"


@dataclass
class Mailbox:
    """What the server got, and what it says to recipients and messages."""

    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    answer: str = "250 taken"

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _: list[str]) -> str:  # noqa: N802, ANN401
        """Take or refuse a recipient."""
        if address in self.refusals:
            return self.refusals[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802, ANN401
        """Take or refuse a message."""
        if self.answer.startswith("250"):
            self.mails.append(email.message_from_bytes(envelope.content, policy=modern))
            self.recipients.append(list(envelope.rcpt_tos))
        return self.answer


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate for this machine."""

    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """Return what a server needs."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.certificate, self.key)
        return context


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    folder = tmp_path_factory.mktemp("tls")
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "36500", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", made.key, "-out", made.certificate),
        ],
        check=True,
        capture_output=True,
    )
    return made


def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:  # noqa: ANN401, ARG001
    """Let the one user in."""
    expected = LoginPassword(USER.encode(), PASSWORD.encode())
    return AuthResult(success=data == expected, handled=False)


@dataclass
class Servers:
    """Mail servers of one test."""

    running: list[Controller] = field(default_factory=list)

    def start(self, mailbox: Mailbox, **options: Any) -> int:  # noqa: ANN401 - as Controller takes them
        """Start a server and return its port."""
        controller = Controller(mailbox, hostname="127.0.0.1", port=free_port(), **options)
        controller.start()
        self.running.append(controller)
        return int(controller.port)


@pytest.fixture
def servers() -> Iterator[Servers]:
    started = Servers()
    yield started
    for controller in started.running:
        controller.stop()


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def channel(
    servers: Servers, mailbox: Mailbox, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> EmailChannel:
    """Return a channel to a server that asks for STARTTLS and a password, its certificate being trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.certificate))
    port = servers.start(
        mailbox,
        tls_context=certificate.context(),
        require_starttls=True,
        auth_required=True,
        authenticator=authenticate,
    )
    return EmailChannel(
        id="vision-mail",
        smtp_host="localhost",
        smtp_port=port,
        username=USER,
        password=SecretReference("env", "SMTP_SECRET"),
        sender="Overrun <overrun@acme.example>",
        recipients=("lead@acme.example", "finance@acme.example"),
    )


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateStore]:
    with StateStore.open(tmp_path / "state.sqlite") as store:
        yield store


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def send(
    state: StateStore, channel: EmailChannel, *, name: str = "vision-monthly", password: str = PASSWORD, days: int = 0
) -> DeliveryReport:
    """Conclude a first night with one budget of that name, and deliver."""
    settings = AlertSettings(channels=(channel,), routes=(Route(team="vision", channels=(channel.id,)),))
    with make_warehouse(spent(150_000, budget_id=name)) as warehouse:
        conclude(warehouse, state, settings, AS_OF, NOW)
    return deliver(state, settings, {"SMTP_SECRET": password}, NOW + timedelta(days=days))


def reason(report: DeliveryReport) -> str:
    """Return why the one message was not delivered."""
    (undelivered,) = report.undelivered
    return undelivered.reason


def test_an_email_arrives_once_in_two_forms(state: StateStore, channel: EmailChannel, mailbox: Mailbox) -> None:
    assert send(state, channel) == DeliveryReport(sent=1, pending=0, dead=0, kept=0)
    assert send(state, channel).sent == 0
    (mail,) = mailbox.mails
    assert mailbox.recipients == [["lead@acme.example", "finance@acme.example"]]
    assert mail["Subject"] == "150,000.00 of 180,000.00 USD: vision-monthly crossed 80%; 1 watched"
    assert mail["From"] == "Overrun <overrun@acme.example>"
    assert mail["To"] == "lead@acme.example, finance@acme.example"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["List-Id"].startswith("<team-vision-")
    assert mail["Message-ID"].endswith("@acme.example>")
    assert mail["Date"].datetime == NOW
    text, html = mail.get_body(("plain",)), mail.get_body(("html",))
    assert text is not None
    assert html is not None
    assert "at least 150,000.00 USD (83.3 %)" in text.get_content()
    assert "<h2" in html.get_content()


def test_a_second_copy_keeps_its_message_id_and_says_so(
    state: StateStore, channel: EmailChannel, mailbox: Mailbox
) -> None:
    send(state, channel)
    state.execute("update outbox set status = 'sending'")
    send(state, channel)
    first, second = mailbox.mails
    assert first["Message-ID"] == second["Message-ID"]
    assert second["Subject"].startswith("(resent) 150,000.00")
    assert read_outbox(state)[0].is_resent


def test_no_name_forges_a_header(state: StateStore, channel: EmailChannel, mailbox: Mailbox) -> None:
    assert send(state, channel, name="x\r\nBcc: all@acme.example\r\n\r\n<b>").sent == 1
    (mail,) = mailbox.mails
    assert mail["Bcc"] is None
    assert "x\\u000D\\u000AB" in mail["Subject"]
    html = mail.get_body(("html",))
    assert html is not None
    assert "<b>" not in html.get_content()


def test_implicit_tls_works_too(
    state: StateStore, channel: EmailChannel, servers: Servers, mailbox: Mailbox, certificate: Certificate
) -> None:
    port = servers.start(mailbox, ssl_context=certificate.context())
    assert send(state, replace(channel, smtp_port=port, security="ssl", username=None, password=None)).sent == 1


def test_a_server_on_this_machine_may_be_plain(
    state: StateStore, channel: EmailChannel, servers: Servers, mailbox: Mailbox
) -> None:
    plain = replace(channel, smtp_port=servers.start(mailbox), security="none", username=None, password=None)
    assert send(state, plain).sent == 1


def test_no_other_server_may_be_plain(state: StateStore, channel: EmailChannel) -> None:
    plain = replace(channel, smtp_host="mail.acme.example", security="none")
    assert reason(send(state, plain)) == "mail.acme.example is not this machine, so security must be starttls or ssl"


def test_a_server_without_tls_gets_neither_password_nor_message(
    state: StateStore, channel: EmailChannel, servers: Servers, mailbox: Mailbox
) -> None:
    report = send(state, replace(channel, smtp_port=servers.start(mailbox)))
    assert (report.pending, mailbox.mails) == (1, [])
    assert reason(report).startswith("the mail server cannot do what is needed (STARTTLS")


def test_an_unknown_certificate_is_refused(
    state: StateStore, channel: EmailChannel, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    report = send(state, channel)
    assert (report.pending, mailbox.mails) == (1, [])
    assert reason(report).startswith("the mail server's certificate is not trusted (self")


def test_a_wrong_password_waits_for_a_right_one(state: StateStore, channel: EmailChannel, mailbox: Mailbox) -> None:
    report = send(state, channel, password="wrong")
    assert (report.pending, reason(report)) == (1, "the mail server refused the user name or password (535)")
    assert send(state, channel).sent == 1
    assert not mailbox.mails[0]["Subject"].startswith("(resent)")


def test_sign_in_by_login_where_that_is_all_there_is(
    state: StateStore, channel: EmailChannel, servers: Servers, mailbox: Mailbox, certificate: Certificate
) -> None:
    options = {"tls_context": certificate.context(), "auth_required": True, "authenticator": authenticate}
    by_login = servers.start(mailbox, auth_exclude_mechanism=["PLAIN"], **options)
    by_nothing = servers.start(mailbox, auth_exclude_mechanism=["PLAIN", "LOGIN"], **options)
    report = send(state, replace(channel, smtp_port=by_nothing))
    assert reason(report) == "the mail server offers neither AUTH PLAIN nor AUTH LOGIN"
    assert send(state, replace(channel, smtp_port=by_login)).sent == 1


def test_a_refused_recipient_does_not_keep_the_others_waiting(
    state: StateStore, channel: EmailChannel, mailbox: Mailbox
) -> None:
    mailbox.refusals = {"finance@acme.example": "550 no such user"}
    report = send(state, channel)
    assert (report.sent, report.is_complete) == (1, True)
    assert [message.reason for message in report.partly] == [
        "refused recipients: finance@acme.example (550 no such user)"
    ]
    assert mailbox.recipients == [["lead@acme.example"]]
    assert read_outbox(state)[0].last_error == "refused recipients: finance@acme.example (550 no such user)"


def test_a_message_that_all_recipients_were_refused_waits_until_one_is_taken(
    state: StateStore, channel: EmailChannel, mailbox: Mailbox
) -> None:
    mailbox.refusals = dict.fromkeys(channel.recipients, "450 try later")
    assert send(state, channel).pending == 1
    mailbox.refusals = dict.fromkeys(channel.recipients, "550 no such user")
    report = send(state, channel)
    assert (report.dead, report.pending) == (0, 1)
    assert "lead@acme.example (550 no such user)" in reason(report)
    mailbox.refusals = {}
    assert send(state, channel, days=2).sent == 1


@pytest.mark.parametrize("answer", ["451 try later", "554 looks like \x1b[2J spam"])
def test_a_message_that_the_server_refuses_waits(
    state: StateStore, channel: EmailChannel, mailbox: Mailbox, answer: str
) -> None:
    mailbox.answer = answer
    report = send(state, channel)
    assert (report.pending, report.dead) == (1, 0)
    assert reason(report).startswith(f"the mail server answered {answer[:3]}")
    assert "\x1b" not in reason(report)
    mailbox.answer = "250 taken"
    assert send(state, channel, days=2).sent == 1


def test_a_server_that_is_away_leaves_the_message_pending(state: StateStore, channel: EmailChannel) -> None:
    report = send(state, replace(channel, smtp_port=free_port()))
    assert (report.pending, reason(report)) == (
        1,
        "the mail server cannot be reached ([Errno 111] Connection refused)",
    )


def test_a_lost_answer_makes_the_next_copy_a_marked_one(
    state: StateStore, channel: EmailChannel, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def lose(*_: object, **__: object) -> None:
            raise TimeoutError

        patch.setattr(smtplib.SMTP, "send_message", lose)
        assert reason(send(state, channel)) == "the mail server cannot be reached (no answer in time)"
    assert send(state, channel).sent == 1
    assert mailbox.mails[0]["Subject"].startswith("(resent) ")


@pytest.mark.parametrize(
    "recipient", ["a@b.example, c@d.example", "a@b.example\0", "nobody", "", "a:;:.é>", "\0, .?)", "=@[ "]
)
def test_an_entry_that_is_not_one_address_is_never_split(
    state: StateStore, channel: EmailChannel, mailbox: Mailbox, recipient: str
) -> None:
    report = send(state, replace(channel, recipients=(recipient,)))
    assert (report.pending, mailbox.mails) == (1, [])
    assert reason(report).startswith("not one email address: ")


def test_an_address_outside_ascii_goes_where_the_server_takes_it(
    state: StateStore, channel: EmailChannel, servers: Servers, mailbox: Mailbox
) -> None:
    local = replace(channel, security="none", username=None, password=None, recipients=("jürgen@acme.example",))
    without = replace(local, smtp_port=servers.start(mailbox, enable_SMTPUTF8=False))
    assert reason(send(state, without)).startswith("the mail server cannot do what is needed")
    assert send(state, replace(local, smtp_port=servers.start(mailbox, enable_SMTPUTF8=True))).sent == 1
    assert mailbox.recipients == [["jürgen@acme.example"]]
