-- Which share of the cost says whose it is, by money and by charges, month by month, and how that share has changed.
-- Rules, tags, accounts and owners count; costs are counted where they are charged.
-- grain: one row per month, scope (all, provider, team), dimension and currency
-- key: billing_month, scope, provider?, team?, dimension, billing_currency
-- materialized: full
with costs as (select * from core.costs_attributed),
monthly as (
    select costs.billing_month, costs.provider, costs.team, costs.project, costs.environment, costs.workload,
        costs.cost_centre, costs.billing_currency, sum(costs.effective_cost) as effective_cost,
        sum(costs.charge_rows) as charge_rows
    from costs
    group by costs.billing_month, costs.provider, costs.team, costs.project, costs.environment, costs.workload,
        costs.cost_centre, costs.billing_currency
),
named as (
    select monthly.billing_month, monthly.provider, monthly.team, 'project' as dimension, monthly.project as name,
        monthly.billing_currency, monthly.effective_cost, monthly.charge_rows
    from monthly
    union all
    select monthly.billing_month, monthly.provider, monthly.team, 'team' as dimension, monthly.team as name,
        monthly.billing_currency, monthly.effective_cost, monthly.charge_rows
    from monthly
    union all
    select monthly.billing_month, monthly.provider, monthly.team, 'environment' as dimension,
        monthly.environment as name, monthly.billing_currency, monthly.effective_cost, monthly.charge_rows
    from monthly
    union all
    select monthly.billing_month, monthly.provider, monthly.team, 'workload' as dimension, monthly.workload as name,
        monthly.billing_currency, monthly.effective_cost, monthly.charge_rows
    from monthly
    union all
    select monthly.billing_month, monthly.provider, monthly.team, 'cost_centre' as dimension,
        monthly.cost_centre as name, monthly.billing_currency, monthly.effective_cost, monthly.charge_rows
    from monthly
),
scoped as (
    select named.*, 'team' as scope from named
    union all
    select named.billing_month, named.provider, cast(null as varchar) as team, named.dimension, named.name,
        named.billing_currency, named.effective_cost, named.charge_rows, 'provider' as scope
    from named
    union all
    select named.billing_month, cast(null as varchar) as provider, cast(null as varchar) as team, named.dimension,
        named.name, named.billing_currency, named.effective_cost, named.charge_rows, 'all' as scope
    from named
),
covered as (
    select scoped.billing_month, scoped.scope, scoped.provider, scoped.team, scoped.dimension, scoped.billing_currency,
        sum(scoped.effective_cost) as effective_cost,
        sum(case when scoped.name <> 'unattributed' then scoped.effective_cost else 0 end) as attributed_cost,
        cast(sum(scoped.charge_rows) as bigint) as charge_rows,
        cast(sum(case when scoped.name <> 'unattributed' then scoped.charge_rows else 0 end) as bigint)
            as attributed_rows
    from scoped
    group by scoped.billing_month, scoped.scope, scoped.provider, scoped.team, scoped.dimension,
        scoped.billing_currency
),
shares as (
    select covered.*,
        cast(covered.attributed_cost as double) / nullif(cast(covered.effective_cost as double), 0) as share_of_money,
        cast(covered.attributed_rows as double) / nullif(covered.charge_rows, 0) as share_of_rows
    from covered
)

select
    shares.billing_month,
    -- all, provider (one provider) or team (one team with one provider): filter on it, since each holds the whole
    shares.scope,
    shares.provider, shares.team,
    -- What is attributed or not: project, team, environment, workload or cost_centre
    shares.dimension,
    shares.billing_currency, shares.effective_cost,
    -- The part of the effective cost that is attributed in this dimension
    shares.attributed_cost,
    shares.charge_rows,
    -- Charges that are attributed in this dimension
    shares.attributed_rows,
    -- attributed_cost / effective_cost; credits can take it out of 0 to 1; null where there is no cost
    shares.share_of_money,
    -- attributed_rows / charge_rows
    shares.share_of_rows,
    -- share_of_money less that of the month before; null where there is none
    shares.share_of_money - earlier.share_of_money as change_of_money_share,
    -- share_of_rows less that of the month before; null where there is none
    shares.share_of_rows - earlier.share_of_rows as change_of_rows_share
from shares
left join shares as earlier
    on earlier.billing_month = cast(shares.billing_month - interval '1' month as date)
    and shares.scope = earlier.scope and shares.provider is not distinct from earlier.provider
    and shares.team is not distinct from earlier.team and shares.dimension = earlier.dimension
    and shares.billing_currency = earlier.billing_currency
