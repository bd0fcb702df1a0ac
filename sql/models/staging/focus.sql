-- A FOCUS export, 1.0 to 1.2, as the stored columns of a part: gaps filled, provider names normalised.
-- grain: one row per delivered row
-- key: x_RowNumber
-- Source: FOCUS 1.2, Cost and Usage; columns that 1.0 lacks are null or follow from others.
with
    charges as (
        select
            *,
            case lower("ChargeCategory")
                when 'usage' then 'Usage'
                when 'purchase' then 'Purchase'
                when 'tax' then 'Tax'
                when 'credit' then 'Credit'
                else 'Adjustment'
            end as charge_category,
        from landed
    )

select
    row_number as "x_RowNumber",
    "AvailabilityZone",
    coalesce("BilledCost", 0) as "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    coalesce("BillingAccountType", 'BillingAccount') as "BillingAccountType",
    coalesce("BillingCurrency", getvariable('default_currency')) as "BillingCurrency",
    "CapacityReservationId",
    "CapacityReservationStatus",
    charge_category as "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    case lower("ChargeFrequency")
        when 'usage-based' then 'Usage-Based'
        when 'recurring' then 'Recurring'
        when 'one-time' then 'One-Time'
        else case when charge_category = 'Usage' then 'Usage-Based' else 'One-Time' end
    end as "ChargeFrequency",
    coalesce("ChargePeriodEnd", getvariable('next_billing_month')) as "ChargePeriodEnd",
    coalesce("ChargePeriodStart", getvariable('billing_month')) as "ChargePeriodStart",
    "CommitmentDiscountCategory",
    "CommitmentDiscountId",
    "CommitmentDiscountName",
    "CommitmentDiscountQuantity",
    "CommitmentDiscountStatus",
    "CommitmentDiscountType",
    "CommitmentDiscountUnit",
    "ConsumedQuantity",
    "ConsumedUnit",
    coalesce("ContractedCost", "BilledCost", 0) as "ContractedCost",
    "ContractedUnitPrice",
    coalesce("EffectiveCost", "BilledCost", 0) as "EffectiveCost",
    "InvoiceId",
    focus.provider_name(coalesce("InvoiceIssuerName", "ProviderName")) as "InvoiceIssuerName",
    coalesce("ListCost", "ContractedCost", "BilledCost", 0) as "ListCost",
    "ListUnitPrice",
    "PricingCategory",
    "PricingCurrency",
    "PricingCurrencyContractedUnitPrice",
    "PricingCurrencyEffectiveCost",
    "PricingCurrencyListUnitPrice",
    "PricingQuantity",
    "PricingUnit",
    focus.provider_name("ProviderName") as "ProviderName",
    coalesce("PublisherName", focus.provider_name("ProviderName")) as "PublisherName",
    "RegionId",
    case when "RegionId" is not null then coalesce("RegionName", "RegionId") end as "RegionName",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    coalesce("ServiceCategory", 'Other') as "ServiceCategory",
    coalesce("ServiceName", 'Unknown') as "ServiceName",
    coalesce("ServiceSubcategory", 'Other (' || coalesce("ServiceCategory", 'Other') || ')') as "ServiceSubcategory",
    "SkuId",
    "SkuMeter",
    "SkuPriceDetails",
    "SkuPriceId",
    "SubAccountId",
    "SubAccountName",
    coalesce("SubAccountType", case when "SubAccountId" is not null then 'SubAccount' end) as "SubAccountType",
    nullif("Tags", '{}') as "Tags",
    tag_set_id(nullif("Tags", '{}'), nullif("x_CostCategories", '{}')) as "x_TagSetId",
    "x_Operation",
    "x_UsageType",
    "x_ServiceCode",
    "x_Discounts",
    nullif("x_CostCategories", '{}') as "x_CostCategories",
    "x_Credits",
    "x_ExportTime",
    "ProviderName" as "x_ProviderNameDelivered",
    "InvoiceIssuerName" as "x_InvoiceIssuerNameDelivered",
    cast(null as varchar) as "x_LineItemType",
    cast(null as varchar) as "x_CostType",
    coalesce("InvoiceIssuerName", "ProviderName") as "x_InvoicingEntity",
    coalesce("BilledCost", 0) as "x_UnblendedCost",
    cast(null as decimal(38, 12)) as "x_NetUnblendedCost",
    -- FOCUS does not tell a grant from a refund: its words do.
    case
        when charge_category = 'Credit' and not contains(lower(coalesce("ChargeDescription", '')), 'refund')
        then least(coalesce("BilledCost", 0), 0)
        else 0
    end as "x_PromotionalCredit",
    case
        when charge_category = 'Credit' and not contains(lower(coalesce("ChargeDescription", '')), 'refund')
        then 'promotional'
        when charge_category in ('Credit', 'Adjustment') and contains(lower("ChargeDescription"), 'refund')
        then 'refund'
    end as "x_CreditKind",
    getvariable('billing_month') as "x_InvoicePeriodStart",
    getvariable('next_billing_month') as "x_InvoicePeriodEnd",
    cast(null as varchar) as "x_ProjectNumber",
    cast(null as varchar) as "x_ProjectAncestors",
from charges
