-- Charges summed over what no later model tells apart, before anybody says who pays: what rules change, this does not.
-- grain: one row per day, kind of charge, sub-account, tag set and resource
-- key: billing_month, kind_number, charge_date, sub_account_id?, tag_set_id?, resource_id?
with charges as (select * from focus.cost_and_usage),
spread as (select * from core.cost_spread),
kinds as (select * from core.charge_kind),
numbered as (
    select charges.*, kinds.kind_number,
        charges.ChargeCategory = 'Purchase' and charges.CommitmentDiscountId is not null as is_commitment
    from charges
    inner join kinds
        on charges.x_Source = kinds.source and charges.x_BillingMonth = kinds.billing_month
        and charges.ProviderName is not distinct from kinds.provider
        and charges.BillingAccountId is not distinct from kinds.billing_account_id
        and charges.RegionId is not distinct from kinds.region_id
        and charges.ServiceName is not distinct from kinds.service_name
        and charges.ServiceCategory is not distinct from kinds.service_category
        and charges.ChargeCategory is not distinct from kinds.charge_category
        and charges.ChargeClass is not distinct from kinds.charge_class
        and charges.x_CreditKind is not distinct from kinds.credit_kind
        and (case when charges.CommitmentDiscountStatus = 'Unused' then 'Unused' end)
        is not distinct from kinds.commitment_discount_status
        and charges.InvoiceId is not distinct from kinds.invoice_id
        and charges.BillingCurrency is not distinct from kinds.billing_currency
)

select
    -- First day of the invoice month
    numbered.x_BillingMonth as billing_month,
    -- Number of core.charge_kind
    numbered.kind_number,
    -- Day on which the charge begins, or which its cost is spread over, UTC
    coalesce(spread.charge_date, cast(numbered.ChargePeriodStart as date)) as charge_date,
    -- AWS usage account, GCP project
    numbered.SubAccountId as sub_account_id,
    -- Its name, the last in the alphabet where there are several
    max(numbered.SubAccountName) as sub_account_name,
    -- Combination of tags and cost categories: core.tag_set lists them; null without any
    numbered.x_TagSetId as tag_set_id,
    -- The resource charged for; null where a charge has none
    numbered.ResourceId as resource_id,
    -- Name of the resource, the last in the alphabet where a day has several
    max(numbered.ResourceName) as resource_name,
    -- What the provider bills; ties to the invoice
    sum(case when spread.is_day then 0 else numbered.BilledCost end) as billed_cost,
    -- Cost with commitments spread over the usage that they cover; what is unused or prepaid, over time
    sum(coalesce(spread.effective_cost, numbered.EffectiveCost)) as effective_cost,
    -- Cost at public prices; usage under a commitment has one, so that the commitment's purchase counts nothing
    sum(case when spread.is_day then null when numbered.is_commitment then 0 else numbered.ListCost end) as list_cost,
    -- Cost at negotiated prices, before commitments
    sum(case when spread.is_day then null when numbered.is_commitment then 0 else numbered.ContractedCost end)
    as contracted_cost,
    -- Promotional credits within billed_cost; zero or negative
    coalesce(sum(case when spread.is_day then 0 else numbered.x_PromotionalCredit end), 0) as promotional_credit,
    -- Charges summed in this row
    count(case when spread.is_day then null else 1 end) as charge_rows
from numbered
left join spread on numbered.x_LoadId = spread.load_id and numbered.x_RowNumber = spread.charge_number
group by numbered.x_BillingMonth, numbered.kind_number,
    coalesce(spread.charge_date, cast(numbered.ChargePeriodStart as date)), numbered.SubAccountId, numbered.x_TagSetId,
    numbered.ResourceId
