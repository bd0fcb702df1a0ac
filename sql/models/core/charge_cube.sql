-- Charges with project and team, summed over what no later model tells apart: what every mart is made of.
-- grain: one row per day, accounts, resource, tag set, service, kind of charge, invoice and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, sub_account_id?, tag_set_id?,
-- key: resource_id?, region_id?, service_name?, service_category?, charge_category?, charge_class?,
-- key: credit_kind?, invoice_id?, billing_currency
with charges as (select * from focus.cost_and_usage),
attribution as (select * from core.attribution),
spread as (select * from core.cost_spread),
-- Every charge, and what of the effective cost of some moves between days.
entries as (
    select charges.x_Source as source, charges.x_BillingMonth as billing_month,
        cast(charges.ChargePeriodStart as date) as charge_date, charges.ProviderName as provider,
        charges.BillingAccountId as billing_account_id, charges.SubAccountId as sub_account_id,
        charges.x_TagSetId as tag_set_id, charges.ResourceId as resource_id,
        charges.RegionId as region_id, charges.ServiceName as service_name,
        charges.ServiceCategory as service_category, charges.ChargeCategory as charge_category,
        charges.ChargeClass as charge_class, charges.x_CreditKind as credit_kind, charges.InvoiceId as invoice_id,
        charges.BillingCurrency as billing_currency, charges.ResourceName as resource_name,
        charges.BilledCost as billed_cost, charges.EffectiveCost as effective_cost, charges.ListCost as list_cost,
        charges.ContractedCost as contracted_cost, charges.x_PromotionalCredit as promotional_credit, 1 as charge_rows
    from charges
    union all
    select charges.x_Source as source, charges.x_BillingMonth as billing_month,
        spread.charge_date as charge_date, charges.ProviderName as provider,
        charges.BillingAccountId as billing_account_id, charges.SubAccountId as sub_account_id,
        charges.x_TagSetId as tag_set_id, charges.ResourceId as resource_id,
        charges.RegionId as region_id, charges.ServiceName as service_name,
        charges.ServiceCategory as service_category, charges.ChargeCategory as charge_category,
        charges.ChargeClass as charge_class, charges.x_CreditKind as credit_kind, charges.InvoiceId as invoice_id,
        charges.BillingCurrency as billing_currency, charges.ResourceName as resource_name,
        0 as billed_cost, spread.effective_cost, null as list_cost, null as contracted_cost, 0 as promotional_credit, 0
    from spread
    inner join charges on spread.load_id = charges.x_LoadId and spread.charge_number = charges.x_RowNumber
),
summed as (
    select entries.source, entries.billing_month, entries.charge_date, entries.provider, entries.billing_account_id,
        entries.sub_account_id, entries.tag_set_id, entries.resource_id, entries.region_id, entries.service_name,
        entries.service_category, entries.charge_category, entries.charge_class, entries.credit_kind,
        entries.invoice_id, entries.billing_currency,
        max(entries.resource_name) as resource_name, sum(entries.billed_cost) as billed_cost,
        sum(entries.effective_cost) as effective_cost, sum(entries.list_cost) as list_cost,
        sum(entries.contracted_cost) as contracted_cost,
        coalesce(sum(entries.promotional_credit), 0) as promotional_credit, sum(entries.charge_rows) as charge_rows
    from entries
    group by entries.source, entries.billing_month, entries.charge_date, entries.provider, entries.billing_account_id,
        entries.sub_account_id, entries.tag_set_id, entries.resource_id, entries.region_id, entries.service_name,
        entries.service_category, entries.charge_category, entries.charge_class, entries.credit_kind,
        entries.invoice_id, entries.billing_currency
)

select
    summed.source, summed.billing_month,
    -- Day on which the charge begins, UTC
    summed.charge_date,
    -- Cloud provider
    summed.provider,
    -- Payer: AWS management account, GCP billing account
    summed.billing_account_id,
    summed.sub_account_id, attribution.sub_account_name, summed.tag_set_id,
    attribution.project, attribution.team,
    -- The resource charged for; null where a charge has none
    summed.resource_id,
    -- Name of the resource, the last in the alphabet where a day has several
    summed.resource_name,
    -- Region code
    summed.region_id,
    -- The provider's name of the service
    summed.service_name,
    -- FOCUS category of the service
    summed.service_category,
    -- Usage, Purchase, Tax, Credit or Adjustment
    summed.charge_category,
    -- Correction where the charge corrects an already invoiced month, else null
    summed.charge_class,
    -- promotional, negotiated or refund, on charges that are one; else null
    summed.credit_kind,
    -- Invoice that carries the charge; null until it is issued
    summed.invoice_id,
    -- ISO 4217 code of every amount on the row
    summed.billing_currency,
    -- What the provider bills; ties to the invoice
    summed.billed_cost,
    -- Cost with commitments spread over the usage that they cover; what is unused or prepaid, over time
    summed.effective_cost,
    -- Effective cost before promotional credits
    summed.effective_cost - summed.promotional_credit as cost_before_credits,
    -- Cost at public prices
    summed.list_cost,
    -- Cost at negotiated prices, before commitments
    summed.contracted_cost,
    -- Promotional credits within billed_cost; zero or negative
    summed.promotional_credit,
    -- Charges summed in this row
    cast(summed.charge_rows as bigint) as charge_rows
from summed
inner join attribution
    on summed.source = attribution.source
    and summed.billing_month = attribution.billing_month
    and summed.tag_set_id is not distinct from attribution.tag_set_id
    and summed.sub_account_id is not distinct from attribution.sub_account_id
