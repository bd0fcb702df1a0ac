-- Charges with who pays for them, summed over what no later model tells apart: what every mart is made of. Charges of
-- machines that ran containers are shared among those; charges are counted on the machine.
-- grain: one row per day, accounts, resource, tag set, service, kind of charge, invoice and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, sub_account_id?, tag_set_id?,
-- key: resource_id?, parent_resource_id?, region_id?, service_name?, service_category?, charge_category?,
-- key: charge_class?, credit_kind?, commitment_discount_status?, invoice_id?, billing_currency
with charges as (select * from focus.cost_and_usage),
shared as (select * from core.split_charge),
spread as (select * from core.cost_spread),
attribution as (select * from core.attribution),
used as (select * from core.inputs_used),
parents as (
    select distinct shared.source, shared.billing_month, shared.charge_date, shared.billing_currency,
        shared.parent_resource_id from shared where shared.parent_resource_id is not null
),
whole as (
    select charges.x_Source as source, charges.x_BillingMonth as billing_month,
        coalesce(spread.charge_date, cast(charges.ChargePeriodStart as date)) as charge_date,
        charges.ProviderName as provider, charges.BillingAccountId as billing_account_id,
        charges.SubAccountId as sub_account_id, charges.x_TagSetId as tag_set_id, charges.ResourceId as resource_id,
        cast(null as varchar) as parent_resource_id, charges.RegionId as region_id, charges.ServiceName as service_name,
        charges.ServiceCategory as service_category, charges.ChargeCategory as charge_category,
        charges.ChargeClass as charge_class, charges.x_CreditKind as credit_kind,
        case when charges.CommitmentDiscountStatus = 'Unused' then 'Unused' end as commitment_discount_status,
        charges.InvoiceId as invoice_id, charges.BillingCurrency as billing_currency,
        max(charges.ResourceName) as resource_name,
        sum(case when spread.is_day then 0 else charges.BilledCost end) as billed_cost,
        sum(coalesce(spread.effective_cost, charges.EffectiveCost)) as effective_cost,
        sum(case when spread.is_day then null when charges.ChargeCategory = 'Purchase'
            and charges.CommitmentDiscountId is not null then 0 else charges.ListCost end) as list_cost,
        sum(case when spread.is_day then null when charges.ChargeCategory = 'Purchase'
            and charges.CommitmentDiscountId is not null then 0 else charges.ContractedCost end) as contracted_cost,
        coalesce(sum(case when spread.is_day then 0 else charges.x_PromotionalCredit end), 0) as promotional_credit,
        count(case when spread.is_day then null else 1 end) as charge_rows
    from charges left join spread on charges.x_LoadId = spread.load_id and charges.x_RowNumber = spread.charge_number
    group by charges.x_Source, charges.x_BillingMonth,
        coalesce(spread.charge_date, cast(charges.ChargePeriodStart as date)), charges.ProviderName,
        charges.BillingAccountId, charges.SubAccountId, charges.x_TagSetId, charges.ResourceId, charges.RegionId,
        charges.ServiceName, charges.ServiceCategory, charges.ChargeCategory, charges.ChargeClass,
        charges.x_CreditKind, case when charges.CommitmentDiscountStatus = 'Unused' then 'Unused' end,
        charges.InvoiceId, charges.BillingCurrency
),
summed as (
    select whole.* from whole left join parents
        on whole.source = parents.source and whole.billing_month = parents.billing_month
        and whole.charge_date = parents.charge_date and whole.billing_currency = parents.billing_currency
        and whole.resource_id = parents.parent_resource_id
    where parents.parent_resource_id is null
    union all
    select shared.* from shared
)

select
    summed.source, summed.billing_month,
    -- Day on which the charge begins, or which its cost is spread over, UTC
    summed.charge_date,
    -- Cloud provider
    summed.provider,
    -- Payer: AWS management account, GCP billing account
    summed.billing_account_id,
    summed.sub_account_id, attribution.sub_account_name, summed.tag_set_id, attribution.project, attribution.team,
    attribution.environment, attribution.workload, attribution.cost_centre, attribution.gl_account,
    attribution.combination_number,
    -- The resource charged for, or the container that bears a part of the charge; null where a charge has none
    summed.resource_id,
    -- Machine whose charge the container bears a part of; null otherwise
    summed.parent_resource_id,
    -- Name of the resource, the last in the alphabet where a day has several
    summed.resource_name, summed.region_id, summed.service_name, summed.service_category, summed.charge_category,
    summed.charge_class, summed.credit_kind,
    -- Unused where the charge is what nothing used of a commitment, else null
    summed.commitment_discount_status, summed.invoice_id,
    -- ISO 4217 code of every amount on the row
    summed.billing_currency,
    -- What the provider bills; ties to the invoice
    summed.billed_cost,
    -- Cost with commitments spread over the usage that they cover; what is unused or prepaid, over time
    summed.effective_cost,
    -- Effective cost before promotional credits
    summed.effective_cost - summed.promotional_credit as cost_before_credits,
    -- Cost at public prices; usage under a commitment has one, so that the commitment's purchase counts nothing
    summed.list_cost,
    -- Cost at negotiated prices, before commitments
    summed.contracted_cost,
    -- Promotional credits within billed_cost; zero or negative
    summed.promotional_credit,
    -- Charges summed in this row; 0 for a container, whose machine's row counts them
    summed.charge_rows
from summed
inner join used on summed.billing_month = used.billing_month
inner join attribution
    on summed.source = attribution.source and summed.billing_month = attribution.billing_month
    and summed.tag_set_id is not distinct from attribution.tag_set_id
    and summed.sub_account_id is not distinct from attribution.sub_account_id
    and attribution.provider is not distinct from case when used.uses_provider then summed.provider end
    and attribution.billing_account_id is not distinct from case when used.uses_payer then summed.billing_account_id end
    and attribution.region_id is not distinct from case when used.uses_region then summed.region_id end
    and attribution.service_name is not distinct from case when used.uses_service then summed.service_name end
    and attribution.charge_category is not distinct from case when used.uses_category then summed.charge_category end
    and attribution.resource_id is not distinct from case when used.uses_resource then summed.resource_id end
