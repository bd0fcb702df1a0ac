"""Turns the checked tables of the file into the frozen settings that the rest of the house is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import cast

from alerts.settings import AlertSettings, Channel, EmailChannel, Route, SlackWebhookChannel
from ingest.prices import PriceSettings
from ingest.privacy import PrivacySettings
from ingest.source import (
    DEFAULT_QUIET_DAYS,
    DEFAULT_SETTLE_DAYS,
    AwsAccess,
    BigQueryLocation,
    BillingAccess,
    CommitmentDiscount,
    GcsLocation,
    S3Location,
    SourceKind,
    SourceSettings,
)
from ingest.usage.source import RUN_KINDS, RunSource, RunSourceKind
from overrun import config_schema as schema
from overrun import config_values as values
from overrun.config import (
    Accelerator,
    AttributionRule,
    AttributionSettings,
    Budget,
    Condition,
    Config,
    CurrencySettings,
    Dimension,
    Owner,
    PrepaidCapacity,
    Publication,
    Scope,
    Split,
    Team,
    Threshold,
    WasteSettings,
)
from overrun.config_document import ReadDocument
from overrun.config_problems import Problem
from overrun.waste_checks import CHECKS, WasteCheck
from sql.secret import SecretReference
from sql.warehouse import WarehouseSettings

SUBJECTS = (
    "account", "account_name", "provider", "billing_account", "service", "region", "resource", "charge_category",
)  # fmt: skip
"""What a rule may look at besides tags."""


def build_config(document: ReadDocument, file: Path, warnings: tuple[Problem, ...]) -> Config:
    """Return the configuration; `document` has passed every check and `file` is absolute."""
    folder = file.parent
    warehouse = _warehouse(document.warehouse, folder)
    teams = tuple(Team(name=placed.table.name, projects=tuple(placed.table.projects)) for placed in document.teams)
    owning = tuple(_owner(placed.table) for placed in document.owners)
    owners = {project: team.name for team in teams for project in team.projects}
    owners |= {project: owner.team for owner in owning if owner.team is not None for project in owner.projects}
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
        sources=tuple(
            _source(placed.table, document, folder) for placed in document.sources if placed.table.kind not in RUN_KINDS
        ),
        run_sources=tuple(
            _run_source(placed.table, folder) for placed in document.sources if placed.table.kind in RUN_KINDS
        ),
        attribution=_attribution(document.attribution),
        prices=_prices(document.prices),
        privacy=_privacy(document.privacy, folder),
        currency=_currency(document.currency, folder),
        prepaid_capacities=tuple(_prepaid_capacity(placed.table) for placed in document.prepaid_capacities),
        accelerators=tuple(_accelerator(placed.table) for placed in document.accelerators),
        teams=teams,
        owners=owning,
        splits=tuple(_split(placed.table, folder) for placed in document.splits),
        alerts=AlertSettings(
            channels=tuple(_channel(placed.table, folder) for placed in document.channels),
            routes=tuple(
                Route(team=placed.table.team, channels=tuple(placed.table.channels)) for placed in document.routes
            ),
            minimum_monthly_waste=values.parse_amount(document.waste.minimum_monthly),
        ),
        waste=_waste(document.waste),
        budgets=tuple(_budget(placed.table, owners) for placed in document.budgets),
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


def _source(table: schema.SourceTable, document: ReadDocument, folder: Path) -> SourceSettings:
    kind = cast("SourceKind", table.kind)
    default_period = None if kind == "aws-export" else "from-rows"
    settle_days = DEFAULT_SETTLE_DAYS[kind] if table.settle_days is None else table.settle_days
    return SourceSettings(
        name=table.name,
        kind=kind,
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
        commitment_discounts=_commitment_discounts(document) if table.kind.startswith("gcp-") else (),
        organizations=table.organizations,
        projects=table.projects,
        billing=BillingAccess(endpoint=table.billing_endpoint, credentials=_credentials(table, folder)),
    )


def _run_source(table: schema.SourceTable, folder: Path) -> RunSource:
    return RunSource(
        name=table.name,
        kind=cast("RunSourceKind", table.kind),
        location=folder / str(table.location),
        was=table.was,
        cluster=table.cluster or "",
        run_tag=table.run_tag,
        gpu_hour_price=None if table.gpu_hour_price is None else values.parse_amount(table.gpu_hour_price),
        currency=table.currency,
    )


def _credentials(table: schema.SourceTable, folder: Path) -> SecretReference | None:
    return None if table.credentials is None else SecretReference.parse(table.credentials, folder)


def _prices(table: schema.PricesTable) -> PriceSettings:
    return PriceSettings(
        services=tuple(dict.fromkeys(table.gcp_services)) if table.gcp else (),
        currency=table.currency,
        access=BillingAccess(endpoint=table.gcp_endpoint),
    )


def _privacy(table: schema.PrivacyTable, folder: Path) -> PrivacySettings | None:
    if table.key is None:
        return None
    return PrivacySettings(
        key=SecretReference.parse(table.key, folder), kinds=tuple(dict.fromkeys(table.hash)), tags=tuple(table.tags)
    )


def _currency(table: schema.CurrencyTable, folder: Path) -> CurrencySettings | None:
    if table.reporting_currency is None:
        return None
    return CurrencySettings(
        reporting_currency=table.reporting_currency,
        rates=None if table.rates is None else folder / table.rates,
        rule=table.rate,
        carry_days=table.carry_days,
    )


def _waste(table: schema.WasteTable) -> WasteSettings:
    return WasteSettings(
        checks=tuple(_waste_check(check, getattr(table, check.name)) for check in CHECKS),
        from_hour=table.work_from,
        until_hour=table.work_until,
    )


def _waste_check(check: WasteCheck, table: schema.WasteCheckTable) -> WasteCheck:
    """Return a check with what the file says of it; a shorter window also needs fewer days."""
    given = {key: value for key, value in table.model_dump().items() if value is not None and key != "enabled"}
    window_days = given.get("window_days", check.window_days)
    given.setdefault("minimum_days", min(check.minimum_days, window_days))
    return replace(check, is_enabled=table.enabled, **given)


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
        return replace(location, credentials=_credentials(table, folder), endpoint_url=table.endpoint_url)
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
        credentials=_credentials(table, folder),
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


def _accelerator(table: schema.AcceleratorTable) -> Accelerator:
    return Accelerator(
        instance_type=table.instance_type, accelerator=table.accelerator, count=values.parse_count(table.count)
    )


def _commitment_discounts(document: ReadDocument) -> tuple[CommitmentDiscount, ...]:
    return tuple(
        CommitmentDiscount(
            service_pattern=values.like_pattern(table.service),
            sku_pattern=values.like_pattern(table.sku),
            discount=values.parse_discount(table.discount),
            from_month=values.parse_month(table.from_) if table.from_ else None,
            until_month=values.parse_month(table.until) if table.until else None,
        )
        for table in (placed.table for placed in document.commitment_discounts)
    )


def _attribution(table: schema.AttributionTable) -> AttributionSettings:
    return AttributionSettings(
        rules=tuple(map(rule_of, table.rule)),
        tags=tuple((dimension, tuple(getattr(table, f"{dimension}_tags"))) for dimension in values.DIMENSIONS),
        accounts=tuple(table.accounts.items()),
    )


def rule_of(table: schema.RuleTable) -> AttributionRule:
    """Return a rule with what it sets and its conditions."""
    given = {dimension: getattr(table, dimension) for dimension in values.DIMENSIONS}
    if given["workload"] == "evaluation":
        given["workload"] = "monitoring"
    return AttributionRule(
        sets=tuple((dimension, values.parse_assigned(text)) for dimension, text in given.items() if text is not None),
        conditions=conditions_of(table.match),
        from_month=values.parse_month(table.from_) if table.from_ else None,
        until_month=values.parse_month(table.until) if table.until else None,
    )


def conditions_of(match: schema.MatchTable) -> tuple[Condition, ...]:
    """Return the conditions of a rule, tags before the rest; an entry of several globs is one condition."""
    tags = {"": match.tag, "accountTag/": match.account_tag, "costCategory/": match.cost_category}
    on_tags = [
        Condition(subject="tag", tag_key=f"{prefix}{key}", globs=tuple(globs))
        for prefix, table in tags.items()
        for key, globs in (table or {}).items()
    ]
    on_rest = [
        Condition(subject=subject, tag_key="", globs=tuple(globs))
        for subject in SUBJECTS
        if (globs := getattr(match, subject)) is not None
    ]
    return (*on_tags, *on_rest)


def _owner(table: schema.OwnerTable) -> Owner:
    return Owner(
        projects=tuple(table.projects),
        team=table.team,
        cost_centre=table.cost_centre,
        gl_account=table.gl_account,
        from_month=values.parse_month(table.from_) if table.from_ else None,
        until_month=values.parse_month(table.until) if table.until else None,
    )


def _split(table: schema.SplitTable, folder: Path) -> Split:
    recipients: list[tuple[str, Decimal | None]] = [(glob, None) for glob in dict.fromkeys(table.to or [])]
    recipients += [(name, values.parse_amount(weight)) for name, weight in (table.weights or {}).items()]
    return Split(
        name=table.name,
        share=split_conditions_of(table.share),
        method=table.by,
        of=() if table.of is None else split_conditions_of(table.of),
        each=table.each,
        recipients=tuple(recipients),
        usage_file=None if table.usage is None else folder / table.usage,
        is_daily=table.over == "day",
        from_month=values.parse_month(table.from_) if table.from_ else None,
        until_month=values.parse_month(table.until) if table.until else None,
    )


def split_conditions_of(match: schema.SplitMatchTable) -> tuple[Condition, ...]:
    """Return the conditions of a split on costs; an entry of several globs is one condition."""
    given = {subject: getattr(match, subject) for subject in schema.SplitMatchTable.model_fields}
    return tuple(
        Condition(subject=subject, tag_key="", globs=(globs,) if isinstance(globs, str) else tuple(globs))
        for subject, globs in given.items()
        if globs is not None
    )


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


def _budget(table: schema.BudgetTable, owners: Mapping[str, str]) -> Budget:
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
        includes_shared="shared" in table.include,
        limit_amount=limit,
        currency=table.limit.currency,
        period=table.period.every,
        scopes=scopes,
        thresholds=tuple(sorted(thresholds, key=lambda threshold: threshold.amount)),
        team=told_team(scopes, owners),
    )


def _scopes(table: schema.ScopeTable | None) -> tuple[Scope, ...]:
    if table is None:
        return ()
    by_dimension: tuple[tuple[Dimension, list[str] | None], ...] = (("project", table.project), ("team", table.team))
    return tuple(
        Scope(dimension=dimension, globs=tuple(dict.fromkeys(globs))) for dimension, globs in by_dimension if globs
    )


def told_team(scopes: tuple[Scope, ...], owners: Mapping[str, str]) -> str | None:
    """Return the team that a budget concerns: the one it names, or the last owner of all projects it names.

    None, which is the default route, where a glob, several teams or an unowned project leave that open.
    """
    globs = {scope.dimension: scope.globs for scope in scopes}
    named = globs.get("team", ())
    if len(named) == 1 and not values.is_glob(named[0]):
        return named[0]
    concerned = {owners.get(project) for project in globs.get("project", ())}
    return concerned.pop() if len(concerned) == 1 else None
