"""What one table of the file says against another: names used twice, references to nothing, paths that collide.

Errors are what would lose, repeat or misdirect money or messages; the rest is a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from alerts.loopback import is_loopback
from overrun import config_schema as schema
from overrun import config_values as values
from overrun.config_document import Placed, ReadDocument
from overrun.config_places import KeyPath
from overrun.config_problems import Findings, nearest, shown_value

T = TypeVar("T", bound=schema.Table)
LONGEST_RESERVATION = timedelta(days=999)
"""The days that `core.cost_spread` spreads a cost over."""


def check_document(document: ReadDocument, folder: Path, findings: Findings) -> None:
    """Run every check; `folder` is what relative paths are relative to."""
    check_names(document, findings)
    check_sources(document, findings)
    check_prepaid_capacities(document, findings)
    check_paths(document, folder, findings)
    check_teams(document, findings)
    check_channels(document, findings)
    check_routes(document, findings)
    check_budgets(document, findings)


def check_names(document: ReadDocument, findings: Findings) -> None:
    """Refuse a name that two tables of a kind share."""
    _refuse_repeated(document.sources, "name", lambda table: table.name, findings)
    _refuse_repeated(document.sources, "was", lambda table: table.was, findings)
    _refuse_repeated(document.teams, "name", lambda table: table.name, findings)
    _refuse_repeated(document.channels, "id", lambda table: table.id, findings)
    _refuse_repeated(document.budgets, "id", lambda table: table.id, findings)


def _refuse_repeated(
    tables: Sequence[Placed[T]], key: str, read: Callable[[T], str | None], findings: Findings
) -> None:
    seen: set[str] = set()
    for placed in tables:
        name = read(placed.table)
        if name is not None and name in seen:
            findings.refuse((*placed.path, key), f"{shown_value(name)} is used twice")
        seen |= {name} if name is not None else set()


def check_sources(document: ReadDocument, findings: Findings) -> None:
    """Refuse months and names of sources that contradict each other."""
    for placed in document.sources:
        table = placed.table
        if table.from_ and table.until and values.parse_month(table.from_) >= values.parse_month(table.until):
            findings.refuse((*placed.path, "until"), "must be later than from, since it is the first month left out")
        if table.replaces == table.name:
            findings.refuse((*placed.path, "replaces"), "a source cannot replace itself")
        if table.was is not None and table.was in document.names.sources:
            findings.refuse((*placed.path, "was"), f"{shown_value(table.was)} is still the name of a source")
        if table.currency is not None and table.kind != "aws-export":
            findings.warn((*placed.path, "currency"), "is read for aws-export only; other exports carry their currency")
        if table.quiet_days is not None and not table.kind.startswith("gcp-"):
            findings.refuse(
                (*placed.path, "quiet_days"), "is for sources of GCP only: other exports name their invoices"
            )
        if not table.amortise and not table.kind.startswith("gcp-"):
            findings.refuse((*placed.path, "amortise"), "is for gcp-export only: other exports carry amortised costs")
        _check_place(placed, findings)
        _check_access(placed, findings)
    _warn_of_shared_locations(document, findings)
    if not document.sources and not document.names.sources:
        findings.warn((), "no [[source]] is configured, so a night loads nothing")


_OF_BIGQUERY = ("table", "job_project", "lookback_months", "max_bytes_billed", "storage_endpoint_url")


def _check_place(placed: Placed[schema.SourceTable], findings: Findings) -> None:
    """Refuse a source that does not say where it is, or says it in the words of another kind."""
    table = placed.table
    is_in_bigquery = table.kind == "gcp-bigquery"
    for key in ("location", "period") if is_in_bigquery else _OF_BIGQUERY:
        if getattr(table, key) is not None:
            findings.refuse((*placed.path, key), f"is not for {table.kind}{'' if is_in_bigquery else ': see location'}")
    needed = "table" if is_in_bigquery else "location"
    if getattr(table, needed) is None:
        findings.refuse((*placed.path, needed), f"is missing: {table.kind} needs it")


def _check_access(placed: Placed[schema.SourceTable], findings: Findings) -> None:
    """Refuse keys of AWS where nothing asks AWS, and an external id that no role asks for.

    An aws-export asks Cost Explorer and Organizations, too, wherever its files are.
    """
    table = placed.table
    if table.kind != "aws-export" and table.organizations:
        findings.refuse((*placed.path, "organizations"), "is for aws-export only: AWS Organizations is asked")
    if not table.kind.startswith("gcp-") and table.projects:
        findings.refuse((*placed.path, "projects"), "is for kinds of GCP only: Cloud Billing is asked")
    is_in_gcs = (table.location or "").startswith("gs://")
    is_of_google = is_in_gcs or table.kind == "gcp-bigquery"
    if is_in_gcs and table.kind == "aws-export":
        findings.refuse((*placed.path, "location"), "begins with gs://, but an aws-export is read from disk and S3")
    if table.credentials is not None and not is_of_google:
        findings.refuse(
            (*placed.path, "credentials"),
            "is for gcp-bigquery or a location in Google Cloud Storage, gs://BUCKET/PREFIX",
        )
    if table.kind != "aws-export" and not (table.location or "").startswith("s3://"):
        keys = ("profile", "role_arn", "external_id", "region")
        for key in keys if is_of_google else (*keys, "endpoint_url"):
            if getattr(table, key) is not None:
                findings.refuse((*placed.path, key), "is for an aws-export or a location in S3, and this is neither")
    elif table.external_id is not None and table.role_arn is None:
        findings.refuse((*placed.path, "external_id"), "is sent when a role is assumed, but role_arn is missing")


def _warn_of_shared_locations(document: ReadDocument, findings: Findings) -> None:
    seen: dict[str, str] = {}
    for placed in document.sources:
        key = "location" if placed.table.table is None else "table"
        for place in placed.table.table or [placed.table.location or ""]:
            first = seen.setdefault(place, placed.table.name)
            if first != placed.table.name:
                message = f"is also the {key} of source {shown_value(first)}; a month belongs to one source"
                findings.warn((*placed.path, key), message)


def check_prepaid_capacities(document: ReadDocument, findings: Findings) -> None:
    """Refuse a reserved time that ends before it begins, or that is longer than its cost is spread over."""
    for placed in document.prepaid_capacities:
        starts_at, ends_at = values.parse_instant(placed.table.from_), values.parse_instant(placed.table.until)
        if not starts_at < ends_at:
            findings.refuse((*placed.path, "until"), "must be later than from, since it is the first instant left out")
        if ends_at - starts_at > LONGEST_RESERVATION:
            findings.refuse((*placed.path, "until"), f"must be {LONGEST_RESERVATION.days} days after from at most")


def check_paths(document: ReadDocument, folder: Path, findings: Findings) -> None:
    """Refuse paths that would overwrite each other, and a landing folder that would be read as an export."""
    seen: dict[Path, str] = {}
    for path, text in _written_paths(document):
        target = (folder / text).resolve()
        if target in seen:
            findings.refuse(path, f"is the same path as {seen[target]}")
        seen.setdefault(target, ".".join(part for part in path if isinstance(part, str)))
    landing = (folder / document.warehouse.landing).resolve()
    for placed in document.sources:
        if placed.table.location is None or placed.table.location.startswith("s3://"):
            continue
        location = (folder / placed.table.location).resolve()
        if landing.is_relative_to(location) or location.is_relative_to(landing):
            findings.refuse(
                (*placed.path, "location"),
                "overlaps with the landing folder, so that landed files would be read as deliveries",
                "give the exports a folder of their own, or set landing in [warehouse]",
            )


def _written_paths(document: ReadDocument) -> Iterable[tuple[KeyPath, str]]:
    """Return every path that a night writes."""
    warehouse = document.warehouse
    yield ("warehouse", "path"), warehouse.path
    yield ("warehouse", "publish"), warehouse.publish
    yield ("warehouse", "landing"), warehouse.landing
    yield ("warehouse", "state"), warehouse.state
    yield ("report", "path"), document.report.path
    for placed in document.publications:
        yield (*placed.path, "path"), placed.table.path


def check_teams(document: ReadDocument, findings: Findings) -> None:
    """Refuse a project that two teams own, since its charges would belong to either; warn of unknown teams."""
    for published in document.publications:
        for index, team in enumerate(published.table.team):
            _warn_of_unknown_team((*published.path, "team", index), team, document, findings)
    owners: dict[str, str] = {}
    for placed in document.teams:
        for index, project in enumerate(placed.table.projects):
            owner = owners.setdefault(project, placed.table.name)
            path = (*placed.path, "projects", index)
            if owner != placed.table.name:
                message = f"project {shown_value(project)} belongs to team {shown_value(owner)} already"
                findings.refuse(path, message, "a project has one team")
            elif project in placed.table.projects[:index]:
                findings.refuse(path, f"project {shown_value(project)} is listed twice")


def _warn_of_unknown_team(path: KeyPath, team: str, document: ReadDocument, findings: Findings) -> None:
    known = defined_teams(document)
    if team not in known and team not in document.names.teams:
        near = nearest(team, sorted(known))
        message = f"team {shown_value(team)} stands in no [[team]] and no rule; only a tag can name it"
        findings.warn(path, message, f"did you mean {shown_value(near)}?" if near else None)


def check_channels(document: ReadDocument, findings: Findings) -> None:
    """Refuse mail that would cross a network unencrypted, and half a login."""
    for placed in document.channels:
        table = placed.table
        if not isinstance(table, schema.EmailTable):
            continue
        if table.security == "none" and not is_loopback(table.smtp_host):
            message = "mail may go unencrypted to a relay on this machine only"
            findings.refuse((*placed.path, "security"), message, 'use "starttls" or "ssl"')
        if (table.username is None) != (table.password is None):
            given, wanted = ("username", "password") if table.password is None else ("password", "username")
            findings.refuse((*placed.path, given), f"needs {wanted} beside it")
        for index, address in enumerate(table.to):
            if address in table.to[:index]:
                findings.refuse((*placed.path, "to", index), f"{shown_value(address)} is listed twice")


def check_routes(document: ReadDocument, findings: Findings) -> None:
    """Refuse routes to nowhere and two routes for one team; warn of teams that nobody is told about."""
    seen: set[str | None] = set()
    for placed in document.routes:
        team = placed.table.team
        if team in seen:
            named = f"team {shown_value(team)}" if team else "what no other route takes (a route without team)"
            findings.refuse((*placed.path, "team"), f"there is a route for {named} already", "list all channels in one")
        seen.add(team)
        if team is not None:
            _warn_of_unknown_team((*placed.path, "team"), team, document, findings)
        _check_channels_of_route(placed, document, findings)
    if document.routes and None not in seen:
        for placed_team in document.teams:
            if placed_team.table.name not in seen:
                message = f"team {shown_value(placed_team.table.name)} has no route, and there is no default route"
                findings.warn(placed_team.path, message, "add a [[route]], with this team or without team")
    _warn_of_unused_channels(document, findings)


def _check_channels_of_route(placed: Placed[schema.RouteTable], document: ReadDocument, findings: Findings) -> None:
    known = sorted(document.names.channels)
    for index, channel in enumerate(placed.table.channels):
        path = (*placed.path, "channels", index)
        if channel not in document.names.channels:
            near = nearest(channel, known)
            listed = f"known: {', '.join(known)}" if known else "there is no [[channel]]"
            hint = f"did you mean {shown_value(near)}? {listed}" if near else listed
            findings.refuse(path, f"there is no channel {shown_value(channel)}", hint)
        elif channel in placed.table.channels[:index]:
            findings.refuse(path, f"channel {shown_value(channel)} is listed twice")


def _warn_of_unused_channels(document: ReadDocument, findings: Findings) -> None:
    used = {channel for placed in document.routes for channel in placed.table.channels}
    for placed in document.channels:
        if placed.table.id not in used:
            message = f"no route leads to channel {shown_value(placed.table.id)}, so nothing is sent there"
            findings.warn(placed.path, message, "name it in a [[route]]")


def check_budgets(document: ReadDocument, findings: Findings) -> None:
    """Refuse thresholds in another currency or twice the same; warn of a scope that names what nobody defines."""
    for placed in document.budgets:
        _check_thresholds(placed, findings)
        _check_scope(placed, document, findings)
        for index, kind in enumerate(placed.table.include):
            if kind in placed.table.include[:index]:
                findings.refuse((*placed.path, "include", index), f"{shown_value(kind)} is listed twice")


def _check_thresholds(placed: Placed[schema.BudgetTable], findings: Findings) -> None:
    limit = placed.table.limit
    seen: dict[Decimal, str] = {}
    for index, text in enumerate(placed.table.thresholds):
        path = (*placed.path, "thresholds", index)
        try:
            amount = values.parse_threshold(text, values.parse_amount(limit.amount), limit.currency)
        except ValueError as error:
            findings.refuse(path, f"{shown_value(text)} {error}", f"write a share, or an amount in {limit.currency}")
            continue
        if amount in seen:
            same = "is listed twice" if seen[amount] == text else f"is the same amount as {shown_value(seen[amount])}"
            findings.refuse(path, f"{shown_value(text)} {same}")
        seen.setdefault(amount, text)


def _check_scope(placed: Placed[schema.BudgetTable], document: ReadDocument, findings: Findings) -> None:
    scope = placed.table.scope
    if scope is None:
        return
    if scope.project is None and scope.team is None:
        findings.refuse((*placed.path, "scope"), "is empty", "name project or team, or leave scope out for everything")
    known = {"project": defined_projects(document), "team": defined_teams(document)}
    for dimension, globs in (("project", scope.project or []), ("team", scope.team or [])):
        for index, glob in enumerate(globs):
            if not values.is_glob(glob) and glob not in known[dimension]:
                near = nearest(glob, sorted(known[dimension]))
                message = f"{dimension} {shown_value(glob)} stands in no team, account or rule; only a tag can name it"
                hint = f"did you mean {shown_value(near)}?" if near else None
                findings.warn((*placed.path, "scope", dimension, index), message, hint)


def defined_projects(document: ReadDocument) -> set[str]:
    """Return the projects that teams, accounts and rules name."""
    owned = {project for placed in document.teams for project in placed.table.projects}
    ruled = {rule.project for rule in document.attribution.rule if rule.project}
    return owned | ruled | set(document.attribution.accounts.values())


def defined_teams(document: ReadDocument) -> set[str]:
    """Return the teams that [[team]] and rules name."""
    return {placed.table.name for placed in document.teams} | {
        rule.team for rule in document.attribution.rule if rule.team
    }
