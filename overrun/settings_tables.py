"""The configuration as rows of the `settings` tables, which is how models read it.

No address and no secret is among them: what stands in the warehouse can be read by everyone who has the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from overrun.config import AttributionRule, Budget, Config
from overrun.config_values import like_pattern

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


NO_FINALITY = Finality()


def settings_rows(
    config: Config,
    as_of: date,
    retired_sources: Iterable[tuple[str, str | None, int]] = (),
    organisation: Organisation = NO_ORGANISATION,
    finality: Finality = NO_FINALITY,
) -> dict[str, list[Row]]:
    """Return the rows of `sql.contract.SETTINGS_TABLES` by `schema.name`, columns in contract order, prices apart.

    `retired_sources` are (name, kind, settle_days) of sources whose charges are kept though the file no longer names
    them; one that the file does name is not retired. `organisation` is what the provider says of accounts, `finality`
    what people say of invoices.
    """
    attribution = config.attribution
    return {
        "settings.night": [(as_of,)],
        "settings.source": _sources(config, retired_sources),
        "settings.quiet_source": _quiet_sources(config, finality.retired),
        "settings.invoice": list(finality.invoices),
        "settings.attribution_rule": _numbered_rules(attribution.rules),
        "settings.attribution_condition": _conditions(attribution.rules),
        "settings.attribution_tag": [
            *_tags("project", attribution.project_tags),
            *_tags("team", attribution.team_tags),
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
        "settings.team_project": [(team.name, project) for team in config.teams for project in team.projects],
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
        (number, dimension, value)
        for number, rule in enumerate(rules, start=1)
        for dimension, value in (("project", rule.project), ("team", rule.team))
        if value is not None
    ]


def _conditions(rules: tuple[AttributionRule, ...]) -> list[Row]:
    return [
        (number, condition_number, condition.subject, condition.tag_key, like_pattern(glob))
        for number, rule in enumerate(rules, start=1)
        for condition_number, condition in enumerate(rule.conditions, start=1)
        for glob in condition.globs
    ]


def _tags(dimension: str, keys: tuple[str, ...]) -> list[Row]:
    return [(dimension, priority, key) for priority, key in enumerate(keys, start=1)]


def _budget(budget: Budget) -> Row:
    return (
        budget.id,
        budget.measure,
        budget.basis,
        budget.includes_credits,
        budget.includes_tax,
        budget.includes_refunds,
        budget.limit_amount,
        budget.currency,
        budget.period,
        budget.team,
    )
