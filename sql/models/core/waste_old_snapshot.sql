-- Snapshots that have been charged for the same size on every day of a long window.
-- grain: one row per snapshot that is as old as the window and did not grow
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
days as (
    select windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        windows.window_start, windows.window_end, usage.resource_id, usage.billing_currency, usage.charge_date,
        sum(usage.monthly_quantity) as gigabytes,
        sum(usage.cost_before_credits) as day_cost, sum(usage.covered_cost) as day_covered_cost
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    where windows.check_name = 'old_snapshot' and windows.reason is null and usage.resource_id is not null
        and usage.meaning = 'snapshot'
    group by windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        windows.window_start, windows.window_end, usage.resource_id, usage.billing_currency, usage.charge_date
),
resources as (
    select days.source, days.check_name, days.minimum_days, days.window_days, days.saving_share, days.window_start,
        days.resource_id, days.billing_currency, count(*) as days_seen, min(days.charge_date) as first_day,
        min(days.gigabytes) as least_gigabytes, max(days.gigabytes) as most_gigabytes,
        sum(days.day_cost) as usage_cost, sum(days.day_covered_cost) as covered_cost
    from days
    group by days.source, days.check_name, days.minimum_days, days.window_days, days.saving_share, days.window_start,
        days.resource_id, days.billing_currency
)

select
    resources.source, resources.check_name, resources.resource_id, resources.billing_currency,
    -- waste, or unknown where days are missing in between
    case when resources.days_seen >= resources.minimum_days then 'waste' else 'unknown' end as outcome,
    -- Cost in the window of what would be stopped
    resources.usage_cost,
    -- Part of it that a commitment pays
    resources.covered_cost,
    -- Part of the cost that is saved, between 0 and 1
    resources.saving_share,
    -- Days that the cost is of
    resources.window_days as charged_days,
    -- What was seen, in numbers
    cast(resources.days_seen as varchar) || ' of ' || cast(resources.window_days as varchar)
        || ' days at ' || cast(cast(resources.most_gigabytes as decimal(18, 2)) as varchar) || ' GB' as evidence
from resources
where date_diff('day', resources.window_start, resources.first_day) <= resources.window_days - resources.minimum_days
    -- Hours that the provider rounds are no growth.
    and resources.most_gigabytes * 100 <= resources.least_gigabytes * 102
