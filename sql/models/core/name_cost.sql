-- What stands under each name that attribution gives, and what gave it: projects, teams, environments and so on. Tag
-- sets are told apart where they have a key that is nearly one that names a dimension, which is what has to be mended.
-- grain: one row per source, month, dimension, name, what named it, sub-account, tag set to mend and currency
-- key: source, billing_month, dimension, name, named_by, sub_account_id?, tag_set_id?, billing_currency
with costs as (select * from core.combination_cost),
attribution as (select * from core.attribution),
tag_sets as (select * from core.tag_set),
near_keys as (select * from core.tag_key_near),
mistagged_sets as (
    select distinct tag_sets.source, tag_sets.billing_month, tag_sets.tag_set_id
    from tag_sets
    inner join near_keys
        on tag_sets.source = near_keys.source and tag_sets.billing_month = near_keys.billing_month
        and tag_sets.tag_key = near_keys.tag_key
),
attributed as (
    select attribution.source, attribution.billing_month, attribution.sub_account_id, mistagged_sets.tag_set_id,
        attribution.project, attribution.project_rule, attribution.team, attribution.team_rule, attribution.environment,
        attribution.environment_rule, attribution.workload, attribution.workload_rule, attribution.cost_centre,
        attribution.cost_centre_rule, costs.billing_currency, sum(costs.effective_cost) as effective_cost,
        sum(costs.charge_rows) as charge_rows
    from costs
    inner join attribution
        on costs.billing_month = attribution.billing_month
        and costs.combination_number = attribution.combination_number
    left join mistagged_sets
        on attribution.source = mistagged_sets.source and attribution.billing_month = mistagged_sets.billing_month
        and attribution.tag_set_id = mistagged_sets.tag_set_id
    group by attribution.source, attribution.billing_month, attribution.sub_account_id, mistagged_sets.tag_set_id,
        attribution.project, attribution.project_rule, attribution.team, attribution.team_rule, attribution.environment,
        attribution.environment_rule, attribution.workload, attribution.workload_rule, attribution.cost_centre,
        attribution.cost_centre_rule, costs.billing_currency
),
named as (
    select attributed.source, attributed.billing_month, 'project' as dimension, attributed.project as name,
        attributed.project_rule as named_by, attributed.sub_account_id, attributed.tag_set_id,
        attributed.billing_currency, attributed.effective_cost, attributed.charge_rows
    from attributed
    union all
    select attributed.source, attributed.billing_month, 'team' as dimension, attributed.team as name,
        attributed.team_rule as named_by, attributed.sub_account_id, attributed.tag_set_id,
        attributed.billing_currency, attributed.effective_cost, attributed.charge_rows
    from attributed
    union all
    select attributed.source, attributed.billing_month, 'environment' as dimension, attributed.environment as name,
        attributed.environment_rule as named_by, attributed.sub_account_id, attributed.tag_set_id,
        attributed.billing_currency, attributed.effective_cost, attributed.charge_rows
    from attributed
    union all
    select attributed.source, attributed.billing_month, 'workload' as dimension, attributed.workload as name,
        attributed.workload_rule as named_by, attributed.sub_account_id, attributed.tag_set_id,
        attributed.billing_currency, attributed.effective_cost, attributed.charge_rows
    from attributed
    union all
    select attributed.source, attributed.billing_month, 'cost_centre' as dimension, attributed.cost_centre as name,
        attributed.cost_centre_rule as named_by, attributed.sub_account_id, attributed.tag_set_id,
        attributed.billing_currency, attributed.effective_cost, attributed.charge_rows
    from attributed
)

select
    named.source, named.billing_month,
    -- project, team, environment, workload or cost_centre
    named.dimension,
    -- What attribution says; `unattributed` where nothing does
    named.name,
    -- What named it: `rule N`, `tag KEY` and so on
    named.named_by,
    named.sub_account_id,
    -- The tag set where one of its keys is nearly one that names a dimension, else null
    named.tag_set_id,
    named.billing_currency,
    sum(named.effective_cost) as effective_cost,
    cast(sum(named.charge_rows) as bigint) as charge_rows
from named
group by named.source, named.billing_month, named.dimension, named.name, named.named_by, named.sub_account_id,
    named.tag_set_id, named.billing_currency
