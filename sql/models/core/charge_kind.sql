-- Kinds of charges of a month: of each charge what takes few values. Their number stands for all of it while charges
-- are summed, which takes half the time.
-- grain: one row per combination of payer, region, service, kind of charge, invoice and currency
-- key: billing_month, kind_number
with charges as (select * from focus.cost_and_usage),
kinds as (
    select distinct charges.x_Source as source, charges.x_BillingMonth as billing_month,
        charges.ProviderName as provider, charges.BillingAccountId as billing_account_id,
        charges.RegionId as region_id, charges.ServiceName as service_name,
        charges.ServiceCategory as service_category, charges.ChargeCategory as charge_category,
        charges.ChargeClass as charge_class, charges.x_CreditKind as credit_kind,
        case when charges.CommitmentDiscountStatus = 'Unused' then 'Unused' end as commitment_discount_status,
        charges.InvoiceId as invoice_id, charges.BillingCurrency as billing_currency
    from charges
)

select
    -- The [[source]] of the configuration that delivered the charges
    kinds.source,
    -- First day of the invoice month
    kinds.billing_month,
    -- Number of the kind within the month
    row_number() over (
        order by kinds.source, kinds.provider, kinds.billing_account_id, kinds.region_id, kinds.service_name,
            kinds.service_category, kinds.charge_category, kinds.charge_class, kinds.credit_kind,
            kinds.commitment_discount_status, kinds.invoice_id, kinds.billing_currency
    ) as kind_number,
    -- Cloud provider
    kinds.provider,
    -- Payer: AWS management account, GCP billing account
    kinds.billing_account_id,
    -- Region
    kinds.region_id,
    -- The provider's name of the service
    kinds.service_name,
    -- FOCUS category of the service
    kinds.service_category,
    -- Usage, Purchase, Tax, Credit or Adjustment
    kinds.charge_category,
    -- Correction where the charge corrects an already invoiced month, else null
    kinds.charge_class,
    -- promotional, negotiated or refund, on charges that are one; else null
    kinds.credit_kind,
    -- Unused where the charge is what nothing used of a commitment, else null
    kinds.commitment_discount_status,
    -- Invoice that carries the charge; null until it is issued
    kinds.invoice_id,
    -- ISO 4217 code of every amount on the row
    kinds.billing_currency
from kinds
