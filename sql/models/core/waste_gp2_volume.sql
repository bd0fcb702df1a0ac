-- Volumes of type gp2, which cost a quarter more than gp3 with as many operations, up to a size.
-- grain: one row per volume
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
resources as (
    select windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        windows.limit_number, usage.resource_id, usage.billing_currency,
        count(distinct usage.charge_date) as days_seen, sum(usage.cost_before_credits) as usage_cost,
        sum(usage.covered_cost) as covered_cost,
        cast(
            cast(sum(usage.monthly_quantity) as double) / nullif(count(distinct usage.charge_date), 0)
            as decimal(18, 0)
        ) as gigabytes
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    where windows.check_name = 'gp2_volume' and windows.reason is null and usage.resource_id is not null
        and usage.meaning = 'disk' and usage.detail = 'gp2'
    group by windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        windows.limit_number, usage.resource_id, usage.billing_currency
)

select
    resources.source, resources.check_name, resources.resource_id, resources.billing_currency,
    -- waste, or unknown: too few days, or so large that gp3 with as many operations is charged extra
    case
        when resources.days_seen >= resources.minimum_days and resources.gigabytes <= resources.limit_number
        then 'waste'
        else 'unknown'
    end as outcome,
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
        || ' days as gp2, ' || cast(resources.gigabytes as varchar) || ' GB' as evidence
from resources
