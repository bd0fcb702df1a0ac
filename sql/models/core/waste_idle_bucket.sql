-- Buckets in standard storage that next to nobody asks anything of.
-- grain: one row per bucket that is idle, or not known to be
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
resources as (
    select windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        windows.limit_number, usage.resource_id, usage.billing_currency,
        count(distinct case when usage.meaning = 'bucket_storage' and usage.quantity > 0 then usage.charge_date end)
            as days_seen,
        sum(case when usage.meaning = 'bucket_requests' then usage.quantity else 0 end) as traffic,
        sum(case when usage.meaning = 'bucket_storage' then usage.cost_before_credits else 0 end) as usage_cost,
        sum(case when usage.meaning = 'bucket_storage' then usage.covered_cost else 0 end) as covered_cost
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    where windows.check_name = 'idle_bucket' and windows.reason is null and usage.resource_id is not null
        and usage.meaning in ('bucket_storage', 'bucket_requests')
    group by windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        windows.limit_number, usage.resource_id, usage.billing_currency
)

select
    resources.source, resources.check_name, resources.resource_id, resources.billing_currency,
    -- waste, advice where it is not known what is saved, or unknown where too few days are charged
    case
        when resources.days_seen < resources.minimum_days then 'unknown'
        when resources.saving_share > 0 then 'waste'
        else 'advice'
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
        || ' days charged for storage, '
        || cast(cast(resources.traffic as bigint) as varchar) || ' requests' as evidence
from resources
where resources.days_seen > 0 and resources.traffic <= resources.limit_number * resources.window_days
