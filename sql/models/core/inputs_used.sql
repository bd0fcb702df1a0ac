-- Which inputs the configured attribution rules look at, besides tags and the sub-account: what none of them asks for
-- parts no combinations.
-- grain: one row per month
-- key: billing_month
with charges as (select * from focus.cost_and_usage),
conditions as (select * from settings.attribution_condition),
months as (
    select distinct charges.x_BillingMonth as billing_month
    from charges
)

select
    -- First day of the invoice month
    months.billing_month,
    -- Whether a rule has a condition on the provider
    coalesce(max(case when conditions.subject = 'provider' then 1 end), 0) = 1 as uses_provider,
    -- Whether a rule has a condition on the billing account
    coalesce(max(case when conditions.subject = 'billing_account' then 1 end), 0) = 1 as uses_payer,
    -- Whether a rule has a condition on the region
    coalesce(max(case when conditions.subject = 'region' then 1 end), 0) = 1 as uses_region,
    -- Whether a rule has a condition on the service
    coalesce(max(case when conditions.subject = 'service' then 1 end), 0) = 1 as uses_service,
    -- Whether a rule has a condition on the kind of charge
    coalesce(max(case when conditions.subject = 'charge_category' then 1 end), 0) = 1 as uses_category,
    -- Whether a rule has a condition on the resource
    coalesce(max(case when conditions.subject = 'resource' then 1 end), 0) = 1 as uses_resource
from months
left join conditions on conditions.subject not in ('tag', 'account', 'account_name')
group by months.billing_month
