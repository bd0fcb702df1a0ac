-- Resources as checks see them that look at one kind of usage: days, cost, and the traffic that goes with it, within
-- the check's window. Machines, disks, buckets and logs are looked at in other ways.
-- grain: one row per check, resource and currency with such usage
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
checks as (select * from settings.waste_check),
looked_at as (
    select checks.check_name, checks.meaning, false as is_traffic from checks
    where checks.meaning in ('idle_address', 'nat_hours', 'balancer_hours', 'endpoint_hours', 'unused_reservation',
        'unused_commitment', 'extended_support')
    union all
    select checks.check_name, replace(checks.meaning, '_hours', '_traffic') as meaning, true as is_traffic from checks
    where checks.meaning in ('nat_hours', 'balancer_hours', 'endpoint_hours')
),
unnamed as (
    select windows.source, windows.check_name
    from windows
    inner join looked_at on windows.check_name = looked_at.check_name and looked_at.is_traffic
    inner join usage
        on windows.source = usage.source and looked_at.meaning = usage.meaning
        and usage.charge_date >= windows.window_start and usage.charge_date < windows.window_end
    where windows.reason is null and usage.resource_id is null and usage.quantity > 0
    group by windows.source, windows.check_name
),
seen as (
    select windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        usage.resource_id, usage.billing_currency,
        count(distinct case when not looked_at.is_traffic and usage.quantity > 0 then usage.charge_date end)
            as days_used,
        count(distinct case when not looked_at.is_traffic and usage.cost_before_credits > 0 then usage.charge_date end)
            as days_charged,
        sum(case when looked_at.is_traffic then usage.quantity else 0 end) as traffic,
        sum(case when looked_at.is_traffic then 0 else usage.cost_before_credits end) as usage_cost,
        sum(case when looked_at.is_traffic then 0 else usage.covered_cost end) as covered_cost
    from windows
    inner join looked_at on windows.check_name = looked_at.check_name
    inner join usage
        on windows.source = usage.source and looked_at.meaning = usage.meaning
        and usage.charge_date >= windows.window_start and usage.charge_date < windows.window_end
    where windows.reason is null and usage.resource_id is not null
    group by windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        usage.resource_id, usage.billing_currency
)

select
    seen.source, seen.check_name, seen.resource_id, seen.billing_currency,
    -- Days on which there is usage
    seen.days_used,
    -- Days on which it costs something
    seen.days_charged,
    -- Traffic in the window, in the unit that it is priced in; 0 where the check looks at none
    seen.traffic,
    -- Whether the bill has such traffic without saying of which resource, so that any may have it
    unnamed.source is not null as has_unnamed_traffic,
    -- Days with charges before anything is claimed
    seen.minimum_days,
    -- Cost in the window of what would be stopped
    seen.usage_cost,
    -- Part of it that a commitment pays
    seen.covered_cost,
    -- Part of the cost that is saved, between 0 and 1
    seen.saving_share,
    -- Days that the cost is of
    seen.window_days as charged_days
from seen
left join unnamed on seen.source = unnamed.source and seen.check_name = unnamed.check_name
