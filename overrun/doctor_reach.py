"""Checks of what lies outside the stores: exports, providers, secrets, and whether channels can be reached.

A secret is resolved and never shown. A channel is only connected to: nothing is sent, no name or password given. AWS
and Google are asked for what a night asks them, as little as shows whether it would be let.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from alerts.errors import DeliveryFailed
from alerts.loopback import is_loopback
from alerts.settings import Channel, SlackWebhookChannel
from ingest.errors import SourceUnreadable
from ingest.privacy import resolve_privacy
from ingest.source import BigQueryLocation, GcsLocation, S3Location
from overrun.doctor_check import Check, doubt, failure, well
from overrun.exits import Exit
from sql.secret import SecretReference, SecretUnresolved

if TYPE_CHECKING:
    from ingest.finding import Finding
    from ingest.source import SourceSettings
    from overrun.config import Config

PATIENCE_SECONDS = 3.0
"""How long an answer is waited for, the look-up of the name included."""
_SOURCES_AT_ONCE = 8
_PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")


def check_sources(config: Config, now: datetime, *, is_offline: bool) -> Iterator[Check]:
    """Yield whether the exports of each source are there and can be read, all sources at once; `now` is UTC."""
    if not config.sources and not config.run_sources:
        yield doubt("sources", "none is configured, so that a night has nothing to load", "add a [[source]]")
    with ThreadPoolExecutor(_SOURCES_AT_ONCE) as pool:
        loaded = _loaded_accounts(config)
        for checks in pool.map(
            lambda source: _check_anywhere(source, loaded.get(source.name, ()), now, is_offline=is_offline),
            config.sources,
        ):
            yield from checks
    yield from _check_prices(config, is_offline=is_offline)
    yield from _check_privacy(config)
    if not is_offline and any(_is_in_s3(source) and source.kind == "aws-export" for source in config.sources):
        yield well(
            "cost explorer", "is not asked, since AWS charges for it; overrun reconcile needs ce:GetCostAndUsage"
        )


def _check_privacy(config: Config) -> Iterator[Check]:
    """Yield whether the key of [privacy] is there, without which a night loads nothing."""
    if config.privacy is None:
        return
    try:
        resolve_privacy(config.privacy, os.environ)
    except SourceUnreadable as error:
        yield failure("privacy", str(error), error.hint or "set the key", Exit.SOURCE)
        return
    yield _check_reference("privacy", config.privacy.key)


def _is_in_s3(source: SourceSettings) -> bool:
    return isinstance(source.location, S3Location)


def _check_anywhere(source: SourceSettings, accounts: Sequence[str], now: datetime, *, is_offline: bool) -> list[Check]:
    """Return the checks of one source, on disk and of what it asks AWS and Google; `accounts` are those it loaded."""
    location, name = source.location, f"source {source.name}"
    checks = [_check_on_disk(name, location)] if isinstance(location, Path) else []
    checks += _check_in_google(name, source, accounts, now, is_offline=is_offline)
    if not (_is_in_s3(source) or source.organizations):
        return checks
    if is_offline:
        asked = location if _is_in_s3(source) else "AWS Organizations"
        return [*checks, well(name, f"{asked} is not asked offline")]
    from ingest.aws.probe import probe_source

    return [*checks, *(_as_check(name, finding) for finding in probe_source(source))]


def _check_in_google(
    name: str, source: SourceSettings, accounts: Sequence[str], now: datetime, *, is_offline: bool
) -> list[Check]:
    """Return the checks of what a source asks Google; nothing is asked where its own credentials are not there."""
    location, key = source.location, source.billing.credentials
    checks: list[Check] = []
    if key is not None:
        try:
            key.resolve(os.environ)
        except SecretUnresolved as error:
            hint = "set what `credentials` of the [[source]] names for the user of the night"
            if isinstance(location, Path):
                return [doubt(name, str(error), hint)]
            return [failure(name, str(error), hint, Exit.SOURCE)]
        checks.append(_check_reference(name, key))
    if isinstance(location, GcsLocation | BigQueryLocation):
        checks += _check_export(name, location, now, is_offline=is_offline)
    if source.projects:
        checks += _check_projects(name, source, accounts, is_offline=is_offline)
    return checks


def _check_export(
    name: str, location: GcsLocation | BigQueryLocation, now: datetime, *, is_offline: bool
) -> list[Check]:
    """Return whether Cloud Storage or BigQuery lets a source read its exports."""
    if is_offline:
        return [well(name, f"{location} is not asked offline")]
    from ingest.gcp.bq_probe import probe_bigquery
    from ingest.gcp.gcs_probe import probe_gcs

    findings = probe_gcs(location) if isinstance(location, GcsLocation) else probe_bigquery(location, now)
    return [_as_check(name, finding) for finding in findings]


def _loaded_accounts(config: Config) -> dict[str, list[str]]:
    """Return the billing accounts that each source has published, as far as a source asks for their projects."""
    if not any(source.projects for source in config.sources) or not config.publish.is_file():
        return {}
    from ingest.projects import loaded_accounts
    from overrun.exits import CommandFailed
    from overrun.published import open_copy
    from sql.errors import WarehouseLocked

    try:
        with open_copy(config.publish) as copy:
            return {source.name: loaded_accounts(copy, source.name) for source in config.sources if source.projects}
    except (WarehouseLocked, CommandFailed):
        return {}


def _check_projects(name: str, source: SourceSettings, accounts: Sequence[str], *, is_offline: bool) -> list[Check]:
    """Return whether Cloud Billing lists the projects of a source's billing accounts."""
    if is_offline:
        return [well(name, "Cloud Billing is not asked offline")]
    from ingest.gcp.probe import probe_projects

    return [_as_check(name, finding) for finding in probe_projects(source.billing, accounts)]


def _check_prices(config: Config, *, is_offline: bool) -> Iterator[Check]:
    """Yield whether Google's catalogue answers, where the configuration asks for prices."""
    if not config.prices.services:
        return
    if is_offline:
        yield well("prices", "the Cloud Billing catalogue is not asked offline")
        return
    from ingest.gcp.probe import probe_prices

    for finding in probe_prices(config.prices.access, config.prices.services):
        yield _as_check("prices", finding)


def _as_check(name: str, finding: Finding) -> Check:
    """Return a finding about a provider as a check; a night without its export ends with 3."""
    code = Exit.SOURCE if finding.level == "fail" else Exit.DONE
    return Check(name=name, level=finding.level, message=finding.message, hint=finding.hint, code=code)


def _check_on_disk(name: str, location: Path) -> Check:
    """Return whether a location on disk can be read, and is not empty."""
    if not location.exists():
        return failure(name, f"{location} does not exist", "check `location` of the [[source]]", Exit.SOURCE)
    try:
        if location.is_dir():
            first = next((path for path in location.rglob("*") if path.is_file()), None)
            unreadable = _unreadable_folder(location)
        else:
            first, unreadable = location, None
        if first is not None:
            with first.open("rb"):
                pass
    except OSError as error:
        unreadable = Path(error.filename or location)
    if unreadable is not None:
        return failure(name, f"{unreadable} cannot be read", "let the user of the night read it", Exit.SOURCE)
    if first is None:
        return doubt(name, f"{location} is empty", "nothing yet is normal for a new export; the provider takes a day")
    return well(name, f"{location} can be read")


def _unreadable_folder(folder: Path) -> Path | None:
    """Return the first folder that cannot be listed, which a plain walk would pass over without a word."""
    errors: list[OSError] = []
    for _ in os.walk(folder, onerror=errors.append):
        if errors:
            break
    return Path(str(errors[0].filename)) if errors else None


def check_channels(config: Config, environ: Mapping[str, str], now: datetime, *, is_offline: bool) -> Iterator[Check]:
    """Yield whether the secrets of each channel resolve and, unless offline, whether it can be reached.

    One that no route leads to is passed over: reading the configuration has warned of it already.
    """
    used = {channel for route in config.alerts.routes for channel in route.channels}
    if not config.alerts.channels:
        yield doubt("channels", "none is configured, so that messages are shown and kept only", "add a [[channel]]")
    for channel in config.alerts.channels:
        if channel.id in used:
            yield from _check_channel(f"channel {channel.id}", channel, environ, now, is_offline=is_offline)


def _check_channel(
    name: str, channel: Channel, environ: Mapping[str, str], now: datetime, *, is_offline: bool
) -> Iterator[Check]:
    reference = channel.url if isinstance(channel, SlackWebhookChannel) else channel.password
    try:
        secret = "" if reference is None else reference.resolve(environ)
        address = address_of(channel, secret, environ, now)
    except (SecretUnresolved, DeliveryFailed) as error:
        yield failure(name, str(error), "set what the reference names for the user of the night", Exit.UNDELIVERED)
        return
    if reference is not None:
        yield _check_reference(name, reference)
    if is_offline:
        return
    host, port, way = address
    problem = reach(host, port)
    if problem is None:
        yield well(name, f"{host}:{port} answers{way}")
    else:
        hint = "check the host, the port and the firewall, or run overrun doctor --offline"
        yield failure(name, f"{host}:{port} cannot be reached{way} ({problem})", hint, Exit.UNDELIVERED)


def _check_reference(name: str, reference: SecretReference) -> Check:
    """Return that a reference resolves, and whether others could read what it names."""
    if reference.scheme == "file" and Path(reference.target).stat().st_mode & 0o077:
        return doubt(name, f"{reference} can be read by other users", f"chmod 600 {reference.target}")
    return well(name, f"{reference} is set")


def address_of(channel: Channel, secret: str, environ: Mapping[str, str], now: datetime) -> tuple[str, int, str]:
    """Return host, port and way of a message's first hop; raises DeliveryFailed for an address that cannot be used."""
    if not isinstance(channel, SlackWebhookChannel):
        return channel.smtp_host, channel.smtp_port, ""
    from alerts.slack import Patience, open_webhook

    patience = Patience()
    webhook = open_webhook(channel, secret, now=now, deadline=patience.clock(), patience=patience)
    parts = urlsplit(webhook.url)
    proxy = next((environ[name] for name in _PROXIES if environ.get(name)), None)
    if proxy is not None and not is_loopback(parts.hostname):
        through = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        return str(through.hostname), through.port or 80, " (the proxy)"
    return str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80), ""


def reach(host: str, port: int, seconds: float = PATIENCE_SECONDS) -> str | None:
    """Return None where `host` takes a connection at `port`, else why not; sends nothing.

    It runs beside, since the look-up of a name cannot be given a time.
    """
    answers: list[str | None] = []

    def connect() -> None:
        try:
            with socket.create_connection((host, port), timeout=seconds):
                answers.append(None)
        except OSError as error:
            answers.append(error.strerror or str(error) or type(error).__name__)

    attempt = Thread(target=connect, daemon=True)
    attempt.start()
    attempt.join(seconds)
    return answers[0] if answers else f"no answer within {seconds:.0f} seconds"
