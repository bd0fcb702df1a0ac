-- What each commitment cost in a month, what usage took of it, and how much usage could have: that of the SKUs that the
-- commitment covers, spot prices apart. Charges under a commitment that none names stand together.
-- grain: one row per source, month, billing account, commitment and currency
-- key: source, billing_month, billing_account_id?, commitment_discount_id, billing_currency?
with charges as (select * from focus.cost_and_usage),
marked as (
    select
        charges.x_Source as source, charges.x_BillingMonth as billing_month,
        charges.BillingAccountId as billing_account_id, charges.BillingCurrency as billing_currency,
        charges.ProviderName as provider, coalesce(charges.CommitmentDiscountId, '') as commitment_discount_id,
        charges.CommitmentDiscountCategory as commitment_category, charges.CommitmentDiscountType as commitment_type,
        charges.CommitmentDiscountUnit as commitment_unit,
        cast(charges.CommitmentDiscountQuantity as decimal(38, 9)) as quantity,
        coalesce(charges.SkuId, charges.x_UsageType, charges.ServiceName, '') as sku,
        charges.BilledCost as billed_cost, charges.EffectiveCost as effective_cost, charges.ListCost as list_cost,
        -- Where a fee is spread over a charge, what the charge is billed is what no commitment covers.
        case when charges.x_UnusedKnown is not null then charges.BilledCost else 0 end as uncovered_cost,
        case when charges.x_UnusedKnown = false then 1 else 0 end as is_unknown,
        case
            when charges.ChargeCategory = 'Purchase' then 'purchase'
            when charges.CommitmentDiscountStatus = 'Unused' or charges.x_RowNumber < 0 then 'unused'
            when charges.CommitmentDiscountId is not null or charges.x_UnusedKnown is not null
                or charges.PricingCategory = 'Committed' then 'used'
            else 'demand'
        end as part
    from charges
    where charges.ChargeCategory in ('Usage', 'Purchase') and coalesce(charges.PricingCategory, '') <> 'Dynamic'
        and (charges.ChargeCategory = 'Usage' or charges.CommitmentDiscountId is not null
            or charges.x_UnusedKnown is not null
            or charges.x_LineItemType in ('RIFee', 'SavingsPlanRecurringFee', 'SavingsPlanUpfrontFee'))
),
skus as (
    select
        marked.source, marked.billing_month, marked.billing_account_id, marked.billing_currency,
        marked.commitment_discount_id, marked.sku, marked.part, min(marked.provider) as provider,
        min(marked.commitment_category) as commitment_category, min(marked.commitment_type) as commitment_type,
        min(marked.commitment_unit) as least_unit, max(marked.commitment_unit) as greatest_unit,
        sum(marked.quantity) as quantity, sum(marked.billed_cost) as billed_cost,
        sum(marked.effective_cost) as effective_cost, sum(marked.list_cost) as list_cost,
        sum(marked.uncovered_cost) as uncovered_cost, max(marked.is_unknown) as is_unknown
    from marked
    group by marked.source, marked.billing_month, marked.billing_account_id, marked.billing_currency,
        marked.commitment_discount_id, marked.sku, marked.part
),
eligible as (
    select skus.source, skus.billing_month, skus.billing_account_id, skus.billing_currency, skus.sku,
        sum(skus.list_cost) as eligible_list_cost
    from skus
    where skus.part in ('used', 'demand')
    group by skus.source, skus.billing_month, skus.billing_account_id, skus.billing_currency, skus.sku
)

select
    -- Source that delivered the charges
    skus.source,
    -- First day of the invoice month
    skus.billing_month,
    -- Payer
    skus.billing_account_id,
    -- Savings Plan, reservation or committed use discount; empty for charges that name none
    skus.commitment_discount_id,
    -- ISO 4217 code of every cost on the row
    skus.billing_currency,
    -- ProviderName
    min(skus.provider) as provider,
    -- Spend or Usage
    min(skus.commitment_category) as commitment_category,
    -- The provider's name for this kind of commitment
    min(skus.commitment_type) as commitment_type,
    -- Fees and upfront payments, as billed
    sum(case when skus.part = 'purchase' then skus.billed_cost else 0 end) as purchase_cost,
    -- Effective cost of the usage that it covers, what of it is billed besides left out
    sum(case when skus.part = 'used' then skus.effective_cost - skus.uncovered_cost else 0 end) as used_cost,
    -- Effective cost of what no usage took
    sum(case when skus.part = 'unused' then skus.effective_cost else 0 end) as unused_cost,
    -- The same usage at public prices
    sum(case when skus.part = 'used' then skus.list_cost - skus.uncovered_cost else 0 end) as covered_list_cost,
    -- All usage of the SKUs that it covers, at public prices
    sum(case when skus.part = 'used' then eligible.eligible_list_cost else 0 end) as eligible_list_cost,
    -- Unit of the quantities; null where there are several
    case when min(skus.least_unit) = max(skus.greatest_unit) then min(skus.least_unit) end as commitment_unit,
    -- Amount of it that usage took
    sum(case when skus.part = 'used' then skus.quantity end) as used_quantity,
    -- Amount that none took
    sum(case when skus.part = 'unused' then skus.quantity end) as unused_quantity,
    -- Whether it is known what is unused
    max(skus.is_unknown) = 0 as is_unused_known
from skus
left join eligible
    on skus.source = eligible.source and skus.billing_month = eligible.billing_month and skus.sku = eligible.sku
    and skus.billing_account_id = eligible.billing_account_id and skus.billing_currency = eligible.billing_currency
where skus.part <> 'demand'
group by skus.source, skus.billing_month, skus.billing_account_id, skus.billing_currency, skus.commitment_discount_id
