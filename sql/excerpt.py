"""A published copy for some teams: their charges and marts, and nothing of anybody else's.

Made from the published copy, so it shows the same night. It holds tables only, and no settings, ledger or view. A mart
is in it where it stands in one of the lists below: by team, or for everybody because it holds no amount. One that
nobody has thought of is left out.

Rows of a team may still name others: an account that is called after another team, a tag, a machine that containers of
several teams share. So in every text that is not a provider's or our own word, the names of all other teams and
projects are replaced, wherever they stand as a word of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sql.contract import COST_AND_USAGE
from sql.parts import comment_on_table
from sql.publish import PublishReport, replace_copy
from sql.state import StateStore
from sql.warehouse import Warehouse, WarehouseSettings, literal, quoted

BY_TEAM = (
    "allocation_coverage",
    "budget_status",
    "closed_month",
    "container_daily_cost",
    "failed_runs",
    "gpu_hours",
    "month_corrections",
    "monthly_cost",
    "project_daily_cost",
    "resource_daily_cost",
    "run_costs",
    "run_daily_use",
    "run_outcomes",
    "service_daily_cost",
    "waste_findings",
)
"""Marts whose rows each belong to the team in their column `team`."""
FOR_ALL = ("data_freshness", "month_status")
"""Marts without amounts, which everybody may see."""
LEFT_OUT = (
    "commitment_usage",
    "conformance",
    "idle_capacity",
    "invoice_reconciliation",
    "month_news",
    "reconciliation",
    "restatements",
    "tag_problems",
    "waste_checks",
)
"""Marts that cannot be told apart by team."""
OTHER = "another-team"
"""What stands in the place of other teams' and projects' names."""
_WITH_MACHINES = "resource_daily_cost"
_MACHINE = (
    "case when parent_resource_id in (select resource_id from published.marts.resource_daily_cost"
    " where team in ({teams}) and resource_id is not null and parent_resource_id is null)"
    f" then parent_resource_id when parent_resource_id is not null then {literal(OTHER)} end as parent_resource_id"
)
"""The machine that a container of the teams runs on, by name only where it is theirs too."""
_SHAPE = "4"
"""Raised when this module makes other copies of the same night."""
_PUT = rf"\1{OTHER}\3"
_SHORTEST_NAME = 3
"""Shorter names are replaced only where they are the whole text: they stand in too many words of providers."""
_WORDS_OF_PROVIDERS = frozenset(
    {
        "scope", "dimension", "kind", "cause", "team", "provider", "service_name", "service_category",
        "charge_category", "charge_class",
        "credit_kind", "billing_currency", "reporting_currency", "region_id", "basis", "state", "status", "final_by",
        "accelerator_kind", "accelerator", "pricing", "measured_by", "cost_method", "cost_confidence", "certainty",
        "told_as", "end_known_by", "check_name", "title", "outcome", "finding_id",
        "last_month_status", "previous_month_status", "invoice_id", "billing_account_id",
        "AvailabilityZone", "BillingAccountId", "BillingAccountType", "BillingCurrency", "CapacityReservationStatus",
        "ChargeCategory", "ChargeClass", "ChargeFrequency", "CommitmentDiscountCategory",
        "CommitmentDiscountStatus", "CommitmentDiscountType", "CommitmentDiscountUnit", "ConsumedUnit", "InvoiceId",
        "InvoiceIssuerName", "PricingCategory", "PricingCurrency", "PricingUnit", "ProviderName", "PublisherName",
        "RegionId", "RegionName", "ResourceType", "ServiceCategory", "ServiceName", "ServiceSubcategory", "SkuId",
        "SkuMeter", "SkuPriceDetails", "SkuPriceId", "SubAccountType", "x_CostType", "x_CreditKind",
        "x_InvoicingEntity", "x_InvoiceIssuerNameDelivered", "x_LineItemType", "x_LoadId", "x_Operation",
        "x_ProjectNumber", "x_ProviderNameDelivered", "x_ServiceCode", "x_UsageType",
    }
)  # fmt: skip
"""Columns that hold words of providers or of ours, and the team's own names."""
_OWN = {
    "project": ("core.costs_attributed", "marts.closed_month", "settings.owner", "settings.team_project"),
    "cost_centre": ("core.costs_attributed", "marts.closed_month", "settings.owner"),
    "gl_account": ("core.costs_attributed", "marts.closed_month", "settings.owner"),
}
"""Names that stand in a column of their own, and the tables that say whose they are. Not those after splits: what a
split gives to a team may stand under the project and cost centre of another."""
_OF_SOURCES = frozenset({"source", "x_Source"})
"""Columns with the name of a source, which stays one name per source: sums by source stay what they are."""
_ASKED = {
    "provider": ("uses_provider", "ProviderName"),
    "billing_account_id": ("uses_payer", "BillingAccountId"),
    "region_id": ("uses_region", "RegionId"),
    "service_name": ("uses_service", "ServiceName"),
    "charge_category": ("uses_category", "ChargeCategory"),
    "resource_id": ("uses_resource", "ResourceId"),
}
"""Columns of `core.attribution` that are null unless a rule asks for them: the flag that says so, and the charge's."""
_ATTRIBUTED = (
    'exists (select 1 from published.core.attribution as owner where owner.source = charge."x_Source"'
    ' and owner.billing_month = charge."x_BillingMonth"'
    ' and owner.tag_set_id is not distinct from charge."x_TagSetId"'
    ' and owner.sub_account_id is not distinct from charge."SubAccountId"'
    + "".join(
        f' and owner.{key} is not distinct from case when used.{flag} then charge."{column}" end'
        for key, (flag, column) in _ASKED.items()
    )
    + " and owner.team in ({teams}))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """What the teams of a copy are not to read."""

    others: Sequence[str]
    """Teams and projects that are not theirs."""
    sources: Mapping[str, str]
    """What stands in the place of names of sources."""


def publish_excerpt(
    settings: WarehouseSettings, published: Path, target: Path, teams: Sequence[str], build_id: str, state: StateStore
) -> PublishReport:
    """Replace `target` by the excerpt of `published` for `teams`, where that is newer."""
    excerpt_id = f"{build_id} {_SHAPE} {json.dumps(sorted(teams))}"

    def make(temporary: Path) -> None:
        with Warehouse.open(replace(settings, path=temporary)) as excerpt:
            _fill(excerpt, published, teams)
            excerpt.checkpoint()

    return replace_copy(target, excerpt_id, state, make)


def _fill(excerpt: Warehouse, published: Path, teams: Sequence[str]) -> None:
    """Copy the rows of `teams`, with the descriptions that people see."""
    listed = ", ".join(literal(team) for team in teams)
    excerpt.execute(f"attach {literal(str(published))} as published (read_only)")
    _find_own_names(excerpt, listed)
    others = _names_of_others(excerpt, listed)
    names = _Names(others=others, sources=_told_sources(excerpt, others))
    with excerpt.transaction():
        excerpt.execute("create schema focus; create schema marts")
        focus = COST_AND_USAGE.full_name
        excerpt.execute(
            f"create table {focus} as select {_columns(excerpt, focus, names)} from published.{focus} as charge"
            ' inner join published.core.inputs_used as used on charge."x_BillingMonth" = used.billing_month'
            f" where {_ATTRIBUTED.format(teams=listed)}"
        )
        comment_on_table(excerpt, COST_AND_USAGE)
        for name in _marts(excerpt):
            full_name = f"marts.{quoted(name)}"
            condition = f" where team in ({listed})" if name in BY_TEAM else ""
            columns = _columns(excerpt, f"marts.{name}", names)
            relation = f"published.{full_name}"
            if name == _WITH_MACHINES:
                relation = f"(select * replace ({_MACHINE.format(teams=listed)}) from {relation})"
            excerpt.execute(f"create table {full_name} as select {columns} from {relation}{condition}")
            _copy_comments(excerpt, name)
    for name in _OWN:
        excerpt.execute(f"drop table temp.own_{name}")
    excerpt.execute("detach published")


def _find_own_names(excerpt: Warehouse, listed: str) -> None:
    """Write what the listed teams call theirs to temporary tables, each with one column `name`."""
    for name, tables in _OWN.items():
        # What splits moved in a closed month belongs to nobody in particular.
        selects = [
            f"select {name} as name from published.{table} where team in ({listed})"
            + (" and kind <> 'shared'" if table == "marts.closed_month" else "")
            for table in tables
        ]
        excerpt.execute(
            f"create temporary table own_{name} as select distinct name from ({' union all '.join(selects)})"
            " where name is not null union select 'unattributed'"
        )


def _told_sources(excerpt: Warehouse, others: Sequence[str]) -> Mapping[str, str]:
    """Return what each source is called, where that is not its name; those that would be alike are numbered."""
    if not others:
        return {}
    rows = excerpt.rows(
        f"with told as (select source, {_without(others, 'source')} as told from ("
        "select source from published.settings.source union select source from published.settings.run_source"
        " union select source from published.marts.data_freshness)),"
        " numbered as (select *, row_number() over (partition by told order by source <> told, source) as number"
        " from told)"
        " select source, case when number = 1 then told else told || '-' || number end as told from numbered"
        " where number > 1 or source <> told order by source"
    )
    return {str(source): str(told) for source, told in rows}


def _marts(excerpt: Warehouse) -> list[str]:
    """Return the published marts that a team may see."""
    rows = excerpt.rows(
        "select distinct table_name from duckdb_columns() where database_name = 'published' and schema_name = 'marts'"
        " order by 1"
    )
    return [str(row[0]) for row in rows if row[0] in {*BY_TEAM, *FOR_ALL}]


def _names_of_others(excerpt: Warehouse, listed: str) -> list[str]:
    """Return the teams and projects, of charges and of the configuration, that are not those of the listed teams."""
    named = excerpt.rows(
        "select schema_name, table_name, column_name from duckdb_columns() where database_name = 'published'"
        " and schema_name in ('settings', 'marts') and column_name in ('team', 'project') order by all"
    )
    everywhere = [
        f"select {column} as name from published.{schema}.{quoted(str(table))}" for schema, table, column in named
    ]
    everywhere.append("select value from published.settings.attribution_rule where dimension in ('project', 'team')")
    rows = excerpt.rows(
        f"select distinct name from ({' union all '.join(everywhere)}) where name not in ({listed})"
        " and name not in (select name from own_project) order by length(name) desc, name"
    )
    return [str(row[0]) for row in rows]


def _columns(excerpt: Warehouse, table: str, names: _Names) -> str:
    """Return the columns of a published table as select items, names of others replaced."""
    schema, name = table.split(".")
    rows = excerpt.rows(
        "select column_name, data_type from duckdb_columns() where database_name = 'published' and schema_name = ?"
        " and table_name = ? order by column_index",
        [schema, name],
    )
    return ", ".join(
        quoted(str(column)) if text is None else f"{text} as {quoted(str(column))}"
        for column, text in ((column, _told(str(column), str(kind), names)) for column, kind in rows)
    )


def _told(column: str, kind: str, names: _Names) -> str | None:
    """Return what is told of a column instead of its values; None for the values themselves."""
    if column in _OWN:
        return (
            f"case when {column} in (select name from own_{column}) then {column}"
            f" when {column} is not null then {literal(OTHER)} end"
        )
    if column in _OF_SOURCES:
        told = " ".join(f"when {literal(source)} then {literal(name)}" for source, name in names.sources.items())
        return f"case {quoted(column)} {told} else {quoted(column)} end" if told else None
    if names.others and kind == "VARCHAR" and column not in _WORDS_OF_PROVIDERS:
        return _without(names.others, quoted(column))
    return None


def _without(others: Sequence[str], column: str) -> str:
    """Return an expression for a text in which names of others are replaced.

    It is done twice, since two names side by side share what stands between them.
    """
    written = {
        form for name in others for form in (name, json.dumps(name)[1:-1], json.dumps(name, ensure_ascii=False)[1:-1])
    }
    ordered = sorted(written, key=lambda name: (-len(name), name))
    whole = "|".join(map(re.escape, ordered))
    words = "|".join(re.escape(name) for name in ordered if len(name) >= _SHORTEST_NAME)
    # A name that is all of a text, or all of a value of tags; a longer one also where it is a word of it.
    patterns = [f'(^|")({whole})($|")']
    if words:
        patterns.append(rf"(^|[^\pL\pN])({words})($|[^\pL\pN])")
    text = column
    for pattern in patterns:
        for _ in range(2):
            text = f"regexp_replace({text}, {literal(pattern)}, {literal(_PUT)}, 'gi')"
    return text


def _copy_comments(excerpt: Warehouse, name: str) -> None:
    """Give a copied mart the descriptions of its columns."""
    rows = excerpt.rows(
        "select column_name, comment from duckdb_columns() where database_name = 'published' and schema_name = 'marts'"
        " and table_name = ? and comment is not null",
        [name],
    )
    purpose = excerpt.value(
        "select comment from (select database_name, schema_name, view_name as name, comment from duckdb_views()"
        " union all select database_name, schema_name, table_name, comment from duckdb_tables())"
        " where database_name = 'published' and schema_name = 'marts' and name = ?",
        [name],
    )
    if purpose is not None:
        excerpt.execute(f"comment on table marts.{quoted(name)} is {literal(str(purpose))}")
    for column, comment in rows:
        excerpt.execute(f"comment on column marts.{quoted(name)}.{quoted(str(column))} is {literal(str(comment))}")
