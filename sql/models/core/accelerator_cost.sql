-- Charges that may be for hours of accelerators, by their usage type, summed over what attribution tells apart.
-- Sources: AWS, usage types of Amazon EC2 and Amazon SageMaker; Google Cloud, SKUs of GPUs and TPUs.
-- grain: one row per day, usage account, tag set, usage type, pricing, currency and what rules look at besides
-- key: source, billing_month, charge_date, provider?, billing_account_id?, sub_account_id?, tag_set_id?, region_id?,
-- key: service_name?, service_code?, usage_type, charge_category?, resource_id?, pricing, billing_currency
with charges as (select * from focus.cost_and_usage),
used as (select * from core.inputs_used),
tags as (select * from core.tag_set),
parents as (select distinct source, billing_month, parent_resource_id from core.split_share),
unused_sets as (
    select distinct tags.source, tags.billing_month, tags.tag_set_id from tags
    where tags.tag_key = 'goog-system/compute.googleapis.com/is_unused_reservation' and tags.tag_value = 'true'
),
-- Plain patterns on one column, so that nothing else is read of other charges. What others sell in Google's marketplace
-- is software. A column that no rule looks at parts no rows; of resources, machines that containers share stand apart.
priced as (
    select charges.x_Source as source, charges.x_BillingMonth as billing_month,
        cast(charges.ChargePeriodStart as date) as charge_date, charges.ProviderName as provider,
        case when used.uses_payer then charges.BillingAccountId end as billing_account_id,
        charges.SubAccountId as sub_account_id, charges.x_TagSetId as tag_set_id,
        case when used.uses_region then charges.RegionId end as region_id,
        case when used.uses_service then charges.ServiceName end as service_name,
        charges.x_ServiceCode as service_code, charges.x_UsageType as usage_type,
        case when used.uses_category then charges.ChargeCategory end as charge_category,
        case when used.uses_resource or parents.source is not null then charges.ResourceId end as resource_id,
        case when charges.x_UsageType like '%UnusedBox:%' or charges.x_UsageType like '%UnusedDed:%'
                or unused_sets.tag_set_id is not null then 'unused reservation'
            when charges.PricingCategory = 'Dynamic' then 'spot'
            when charges.PricingCategory = 'Committed' then 'committed'
            else 'on-demand'
        end as pricing,
        charges.BillingCurrency as billing_currency,
        case when charges.ChargeCategory <> 'Usage' then 0
            when lower(charges.ConsumedUnit) in ('hours', 'hour', 'hrs', 'h')
                then cast(charges.ConsumedQuantity as decimal(24, 9)) * 3600
            when lower(charges.ConsumedUnit) in ('second', 'seconds')
                then cast(charges.ConsumedQuantity as decimal(24, 9))
        end as seconds,
        charges.BilledCost as billed_cost, charges.EffectiveCost as effective_cost,
        coalesce(charges.x_PromotionalCredit, 0) as promotional_credit, charges.ListCost as list_cost
    from charges
    inner join used on charges.x_BillingMonth = used.billing_month
    left join parents
        on charges.x_Source = parents.source and charges.x_BillingMonth = parents.billing_month
        and charges.ResourceId = parents.parent_resource_id
    left join unused_sets
        on charges.x_Source = unused_sets.source and charges.x_BillingMonth = unused_sets.billing_month
        and charges.x_TagSetId = unused_sets.tag_set_id
    where (
        charges.x_UsageType like '%:p%' or charges.x_UsageType like '%:g%' or charges.x_UsageType like '%ml.p%'
        or charges.x_UsageType like '%ml.g%' or charges.x_UsageType like '%trn%' or charges.x_UsageType like '%:inf%'
        or charges.x_UsageType like '%ml.inf%' or charges.x_UsageType like '%:dl%' or charges.x_UsageType like '%GPU%'
        or charges.x_UsageType like '%gpu%' or charges.x_UsageType like '%TPU%' or charges.x_UsageType like '%Tpu%'
        or charges.x_UsageType like '%tpu%' or charges.x_UsageType like '%Nvidia%'
        or charges.x_UsageType like '%NVIDIA%' or charges.x_UsageType like '%RTX%'
        or charges.x_UsageType like '%-standard-%'
    )
    and charges.ChargeCategory in ('Usage', 'Credit', 'Adjustment') and charges.x_RowNumber > 0
    and (charges.ProviderName = 'AWS' or coalesce(charges.PublisherName, 'Google Cloud') = 'Google Cloud')
)

select priced.source, priced.billing_month, priced.charge_date,
    -- Cloud provider
    priced.provider,
    -- Payer, where a rule looks at it
    priced.billing_account_id,
    -- AWS usage account, GCP project
    priced.sub_account_id,
    -- Combination of tags; null without any
    priced.tag_set_id,
    -- Region code, where a rule looks at it
    priced.region_id,
    -- The provider's name of the service, where a rule looks at it
    priced.service_name,
    -- AWS product code, GCP service id
    priced.service_code,
    -- AWS usage type, description of a SKU of GCP
    priced.usage_type,
    -- Usage, Credit or Adjustment, where a rule looks at it
    priced.charge_category,
    -- Machine, job or endpoint, where a rule looks at it or containers share it
    priced.resource_id,
    -- on-demand, spot, committed (Savings Plan, reservation, committed use) or unused reservation
    priced.pricing,
    priced.billing_currency,
    -- Hours charged for; null where a unit is no time. Credits and corrections of cost are no hours
    case when count(priced.seconds) = count(*)
        then cast(cast(sum(priced.seconds) as double) / 3600 as decimal(24, 9)) end as hours,
    -- As billed
    sum(priced.billed_cost) as billed_cost,
    -- The same with commitments spread over the usage that they cover
    sum(priced.effective_cost) as effective_cost,
    -- Effective cost before promotional credits
    sum(priced.effective_cost - priced.promotional_credit) as cost_before_credits,
    -- The same at public prices
    sum(priced.list_cost) as list_cost
from priced
group by priced.source, priced.billing_month, priced.charge_date, priced.provider, priced.billing_account_id,
    priced.sub_account_id, priced.tag_set_id, priced.region_id, priced.service_name, priced.service_code,
    priced.usage_type, priced.charge_category, priced.resource_id, priced.pricing, priced.billing_currency
