-- Endpoints of models that are charged by the hour and that no byte goes in or out of.
-- grain: one row per endpoint that is idle, or not known to be
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with resources as (select * from core.waste_resource),
usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
bills as (
    select windows.source, sum(usage.quantity) as traffic
    from windows
    inner join usage on windows.source = usage.source and usage.charge_date >= windows.window_start
    where windows.check_name = 'idle_endpoint' and windows.reason is null and usage.meaning = 'endpoint_traffic'
    group by windows.source
)

select
    resources.source, resources.check_name, resources.resource_id, resources.billing_currency,
    -- waste, or unknown: too few days, or the bill has no traffic of any endpoint, so that it may not carry it
    case when resources.days_used >= resources.minimum_days and bills.traffic > 0
        and not resources.has_unnamed_traffic then 'waste' else 'unknown'
    end as outcome,
    resources.usage_cost, resources.covered_cost, resources.saving_share, resources.charged_days,
    -- What was seen, in numbers
    cast(resources.days_used as varchar) || ' of ' || cast(resources.charged_days as varchar)
        || ' days charged by the hour, no byte in or out' as evidence
from resources
left join bills on resources.source = bills.source
where resources.check_name = 'idle_endpoint' and resources.days_used > 0 and resources.traffic = 0
