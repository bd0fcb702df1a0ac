"""Turns the checked tables of the file into the frozen settings that the rest of the house is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from alerts.settings import AlertSettings, Channel, EmailChannel, Route, SlackWebhookChannel
from ingest.prices import PriceSettings
from ingest.source import (
    DEFAULT_QUIET_DAYS,
    DEFAULT_SETTLE_DAYS,
    AwsAccess,
    BigQueryLocation,
    BillingAccess,
    GcsLocation,
    S3Location,
    SourceSettings,
)
from overrun import config_schema as schema
from overrun import config_values as values
from overrun.config import (
    AttributionRule,
    AttributionSettings,
    Budget,
    Condition,
    Config,
    Dimension,
    PrepaidCapacity,
    Publication,
    Scope,
    Team,
    Threshold,
)
from overrun.config_document import ReadDocument
from overrun.config_problems import Problem
from sql.secret import SecretReference
from sql.warehouse import WarehouseSettings


def build_config(document: ReadDocument, file: Path, warnings: tuple[Problem, ...]) -> Config:
    """Return the configuration; `document` has passed every check and `file` is absolute."""
    folder = file.parent
    warehouse = _warehouse(document.warehouse, folder)
    teams = tuple(Team(name=placed.table.name, projects=tuple(placed.table.projects)) for placed in document.teams)
    return Config(
        file=file,
        warehouse=warehouse,
        publish=folder / document.warehouse.publish,
        landing=folder / document.warehouse.landing,
        keep_landed=document.warehouse.keep_landed,
        state=folder / document.warehouse.state,
        lock=warehouse.path.with_name(f"{warehouse.path.name}.lock"),
        site=folder / document.report.path,
        publications=tuple(
            Publication(path=folder / placed.table.path, teams=tuple(placed.table.team))
            for placed in document.publications
        ),
        sources=tuple(_source(placed.table, folder) for placed in document.sources),
        attribution=_attribution(document.attribution),
        prices=_prices(document.prices),
        prepaid_capacities=tuple(_prepaid_capacity(placed.table) for placed in document.prepaid_capacities),
        teams=teams,
        alerts=AlertSettings(
            channels=tuple(_channel(placed.table, folder) for placed in document.channels),
            routes=tuple(
                Route(team=placed.table.team, channels=tuple(placed.table.channels)) for placed in document.routes
            ),
        ),
        budgets=tuple(_budget(placed.table, teams) for placed in document.budgets),
        warnings=warnings,
    )


def _warehouse(table: schema.WarehouseTable, folder: Path) -> WarehouseSettings:
    return WarehouseSettings(
        path=folder / table.path,
        memory_limit=table.memory_limit,
        threads=table.threads,
        temp_directory=folder / table.temp_directory if table.temp_directory is not None else None,
        storage_version=table.storage_version,
    )


def _source(table: schema.SourceTable, folder: Path) -> SourceSettings:
    default_period = None if table.kind == "aws-export" else "from-rows"
    settle_days = DEFAULT_SETTLE_DAYS[table.kind] if table.settle_days is None else table.settle_days
    return SourceSettings(
        name=table.name,
        kind=table.kind,
        location=_location(table, folder),
        access=AwsAccess(
            profile=table.profile,
            role_arn=table.role_arn,
            external_id=table.external_id,
            region=table.region,
            endpoint_url=table.endpoint_url,
        ),
        period=table.period or default_period,
        currency=table.currency,
        settle_days=settle_days,
        quiet_days=_quiet_days(table),
        replaces=table.replaces,
        was=table.was,
        from_month=values.parse_month(table.from_) if table.from_ else None,
        until_month=values.parse_month(table.until) if table.until else None,
        amortise=table.amortise,
        organizations=table.organizations,
        projects=table.projects,
        billing=BillingAccess(endpoint=table.billing_endpoint),
    )


def _prices(table: schema.PricesTable) -> PriceSettings:
    return PriceSettings(
        services=tuple(dict.fromkeys(table.gcp_services)) if table.gcp else (),
        currency=table.currency,
        access=BillingAccess(endpoint=table.gcp_endpoint),
    )


def _quiet_days(table: schema.SourceTable) -> int | None:
    if not table.kind.startswith("gcp-"):
        return None
    return DEFAULT_QUIET_DAYS if table.quiet_days is None else table.quiet_days


def _location(table: schema.SourceTable, folder: Path) -> Path | S3Location | GcsLocation | BigQueryLocation:
    """Return where a source's exports are: the checks have seen that its kind has what it needs."""
    if table.table is not None:
        return _bigquery(table, table.table, folder)
    location = values.parse_location(table.location or "")
    if isinstance(location, GcsLocation):
        key = table.credentials
        return replace(
            location,
            credentials=None if key is None else SecretReference.parse(key, folder),
            endpoint_url=table.endpoint_url,
        )
    return location if isinstance(location, S3Location) else folder / location


def _bigquery(table: schema.SourceTable, names: Sequence[str], folder: Path) -> BigQueryLocation:
    given = BigQueryLocation(tables=tuple(values.parse_bigquery_table(name) for name in names))
    return replace(
        given,
        job_project=table.job_project,
        lookback_months=given.lookback_months if table.lookback_months is None else table.lookback_months,
        max_bytes_billed=values.parse_bytes(table.max_bytes_billed)
        if table.max_bytes_billed
        else given.max_bytes_billed,
        credentials=SecretReference.parse(table.credentials, folder) if table.credentials is not None else None,
        endpoint_url=table.endpoint_url,
        storage_endpoint_url=table.storage_endpoint_url,
    )


def _prepaid_capacity(table: schema.PrepaidCapacityTable) -> PrepaidCapacity:
    return PrepaidCapacity(
        usage_type=table.usage_type,
        resource=table.resource,
        starts_at=values.parse_instant(table.from_),
        ends_at=values.parse_instant(table.until),
    )


def _attribution(table: schema.AttributionTable) -> AttributionSettings:
    return AttributionSettings(
        rules=tuple(
            AttributionRule(project=rule.project, team=rule.team, conditions=_conditions(rule.match))
            for rule in table.rule
        ),
        project_tags=tuple(table.project_tags),
        team_tags=tuple(table.team_tags),
        accounts=tuple(table.accounts.items()),
    )


def _conditions(match: schema.MatchTable) -> tuple[Condition, ...]:
    on_tags = [Condition(subject="tag", tag_key=key, globs=tuple(globs)) for key, globs in (match.tag or {}).items()]
    on_account = [] if match.account is None else [Condition(subject="account", tag_key="", globs=tuple(match.account))]
    return (*on_tags, *on_account)


def _channel(table: schema.SlackWebhookTable | schema.EmailTable, folder: Path) -> Channel:
    if isinstance(table, schema.SlackWebhookTable):
        return SlackWebhookChannel(id=table.id, url=SecretReference.parse(table.url, folder))
    return EmailChannel(
        id=table.id,
        smtp_host=table.smtp_host,
        smtp_port=table.smtp_port,
        security=table.security,
        username=table.username,
        password=SecretReference.parse(table.password, folder) if table.password is not None else None,
        sender=table.from_,
        recipients=tuple(table.to),
    )


def _budget(table: schema.BudgetTable, teams: tuple[Team, ...]) -> Budget:
    scopes = _scopes(table.scope)
    limit = values.parse_amount(table.limit.amount)
    thresholds = [
        Threshold(text=text, amount=values.parse_threshold(text, limit, table.limit.currency))
        for text in table.thresholds
    ]
    return Budget(
        id=table.id,
        measure=table.measure,
        basis=table.basis,
        includes_credits="credits" in table.include,
        includes_tax="tax" in table.include,
        includes_refunds="refunds" in table.include,
        limit_amount=limit,
        currency=table.limit.currency,
        period=table.period.every,
        scopes=scopes,
        thresholds=tuple(sorted(thresholds, key=lambda threshold: threshold.amount)),
        team=told_team(scopes, teams),
    )


def _scopes(table: schema.ScopeTable | None) -> tuple[Scope, ...]:
    if table is None:
        return ()
    by_dimension: tuple[tuple[Dimension, list[str] | None], ...] = (("project", table.project), ("team", table.team))
    return tuple(
        Scope(dimension=dimension, globs=tuple(dict.fromkeys(globs))) for dimension, globs in by_dimension if globs
    )


def told_team(scopes: tuple[Scope, ...], teams: tuple[Team, ...]) -> str | None:
    """Return the team that a budget concerns: the one it names, or the owner of all projects it names.

    None, which is the default route, where a glob, several teams or an unowned project leave that open.
    """
    globs = {scope.dimension: scope.globs for scope in scopes}
    named = globs.get("team", ())
    if len(named) == 1 and not values.is_glob(named[0]):
        return named[0]
    owners = {project: team.name for team in teams for project in team.projects}
    concerned = {owners.get(project) for project in globs.get("project", ())}
    return concerned.pop() if len(concerned) == 1 else None
