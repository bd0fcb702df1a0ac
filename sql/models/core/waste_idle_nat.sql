-- NAT gateways that are charged by the hour and that no byte goes through.
-- grain: one row per gateway that is idle, or not known to be
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with resources as (select * from core.waste_resource)

select
    resources.source, resources.check_name, resources.resource_id, resources.billing_currency,
    -- waste, or unknown: too few days are charged, or there is traffic of which the bill names no resource
    case when resources.days_used >= resources.minimum_days and not resources.has_unnamed_traffic then 'waste'
        else 'unknown' end as outcome,
    resources.usage_cost, resources.covered_cost, resources.saving_share, resources.charged_days,
    -- What was seen, in numbers
    cast(resources.days_used as varchar) || ' of ' || cast(resources.charged_days as varchar)
        || ' days charged by the hour, no byte moved' as evidence
from resources
where resources.check_name = 'idle_nat' and resources.days_used > 0 and resources.traffic = 0
