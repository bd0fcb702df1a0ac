-- Machines with GPUs: a bill does not say whether they work, so nothing is claimed.
-- grain: one row per machine with GPUs
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
resources as (
    select windows.source, windows.check_name, windows.window_days, usage.resource_id, usage.billing_currency,
        count(distinct usage.charge_date) as days_seen, sum(usage.quantity) as hours,
        sum(usage.cost_before_credits) as usage_cost, sum(usage.covered_cost) as covered_cost
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    where windows.check_name = 'gpu_without_metrics' and windows.reason is null and usage.resource_id is not null
        and usage.meaning = 'machine' and usage.detail = 'gpu'
    group by windows.source, windows.check_name, windows.window_days, usage.resource_id, usage.billing_currency
)

select
    resources.source, resources.check_name, resources.resource_id, resources.billing_currency,
    -- Always unknown
    'unknown' as outcome,
    -- Cost in the window
    resources.usage_cost,
    -- Part of it that a commitment pays
    resources.covered_cost,
    -- Part of the cost that is saved, between 0 and 1
    cast(0 as decimal(13, 12)) as saving_share,
    -- Days that the cost is of
    resources.window_days as charged_days,
    -- What was seen, in numbers
    cast(cast(resources.hours as decimal(18, 1)) as varchar) || ' charged hours on '
        || cast(resources.days_seen as varchar) || ' of ' || cast(resources.window_days as varchar)
        || ' days, and no metric of its GPUs' as evidence
from resources
where resources.hours > 0
