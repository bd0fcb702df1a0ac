"""Queries that are measured on the published copy: of marts, of charges, and the questions of finance of both."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping

from benchmarks.exports import MONTH
from benchmarks.process import ROOT

MARTS = {
    "mart: project by month": (
        "select billing_month, project, sum(effective_cost) from marts.project_daily_cost group by all"
    ),
    "mart: service by month": (
        "select billing_month, service_name, sum(billed_cost) from marts.service_daily_cost group by all"
    ),
    "mart: cost by month and team": (
        "select billing_month, team, sum(billed_cost) from marts.monthly_cost group by all"
    ),
    "mart: budget status": "select * from marts.budget_status",
    "mart: costliest resources of a day": (
        "select resource_id, sum(effective_cost) as cost from marts.resource_daily_cost"
        f" where billing_month = date '{MONTH}' and charge_date = date '{MONTH}'"
        " group by all order by cost desc limit 10"
    ),
    "focus: one month by service": (
        'select "ServiceName", sum("BilledCost") from focus.cost_and_usage'
        f" where \"x_BillingMonth\" = date '{MONTH}' group by all"
    ),
}
"""Statement by name; these and one month of FOCUS have to feel immediate."""


def wide_queries() -> Mapping[str, str]:
    """Return the queries over every charge."""
    return {
        "focus: total by month": _sum_by('"BillingPeriodStart"'),
        "focus: total by account": _sum_by('"SubAccountId"', "EffectiveCost"),
        "focus: total by charge category": _sum_by('"ChargeCategory"'),
        "focus: total by service": _sum_by('"ServiceName"'),
        "focus: total by service category": _sum_by('"ServiceCategory"'),
        "focus: total by region": _sum_by('"RegionName"'),
        "focus: total by day": _sum_by('cast("ChargePeriodStart" as date)'),
        "focus: costliest resources": _sum_by('"ResourceId"') + " order by cost desc limit 10",
    }


def _sum_by(columns: str, cost: str = "BilledCost") -> str:
    """Return the query for a total of every month's charges by `columns`."""
    return f'select {columns}, sum("{cost}") as cost from focus.cost_and_usage group by all'


def questions() -> Iterator[tuple[str, str, str | None]]:
    """Yield each question of `docs/questions.toml`: its title, its SQL, and the same asked of charges.

    None where no charge has the answer: an earlier delivery is not kept.
    """
    document = tomllib.loads((ROOT / "docs" / "questions.toml").read_text(encoding="utf-8"))
    for question, of_charges in zip(document["question"], _OF_CHARGES, strict=True):
        yield question["title"], question["sql"], of_charges


_OWNED = """focus.cost_and_usage as charges
inner join core.attribution as owned
    on charges."x_Source" = owned.source and charges."x_BillingMonth" = owned.billing_month
    and charges."x_TagSetId" is not distinct from owned.tag_set_id
    and charges."SubAccountId" is not distinct from owned.sub_account_id"""
"""Charges with who pays for them, where no rule asks for more than tags and accounts."""
_BEFORE_CREDITS = '"EffectiveCost" - "x_PromotionalCredit"'

_OF_CHARGES = (
    f'select "x_BillingMonth", team, sum("EffectiveCost"), "BillingCurrency" from {_OWNED} group by all',
    'select "x_BillingMonth", "ProviderName", "BillingAccountId", "InvoiceId", sum("BilledCost"), "BillingCurrency"'
    " from focus.cost_and_usage group by all",
    f'select team, project, "BillingCurrency", sum(case when "ChargePeriodStart" >= date \'{MONTH}\''
    f" then {_BEFORE_CREDITS} else -({_BEFORE_CREDITS}) end) as change from {_OWNED}"
    f" where \"ChargePeriodStart\" >= date '{MONTH}' - interval 1 month group by all order by abs(change) desc limit 5",
    f'select "ServiceCategory", sum(case when "x_BillingMonth" = date \'{MONTH}\' then "EffectiveCost" else 0 end),'
    ' "BillingCurrency" from focus.cost_and_usage group by all',
    'select "x_BillingMonth", sum(case when project <> \'unattributed\' then "EffectiveCost" else 0 end),'
    f' sum("EffectiveCost"), "BillingCurrency" from {_OWNED} group by all',
    'select "SubAccountName", "ServiceName", "ChargeCategory", sum("EffectiveCost") as cost,'
    f' count(distinct "ResourceId"), "BillingCurrency" from {_OWNED} where "x_BillingMonth" = date \'{MONTH}\''
    " and project = 'unattributed' group by all order by cost desc limit 8",
    f"select sum({_BEFORE_CREDITS}), sum(case when project in ('training', 'vision') or project like 'project-1%'"
    f' then {_BEFORE_CREDITS} else 0 end), "BillingCurrency" from {_OWNED} where "x_BillingMonth" = date \'{MONTH}\''
    " and \"ChargeCategory\" <> 'Tax' group by all",
    f'select "x_BillingMonth", "ProviderName", sum({_BEFORE_CREDITS}), sum("EffectiveCost"), "BillingCurrency"'
    " from focus.cost_and_usage group by all",
    'select "x_Source", "x_BillingMonth", count(*), count("InvoiceId") from focus.cost_and_usage group by all',
    None,
    'select "x_Source", max("ChargePeriodStart") from focus.cost_and_usage'
    " where \"ChargeCategory\" = 'Usage' group by all",
    'select "x_Source", "x_BillingMonth", sum("BilledCost"), "BillingCurrency" from focus.cost_and_usage group by all',
)
"""The same asked of charges, in the order of the questions."""

GROUPED_SCAN = """
select
    cast("ChargePeriodStart" as date) as charge_date, "BillingAccountId", "SubAccountId", "x_TagSetId", "ResourceId",
    "RegionId", "ServiceName", "ServiceCategory", "ChargeCategory", "InvoiceId", "BillingCurrency",
    sum("BilledCost") as billed_cost, sum("EffectiveCost") as effective_cost, sum("ListCost") as list_cost,
    sum("ContractedCost") as contracted_cost, count(*) as charge_rows
from focus.cost_and_usage
group by all
"""
"""One full grouped scan: what charges come to by all that a mart of resources tells apart, without who pays."""
