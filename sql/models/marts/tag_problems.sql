-- What keeps tags from saying whose a charge is: none at all, a key nearly right, a name that is nearly another.
-- grain: one row per source, month, problem, dimension, sub-account, key, value and currency
-- key: source, billing_month, problem, dimension, sub_account_id?, tag_key?, tag_value?, billing_currency
with costs as (select * from core.name_cost),
near_keys as (select * from core.tag_key_near),
near_names as (select * from core.name_near),
tag_sets as (select * from core.tag_set),
mistagged as (
    select tag_sets.source, tag_sets.billing_month, tag_sets.tag_set_id, tag_sets.tag_key, tag_sets.tag_value,
        near_keys.dimension, near_keys.meant_key
    from tag_sets
    inner join near_keys
        on tag_sets.source = near_keys.source and tag_sets.billing_month = near_keys.billing_month
        and tag_sets.tag_key = near_keys.tag_key
),
mistagged_sets as (
    select distinct mistagged.source, mistagged.billing_month, mistagged.tag_set_id, mistagged.dimension
    from mistagged
),
problems as (
    select costs.source, costs.billing_month, 'untagged' as problem, costs.dimension, costs.sub_account_id,
        cast(null as varchar) as tag_key, cast(null as varchar) as tag_value, cast(null as varchar) as meant,
        costs.name, costs.billing_currency, costs.effective_cost, costs.charge_rows
    from costs
    left join mistagged_sets
        on costs.source = mistagged_sets.source and costs.billing_month = mistagged_sets.billing_month
        and costs.tag_set_id = mistagged_sets.tag_set_id and costs.dimension = mistagged_sets.dimension
    where costs.name = 'unattributed' and mistagged_sets.tag_set_id is null
    union all
    select costs.source, costs.billing_month, 'key' as problem, costs.dimension, costs.sub_account_id,
        mistagged.tag_key, mistagged.tag_value, mistagged.meant_key as meant, costs.name, costs.billing_currency,
        costs.effective_cost, costs.charge_rows
    from costs
    inner join mistagged
        on costs.source = mistagged.source and costs.billing_month = mistagged.billing_month
        and costs.tag_set_id = mistagged.tag_set_id and costs.dimension = mistagged.dimension
    union all
    select costs.source, costs.billing_month, 'value' as problem, costs.dimension, costs.sub_account_id,
        costs.named_by as tag_key, costs.name as tag_value, near_names.meant_name as meant, costs.name,
        costs.billing_currency, costs.effective_cost, costs.charge_rows
    from costs
    inner join near_names
        on costs.source = near_names.source and costs.billing_month = near_names.billing_month
        and costs.dimension = near_names.dimension and costs.name = near_names.name
)

select
    problems.source, problems.billing_month,
    -- untagged, key (a key that is nearly right) or value (a name that is nearly another)
    problems.problem,
    -- project, team, environment, workload or cost_centre
    problems.dimension,
    problems.sub_account_id,
    -- The key as found; for a value what gave it, as in `tag project`; null where untagged
    problems.tag_key,
    -- The value as found; null where untagged
    problems.tag_value,
    -- Key or name that was probably meant; null where untagged
    min(problems.meant) as meant,
    problems.billing_currency,
    -- Effective cost of the charges concerned; a charge with several problems is in each
    sum(problems.effective_cost) as effective_cost,
    -- The part of it that is unattributed in this dimension
    sum(case when problems.name = 'unattributed' then problems.effective_cost else 0 end) as unattributed_cost,
    cast(sum(problems.charge_rows) as bigint) as charge_rows
from problems
group by problems.source, problems.billing_month, problems.problem, problems.dimension, problems.sub_account_id,
    problems.tag_key, problems.tag_value, problems.billing_currency
