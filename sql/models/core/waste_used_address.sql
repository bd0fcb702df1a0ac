-- Public addresses in use, each of which is charged: those behind a load balancer or a NAT gateway could go without.
-- grain: one row per sub-account, project and team
-- key: source, check_name, sub_account_id?, project, team, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
groups as (
    select windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        usage.sub_account_id, usage.project, usage.team, usage.billing_currency,
        count(distinct usage.charge_date) as days_seen, count(distinct usage.resource_id) as address_count,
        sum(usage.cost_before_credits) as usage_cost
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    where windows.check_name = 'used_address' and windows.reason is null and usage.meaning = 'used_address'
    group by windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        usage.sub_account_id, usage.project, usage.team, usage.billing_currency
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
    cast(groups.address_count as varchar) || ' public addresses in use on ' || cast(groups.days_seen as varchar)
        || ' of ' || cast(groups.window_days as varchar) || ' days' as evidence
from groups
where groups.usage_cost > 0
