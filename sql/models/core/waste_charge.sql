-- Charges that checks for waste look at, summed by day, resource and what attribution looks at, before it is known
-- whose they are; what nothing used of a commitment is there too. Notebooks stand by the hour where the export does.
-- grain: one row per day, accounts, resource, tag set, service, usage type, operation of machines and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, sub_account_id?, tag_set_id?, region_id?,
-- key: service_name?, charge_category?, resource_id?, commitment_id?, meaning_key?, operation?, hour_of_day?,
-- key: billing_currency
with charges as (select * from focus.cost_and_usage),
meanings as (select * from core.usage_meaning),
spread as (select * from core.cost_spread)

select charges.x_Source as source, charges.x_BillingMonth as billing_month,
    cast(charges.ChargePeriodStart as date) as charge_date, charges.ProviderName as provider,
    -- Payer: AWS management account, GCP billing account
    charges.BillingAccountId as billing_account_id,
    -- AWS usage account, GCP project
    charges.SubAccountId as sub_account_id,
    -- Combination of tags; null without any
    charges.x_TagSetId as tag_set_id,
    -- Region code
    charges.RegionId as region_id,
    -- The provider's name of the service
    charges.ServiceName as service_name,
    -- Usage, Credit or Adjustment
    charges.ChargeCategory as charge_category,
    -- The resource charged for
    charges.ResourceId as resource_id,
    -- Commitment that nothing used; null on usage
    cast(null as varchar) as commitment_id,
    -- Row of core.usage_meaning; null for what nothing used of a commitment
    meanings.meaning_key,
    -- AWS operation of machines, which tells operating systems apart
    case when meanings.meaning in ('machine', 'database') then charges.x_Operation end as operation,
    -- Hour of the day of notebooks, UTC; null on all else, and where a row is longer
    case when meanings.meaning = 'notebook_hours'
        and charges.ChargePeriodEnd <= charges.ChargePeriodStart + interval '1' hour
        then date_diff('hour', date_trunc('day', charges.ChargePeriodStart), charges.ChargePeriodStart)
    end as hour_of_day,
    -- ISO 4217 code of every amount on the row
    charges.BillingCurrency as billing_currency,
    -- In the unit that the provider prices it in: hours, gigabyte-months and so on
    sum(case when charges.ConsumedQuantity is not null
        then cast(charges.PricingQuantity as decimal(38, 9)) else 0 end) as quantity,
    -- Effective cost before promotional credits
    sum(charges.EffectiveCost - coalesce(charges.x_PromotionalCredit, 0)) as cost_before_credits,
    -- Part of it that a commitment pays
    sum(case when charges.PricingCategory = 'Committed'
        then charges.EffectiveCost - coalesce(charges.x_PromotionalCredit, 0) else 0 end) as covered_cost,
    -- Part of it that is charged on demand
    sum(case when charges.PricingCategory = 'Standard'
        then charges.EffectiveCost - coalesce(charges.x_PromotionalCredit, 0) else 0 end) as demand_cost,
    -- Cost at public prices
    sum(charges.ListCost) as list_cost
from charges
inner join meanings
    on charges.x_UsageType = meanings.usage_type and charges.ProviderName = meanings.provider
    and coalesce(charges.x_ServiceCode, '') = meanings.service_code
where charges.ChargeCategory in ('Usage', 'Credit', 'Adjustment')
    and charges.CommitmentDiscountStatus is distinct from 'Unused'
group by charges.x_Source, charges.x_BillingMonth, cast(charges.ChargePeriodStart as date), charges.ProviderName,
    charges.BillingAccountId, charges.SubAccountId, charges.x_TagSetId, charges.RegionId, charges.ServiceName,
    charges.ChargeCategory, charges.ResourceId, meanings.meaning_key,
    case when meanings.meaning in ('machine', 'database') then charges.x_Operation end,
    case when meanings.meaning = 'notebook_hours'
        and charges.ChargePeriodEnd <= charges.ChargePeriodStart + interval '1' hour
        then date_diff('hour', date_trunc('day', charges.ChargePeriodStart), charges.ChargePeriodStart)
    end,
    charges.BillingCurrency
union all
select charges.x_Source as source, charges.x_BillingMonth as billing_month,
    coalesce(spread.charge_date, cast(charges.ChargePeriodStart as date)) as charge_date,
    charges.ProviderName as provider, charges.BillingAccountId as billing_account_id,
    charges.SubAccountId as sub_account_id, charges.x_TagSetId as tag_set_id, charges.RegionId as region_id,
    charges.ServiceName as service_name, charges.ChargeCategory as charge_category, charges.ResourceId as resource_id,
    charges.CommitmentDiscountId as commitment_id, cast(null as bigint) as meaning_key,
    cast(null as varchar) as operation, cast(null as bigint) as hour_of_day,
    charges.BillingCurrency as billing_currency, cast(0 as decimal(38, 9)) as quantity,
    sum(coalesce(spread.effective_cost, charges.EffectiveCost)) as cost_before_credits,
    sum(coalesce(spread.effective_cost, charges.EffectiveCost)) as covered_cost,
    cast(0 as decimal(38, 12)) as demand_cost, cast(0 as decimal(38, 12)) as list_cost
from charges
left join spread on charges.x_LoadId = spread.load_id and charges.x_RowNumber = spread.charge_number
where charges.CommitmentDiscountId is not null and charges.CommitmentDiscountStatus = 'Unused'
group by charges.x_Source, charges.x_BillingMonth,
    coalesce(spread.charge_date, cast(charges.ChargePeriodStart as date)), charges.ProviderName,
    charges.BillingAccountId, charges.SubAccountId, charges.x_TagSetId, charges.RegionId, charges.ServiceName,
    charges.ChargeCategory, charges.ResourceId, charges.CommitmentDiscountId, charges.BillingCurrency
