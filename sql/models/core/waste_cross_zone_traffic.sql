-- Traffic between zones that is a large part of what a project costs.
-- grain: one row per sub-account, project and team
-- key: source, check_name, sub_account_id?, project, team, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
costs as (select * from core.costs_attributed),
groups as (
    select windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        windows.limit_number, usage.sub_account_id, usage.project, usage.team, usage.billing_currency,
        count(distinct usage.charge_date) as days_seen, sum(usage.cost_before_credits) as usage_cost
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    where windows.check_name = 'cross_zone_traffic' and windows.reason is null and usage.meaning = 'cross_zone_traffic'
    group by windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        windows.limit_number, usage.sub_account_id, usage.project, usage.team, usage.billing_currency
),
spent as (
    select windows.source, costs.project, costs.team, costs.billing_currency,
        sum(costs.cost_before_credits) as project_cost
    from windows
    inner join costs
        on windows.source = costs.source and costs.charge_date >= windows.window_start
        and costs.charge_date < windows.window_end
    where windows.check_name = 'cross_zone_traffic' and windows.reason is null
    group by windows.source, costs.project, costs.team, costs.billing_currency
)

select
    groups.source, groups.check_name, groups.sub_account_id, groups.project, groups.team, groups.billing_currency,
    -- waste, advice where it is not known what is saved, or unknown where too few days are charged
    case
        when groups.days_seen < groups.minimum_days then 'unknown'
        when groups.saving_share > 0 then 'waste'
        else 'advice'
    end as outcome,
    -- Cost in the window
    groups.usage_cost,
    -- Part of it that a commitment pays
    cast(0 as decimal(38, 12)) as covered_cost,
    -- Part of the cost that is saved, between 0 and 1
    groups.saving_share,
    -- Days that the cost is of
    groups.window_days as charged_days,
    -- What was seen, in numbers
    cast(cast(groups.usage_cost as decimal(38, 2)) as varchar) || ' of '
        || cast(cast(spent.project_cost as decimal(38, 2)) as varchar) || ' ' || groups.billing_currency
        || ' that the project cost in ' || cast(groups.window_days as varchar) || ' days' as evidence
from groups
inner join spent
    on groups.source = spent.source and groups.project = spent.project and groups.team = spent.team
    and groups.billing_currency = spent.billing_currency
where groups.usage_cost > 0 and groups.usage_cost * 100 > spent.project_cost * groups.limit_number
