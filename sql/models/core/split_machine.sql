-- Charges of machines that containers bear shares of, summed as core.charge_cube sums: a part is rounded on the sum of
-- which the rest stays with the machine.
-- grain: one row per day, accounts, machine, tag set, service, kind of charge, invoice and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, sub_account_id?, tag_set_id?, resource_id,
-- key: region_id?, service_name?, service_category?, charge_category?, charge_class?, credit_kind?, invoice_id?,
-- key: billing_currency
with shares as (select * from core.split_share),
charges as (select * from focus.cost_and_usage),
machines as (
    select distinct shares.source, shares.billing_month, shares.charge_date, shares.billing_currency,
        shares.parent_resource_id as resource_id
    from shares
)

select
    machines.source,
    machines.billing_month,
    machines.charge_date,
    -- Cloud provider
    charges.ProviderName as provider,
    -- Payer: AWS management account
    charges.BillingAccountId as billing_account_id,
    -- AWS usage account
    charges.SubAccountId as sub_account_id,
    -- Combination of tags and cost categories: core.tag_set lists them; null without any
    charges.x_TagSetId as tag_set_id,
    -- The machine
    machines.resource_id,
    -- Region code
    charges.RegionId as region_id,
    -- The provider's name of the service
    charges.ServiceName as service_name,
    -- FOCUS category of the service
    charges.ServiceCategory as service_category,
    -- Usage, Purchase, Tax, Credit or Adjustment
    charges.ChargeCategory as charge_category,
    -- Correction where the charge corrects an already invoiced month, else null
    charges.ChargeClass as charge_class,
    -- promotional, negotiated or refund, on charges that are one; else null
    charges.x_CreditKind as credit_kind,
    -- Invoice that carries the charge; null until it is issued
    charges.InvoiceId as invoice_id,
    machines.billing_currency,
    -- Name of the machine, the last in the alphabet where a day has several
    max(charges.ResourceName) as resource_name,
    -- What the provider bills
    cast(sum(charges.BilledCost) as decimal(24, 12)) as billed_cost,
    -- Cost with commitments spread over the usage that they cover
    cast(sum(charges.EffectiveCost) as decimal(24, 12)) as effective_cost,
    -- Cost at public prices
    cast(sum(charges.ListCost) as decimal(24, 12)) as list_cost,
    -- Cost at negotiated prices, before commitments
    cast(sum(charges.ContractedCost) as decimal(24, 12)) as contracted_cost,
    -- Promotional credits within billed_cost; zero or negative
    cast(coalesce(sum(charges.x_PromotionalCredit), 0) as decimal(24, 12)) as promotional_credit,
    -- Charges summed in this row
    count(*) as charge_rows
from charges
inner join machines
    on charges.x_Source = machines.source
    and charges.x_BillingMonth = machines.billing_month
    and cast(charges.ChargePeriodStart as date) = machines.charge_date
    and charges.BillingCurrency = machines.billing_currency
    and charges.ResourceId = machines.resource_id
group by machines.source, machines.billing_month, machines.charge_date, machines.billing_currency,
    machines.resource_id, charges.SubAccountId, charges.x_TagSetId, charges.ProviderName, charges.BillingAccountId,
    charges.RegionId, charges.ServiceName, charges.ServiceCategory, charges.ChargeCategory, charges.ChargeClass,
    charges.x_CreditKind, charges.InvoiceId
