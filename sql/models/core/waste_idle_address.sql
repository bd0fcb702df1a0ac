-- Public addresses that are charged because nothing uses them.
-- grain: one row per address
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with resources as (select * from core.waste_resource)

select
    resources.source, resources.check_name, resources.resource_id, resources.billing_currency,
    -- waste, or unknown where too few days are charged
    case when resources.days_charged >= resources.minimum_days then 'waste' else 'unknown' end as outcome,
    resources.usage_cost, resources.covered_cost, resources.saving_share, resources.charged_days,
    -- What was seen, in numbers
    cast(resources.days_charged as varchar) || ' of ' || cast(resources.charged_days as varchar)
        || ' days charged as idle' as evidence
from resources
where resources.check_name = 'idle_address' and resources.days_charged > 0
