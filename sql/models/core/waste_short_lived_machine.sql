-- Machines on demand that live a few hours only, which spot capacity is made for.
-- grain: one row per sub-account, project and team
-- key: source, check_name, sub_account_id?, project, team, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
machines as (
    select windows.source, windows.check_name, windows.window_days, windows.window_start, windows.window_end,
        windows.saving_share, windows.limit_number, usage.sub_account_id, usage.project, usage.team,
        usage.billing_currency, usage.resource_id, sum(usage.quantity) as hours,
        sum(usage.demand_cost) as demand_cost, min(usage.charge_date) as first_day, max(usage.charge_date) as last_day
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    where windows.check_name = 'short_lived_machine' and windows.reason is null and usage.resource_id is not null
        and usage.meaning = 'machine'
    group by windows.source, windows.check_name, windows.window_days, windows.window_start, windows.window_end,
        windows.saving_share, windows.limit_number, usage.sub_account_id, usage.project, usage.team,
        usage.billing_currency, usage.resource_id
),
marked as (
    select machines.*,
        -- At either end of the window it may have begun before, or live on.
        case when machines.first_day > machines.window_start
            and date_diff('day', machines.last_day, machines.window_end) > 1 then 1 else 0 end as is_whole
    from machines
    where machines.hours < machines.limit_number and machines.hours > 0 and machines.demand_cost > 0
),
groups as (
    select marked.source, marked.check_name, marked.sub_account_id, marked.project, marked.team,
        marked.billing_currency, marked.window_days, marked.saving_share, marked.limit_number,
        sum(marked.is_whole) as machine_count,
        sum(case when marked.is_whole = 1 then marked.demand_cost else 0 end) as usage_cost
    from marked
    group by marked.source, marked.check_name, marked.sub_account_id, marked.project, marked.team,
        marked.billing_currency, marked.window_days, marked.saving_share, marked.limit_number
)

select
    groups.source, groups.check_name, groups.sub_account_id, groups.project, groups.team, groups.billing_currency,
    -- waste, advice where it is not known what is saved, or unknown where all touch an end of the window
    case
        when groups.machine_count = 0 then 'unknown'
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
    cast(cast(groups.machine_count as bigint) as varchar) || ' machines on demand lived less than '
        || cast(cast(groups.limit_number as bigint) as varchar) || ' hours' as evidence
from groups
