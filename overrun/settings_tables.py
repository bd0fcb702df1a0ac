"""The configuration as rows of the `settings` tables, which is how models read it.

No address and no secret is among them: what stands in the warehouse can be read by everyone who has the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from overrun.accelerators import accelerator_rows
from overrun.config import AttributionRule, Budget, Config
from overrun.config_values import is_glob, like_pattern
from overrun.settings_splits import split_rows
from overrun.waste_checks import check_rows, meaning_rows, provider_rows, twin_rows

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation:
    """Rows of `ops.account`, `ops.account_tag` and `ops.project`, as the settings tables that models read."""

    accounts: Sequence[Row] = ()
    tags: Sequence[Row] = ()


NO_ORGANISATION = Organisation()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finality:
    """What says that months of exports without invoices are final, besides the configuration."""

    invoices: Sequence[Row] = ()
    """Entered invoices, as rows of `settings.invoice`."""
    retired: Sequence[Row] = ()
    """Rows of `settings.quiet_source` as they were last written: those of sources no longer configured stay."""
    checks: Sequence[Row] = ()
    """What invoices of files were found to come to, as rows of `settings.invoice_check`."""


NO_FINALITY = Finality()


def settings_rows(
    config: Config,
    as_of: date,
    retired_sources: Iterable[tuple[str, str | None, int]] = (),
    organisation: Organisation = NO_ORGANISATION,
    finality: Finality = NO_FINALITY,
) -> dict[str, list[Row]]:
    """Return the rows of `sql.contract.SETTINGS_TABLES` by `schema.name`, columns in contract order.

    Prices, closed months and exchange rates are not among them: those follow from more than the configuration.
    `retired_sources` are (name, kind, settle_days) of sources whose charges are kept though the file no longer names
    them; one that the file does name is not retired. `organisation` is what the provider says of accounts, `finality`
    what people say of invoices.
    """
    attribution = config.attribution
    return {
        "settings.night": [(as_of,)],
        "settings.source": _sources(config, retired_sources),
        "settings.run_source": [
            (source.name, source.run_tag, source.gpu_hour_price, source.currency) for source in config.run_sources
        ],
        "settings.quiet_source": _quiet_sources(config, finality.retired),
        "settings.invoice": list(finality.invoices),
        "settings.invoice_check": list(finality.checks),
        "settings.currency": []
        if config.currency is None
        else [(config.currency.reporting_currency, config.currency.rule)],
        "settings.attribution_rule": _numbered_rules(attribution.rules),
        "settings.attribution_condition": _conditions(attribution.rules),
        "settings.attribution_tag": [
            (dimension, priority, key)
            for dimension, keys in attribution.tags
            for priority, key in enumerate(keys, start=1)
        ],
        "settings.attribution_account": list(attribution.accounts),
        "settings.sub_account": list(organisation.accounts),
        "settings.sub_account_tag": list(organisation.tags),
        "settings.prepaid_capacity": [
            (
                number,
                like_pattern(capacity.usage_type),
                None if capacity.resource is None else like_pattern(capacity.resource),
                capacity.starts_at,
                capacity.ends_at,
            )
            for number, capacity in enumerate(config.prepaid_capacities, start=1)
        ],
        "settings.accelerator": accelerator_rows(config.accelerators),
        "settings.waste_check": check_rows(config.waste.checks),
        "settings.waste_provider": provider_rows(config.waste.checks),
        "settings.waste_meaning": meaning_rows(),
        "settings.machine_twin": twin_rows(),
        "settings.waste_hours": [(config.waste.from_hour, config.waste.until_hour)],
        "settings.team_project": [(team.name, project) for team in config.teams for project in team.projects],
        "settings.owner": [
            (project, owner.team, owner.cost_centre, owner.gl_account, owner.from_month, owner.until_month)
            for owner in config.owners
            for project in owner.projects
        ],
        **split_rows(config.splits),
        "settings.budget": [_budget(budget) for budget in config.budgets],
        "settings.budget_scope": [
            (budget.id, scope.dimension, like_pattern(glob))
            for budget in config.budgets
            for scope in budget.scopes
            for glob in scope.globs
        ],
        "settings.budget_threshold": [
            (budget.id, threshold.text, threshold.amount)
            for budget in config.budgets
            for threshold in budget.thresholds
        ],
    }


def _sources(config: Config, retired: Iterable[tuple[str, str | None, int]]) -> list[Row]:
    present = {source.name for source in config.sources}
    return [
        *((source.name, source.kind, source.settle_days, False) for source in config.sources),
        *((name, kind, settle_days, True) for name, kind, settle_days in retired if name not in present),
    ]


def _quiet_sources(config: Config, earlier: Iterable[Row]) -> list[Row]:
    present = {source.name for source in config.sources}
    return [
        *((source.name, source.quiet_days) for source in config.sources if source.quiet_days is not None),
        *(row for row in earlier if row[0] not in present),
    ]


def _numbered_rules(rules: tuple[AttributionRule, ...]) -> list[Row]:
    return [
        (
            number,
            dimension,
            assigned.before,
            assigned.key,
            assigned.case,
            assigned.after,
            rule.from_month,
            rule.until_month,
        )
        for number, rule in enumerate(rules, start=1)
        for dimension, assigned in rule.sets
    ]


def _conditions(rules: tuple[AttributionRule, ...]) -> list[Row]:
    return [
        (
            number,
            condition_number,
            condition.subject,
            condition.tag_key,
            like_pattern(glob),
            None if is_glob(glob) else glob,
        )
        for number, rule in enumerate(rules, start=1)
        for condition_number, condition in enumerate(rule.conditions, start=1)
        for glob in dict.fromkeys(condition.globs)
    ]


def _budget(budget: Budget) -> Row:
    return (
        budget.id,
        budget.measure,
        budget.basis,
        budget.includes_credits,
        budget.includes_tax,
        budget.includes_refunds,
        budget.includes_shared,
        budget.limit_amount,
        budget.currency,
        budget.period,
        budget.team,
    )
