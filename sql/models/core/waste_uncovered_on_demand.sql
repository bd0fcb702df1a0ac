-- Machines charged on demand without a break, which a commitment could be bought for: the least that any day cost.
-- grain: one row per sub-account, project and team
-- key: source, check_name, sub_account_id?, project, team, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
days as (
    select windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        usage.sub_account_id, usage.project, usage.team, usage.billing_currency, usage.charge_date,
        sum(usage.demand_cost) as demand_cost
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    where windows.check_name = 'uncovered_on_demand' and windows.reason is null
        and usage.meaning in ('machine', 'database')
    group by windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        usage.sub_account_id, usage.project, usage.team, usage.billing_currency, usage.charge_date
    having sum(usage.demand_cost) > 0
),
groups as (
    select days.source, days.check_name, days.sub_account_id, days.project, days.team, days.billing_currency,
        days.minimum_days, days.window_days, days.saving_share, count(*) as days_seen,
        min(days.demand_cost) as least_cost
    from days
    group by days.source, days.check_name, days.sub_account_id, days.project, days.team, days.billing_currency,
        days.minimum_days, days.window_days, days.saving_share
)

select
    groups.source, groups.check_name, groups.sub_account_id, groups.project, groups.team, groups.billing_currency,
    -- waste, advice where it is not known what is saved, or unknown where a few days are missing
    case
        when groups.days_seen < groups.window_days then 'unknown'
        when groups.saving_share > 0 then 'waste'
        else 'advice'
    end as outcome,
    -- The least cost of a day, on all days of the window
    groups.least_cost * groups.window_days as usage_cost,
    -- Part of it that a commitment pays
    cast(0 as decimal(38, 12)) as covered_cost,
    -- Part of the cost that is saved, between 0 and 1
    groups.saving_share,
    -- Days that the cost is of
    groups.window_days as charged_days,
    -- What was seen, in numbers
    'at least ' || cast(cast(groups.least_cost as decimal(38, 2)) as varchar) || ' ' || groups.billing_currency
        || ' on demand on each of ' || cast(groups.days_seen as varchar) || ' days' as evidence
from groups
where groups.days_seen >= groups.minimum_days
