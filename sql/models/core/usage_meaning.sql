-- What usage types mean to the checks for waste, on whichever cloud; those that mean nothing to them are not there.
-- grain: one row per month, provider, usage type and service code
-- key: billing_month, provider, usage_type, service_code
with charges as (select * from focus.cost_and_usage),
meanings as (select * from settings.waste_meaning),
usage_types as (
    select distinct charges.x_BillingMonth as billing_month, charges.ProviderName as provider,
        charges.x_UsageType as usage_type, coalesce(charges.x_ServiceCode, '') as service_code
    from charges
    where charges.x_UsageType is not null
),
matched as (
    select usage_types.billing_month, usage_types.provider, usage_types.usage_type, usage_types.service_code,
        min(meanings.meaning_number) as meaning_number
    from usage_types
    inner join meanings
        on usage_types.provider = meanings.provider
        and (meanings.service_code is null or usage_types.service_code = meanings.service_code)
        and lower(usage_types.usage_type) like meanings.usage_pattern escape '\'
    group by usage_types.billing_month, usage_types.provider, usage_types.usage_type, usage_types.service_code
)

select
    -- First day of the invoice month
    matched.billing_month,
    -- Number of the row within the month
    row_number() over (order by matched.provider, matched.usage_type, matched.service_code) as meaning_key,
    -- Cloud provider
    matched.provider,
    -- Usage type of AWS, description of the SKU of Google Cloud
    matched.usage_type,
    -- Service code; empty without
    matched.service_code,
    -- What it is: nat_hours, disk and so on
    meanings.meaning,
    -- Kind of it, where checks tell kinds apart
    meanings.detail
from matched
inner join meanings on matched.meaning_number = meanings.meaning_number
