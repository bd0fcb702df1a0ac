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
from ingest.usage.source import RUN_KINDS
from overrun import config_schema as schema
from overrun import config_values as values
from overrun.config_attribution import check_attribution
from overrun.config_document import Placed, ReadDocument
from overrun.config_places import KeyPath
from overrun.config_problems import Findings, nearest, shown_value
from overrun.config_splits import check_splits
from overrun.waste_checks import CHECKS

T = TypeVar("T", bound=schema.Table)
LONGEST_RESERVATION = timedelta(days=999)
"""The days that `core.cost_spread` spreads a cost over."""
_DAYS_OF_WEEK = 7


def check_document(document: ReadDocument, folder: Path, findings: Findings) -> None:
    """Run every check; `folder` is what relative paths are relative to."""
    check_names(document, findings)
    check_sources(document, findings)
    check_prepaid_capacities(document, findings)
    check_commitment_discounts(document, findings)
    check_paths(document, folder, findings)
    check_teams(document, findings)
    check_attribution(document, findings)
    check_splits(document, findings)
    check_channels(document, findings)
    check_routes(document, findings)
    check_budgets(document, findings)
    check_privacy(document, findings)
    check_waste(document, findings)


def check_names(document: ReadDocument, findings: Findings) -> None:
    """Refuse a name that two tables of a kind share."""
    _refuse_repeated(document.sources, "name", lambda table: table.name, findings)
    _refuse_repeated(document.sources, "was", lambda table: table.was, findings)
    _refuse_repeated(document.teams, "name", lambda table: table.name, findings)
    _refuse_repeated(document.splits, "name", lambda table: table.name, findings)
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
        if table.was is not None and table.was in document.names.sources:
            findings.refuse((*placed.path, "was"), f"{shown_value(table.was)} is still the name of a source")
        if table.kind in RUN_KINDS:
            _check_run_source(placed, findings)
            continue
        _refuse_keys(placed, _OF_RUNS, "is for sources of runs only", findings)
        if table.from_ and table.until and values.parse_month(table.from_) >= values.parse_month(table.until):
            findings.refuse((*placed.path, "until"), "must be later than from, since it is the first month left out")
        if table.replaces == table.name:
            findings.refuse((*placed.path, "replaces"), "a source cannot replace itself")
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


_OF_RUNS = ("cluster", "run_tag", "gpu_hour_price")


def _refuse_keys(placed: Placed[schema.SourceTable], keys: Iterable[str], reason: str, findings: Findings) -> None:
    """Refuse keys that a source of this kind has no use for."""
    for key in keys:
        if key in placed.table.model_fields_set:
            written = schema.SourceTable.model_fields[key].alias or key
            findings.refuse((*placed.path, written), reason)


def _check_run_source(placed: Placed[schema.SourceTable], findings: Findings) -> None:
    """Refuse keys of exports at a source of runs, a place that is not on disk, and a price without its currency."""
    table = placed.table
    known = {"name", "kind", "location", "was", "currency", *_OF_RUNS}
    _refuse_keys(placed, sorted(set(schema.SourceTable.model_fields) - known), f"is not for {table.kind}", findings)
    if table.location is None:
        findings.refuse((*placed.path, "location"), f"is missing: {table.kind} needs it")
    elif not isinstance(values.parse_location(table.location), Path):
        findings.refuse((*placed.path, "location"), f"must be on disk: {table.kind} is read from files")
    if (table.gpu_hour_price is None) != (table.currency is None):
        missing, given = ("gpu_hour_price", "currency")[:: 1 if table.gpu_hour_price is None else -1]
        findings.refuse((*placed.path, given), f"says nothing without {missing}")


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
    if table.credentials is not None and not (is_of_google or table.projects):
        findings.refuse(
            (*placed.path, "credentials"),
            "is for gcp-bigquery, a location in Google Cloud Storage (gs://BUCKET/PREFIX) and projects = true",
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


def check_commitment_discounts(document: ReadDocument, findings: Findings) -> None:
    """Refuse months that end before they begin; warn of a table that an earlier one hides, or that no source takes."""
    seen: set[tuple[str, str]] = set()
    has_source = any(placed.table.kind.startswith("gcp-") for placed in document.sources)
    for placed in document.commitment_discounts:
        table = placed.table
        if table.from_ and table.until and not values.parse_month(table.from_) < values.parse_month(table.until):
            findings.refuse((*placed.path, "until"), "must be later than from, since it is the first month left out")
        if (table.service, table.sku) in seen:
            findings.warn(placed.path, "never counts, since an earlier table for the same has no months")
        if table.from_ is None and table.until is None:
            seen.add((table.service, table.sku))
        if not has_source:
            findings.warn(placed.path, "has no effect, since no [[source]] is of Google Cloud")


def check_paths(document: ReadDocument, folder: Path, findings: Findings) -> None:
    """Refuse paths that would overwrite each other, and a landing folder that would be read as an export."""
    seen: dict[Path, str] = {}
    for path, text in _written_paths(document):
        target = (folder / text).resolve()
        if target in seen:
            findings.refuse(path, f"is the same path as {seen[target]}")
        seen.setdefault(target, ".".join(part for part in path if isinstance(part, str)))
    rates = document.currency.rates
    if rates is not None and (folder / rates).resolve() in seen:
        findings.refuse(("currency", "rates"), f"is the same path as {seen[(folder / rates).resolve()]}")
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


def check_privacy(document: ReadDocument, findings: Findings) -> None:
    """Refuse attribution by a tag whose values are hashed: no project or team is called like a hash."""
    from ingest.privacy import PrivacySettings
    from sql.secret import SecretReference

    if document.privacy.key is None:
        return
    reference = SecretReference.parse(document.privacy.key, Path())
    hidden = PrivacySettings(key=reference, kinds=tuple(document.privacy.hash), tags=tuple(document.privacy.tags))
    attribution = document.attribution
    named: list[tuple[KeyPath, str]] = [
        *((("attribution", "project_tags", index), key) for index, key in enumerate(attribution.project_tags)),
        *((("attribution", "team_tags", index), key) for index, key in enumerate(attribution.team_tags)),
        *(
            (("attribution", "rule", index, "match", "tag", key), key)
            for index, rule in enumerate(attribution.rule)
            for key in rule.match.tag or {}
        ),
    ]
    for path, key in named:
        if hidden.hides(key):
            findings.refuse(
                path, f"tag {shown_value(key)} is hashed by [privacy]", "attribute by another, or hash less"
            )


def defined_projects(document: ReadDocument) -> set[str]:
    """Return the projects that teams, owners, accounts and rules name."""
    owning = [
        *(placed.table.projects for placed in document.teams),
        *(placed.table.projects for placed in document.owners),
    ]
    owned = {project for projects in owning for project in projects}
    ruled = {rule.project for rule in document.attribution.rule if rule.project and "{" not in rule.project}
    return owned | ruled | set(document.attribution.accounts.values())


def defined_teams(document: ReadDocument) -> set[str]:
    """Return the teams that [[team]], [[owner]] and rules name."""
    owning = {placed.table.team for placed in document.owners if placed.table.team}
    ruled = {rule.team for rule in document.attribution.rule if rule.team and "{" not in rule.team}
    return {placed.table.name for placed in document.teams} | owning | ruled


def check_waste(document: ReadDocument, findings: Findings) -> None:
    """Refuse a check that needs more days than it looks at, and work that ends before it begins."""
    waste = document.waste
    for check in CHECKS:
        table: schema.WasteCheckTable = getattr(waste, check.name)
        window_days = table.window_days or check.window_days
        if table.minimum_days is not None and table.minimum_days > window_days:
            message = f"must not be more than the {window_days} days that the check looks at"
            findings.refuse(("waste", check.name, "minimum_days"), message)
        if check.name == "always_on_notebook" and window_days < _DAYS_OF_WEEK:
            message = f"must be {_DAYS_OF_WEEK} or more: a weekend is looked for"
            findings.refuse(("waste", check.name, "window_days"), message)
    if waste.work_from >= waste.work_until:
        findings.refuse(("waste", "work_until"), "must be later than work_from")
