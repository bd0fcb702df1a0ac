-- The columns of FOCUS that follow from a part of AWS's Cost and Usage Report.
-- grain: one row per charge
-- key: x_RowNumber
-- Source: FOCUS 1.2; line item types after the AWS CUR data dictionary.
with
    charges as (
        select
            part.*,
            tagged."Tags",
            tagged."x_CostCategories",
            tagged."ResourceName",
            case
                when "x_LineItemType" in ('Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage') then 'Usage'
                when "x_LineItemType" in ('RIFee', 'SavingsPlanRecurringFee') and "x_RowNumber" < 0 then 'Usage'
                when "x_LineItemType" in (
                    'RIFee', 'SavingsPlanRecurringFee', 'SavingsPlanUpfrontFee', 'Fee', 'OtherOutOfCycleCharges',
                    'FlatRateSubscription'
                ) then 'Purchase'
                when "x_LineItemType" = 'Tax' then 'Tax'
                when "x_LineItemType" = 'Credit' or focus.aws_is_discount("x_LineItemType") then 'Credit'
                when "x_LineItemType" in ('Refund', 'SavingsPlanNegation') then 'Adjustment'
                when "x_UsageType" is not null then 'Usage'
                else 'Adjustment'
            end as "ChargeCategory",
        from part
        left join tagged using ("x_Source", "x_BillingMonth", "x_TagSetId")
    )

select
    * exclude (
        "PublisherName", "PricingQuantity", "PricingUnit", "ListUnitPrice", "ChargeDescription", "PricingCurrency", "SkuPriceDetails",
        unused_cost, unused_quantity, commitment_end, amortised_upfront_cost, term_start, term_end
    ),
    'BillingAccount' as "BillingAccountType",
    coalesce("ChargeDescription", "x_UsageType", "x_LineItemType") as "ChargeDescription",
    case
        when "ChargeCategory" = 'Usage' then 'Usage-Based'
        when "x_LineItemType" in ('RIFee', 'SavingsPlanRecurringFee', 'FlatRateSubscription') then 'Recurring'
        else 'One-Time'
    end as "ChargeFrequency",
    case
        when "CommitmentDiscountId" is null then null
        when contains("CommitmentDiscountId", ':savingsplan/') then 'Spend'
        else 'Usage'
    end as "CommitmentDiscountCategory",
    cast(null as varchar) as "CommitmentDiscountName",
    case
        when "CommitmentDiscountId" is not null and "ChargeCategory" = 'Usage'
        then case when "x_RowNumber" < 0 then 'Unused' else 'Used' end
    end as "CommitmentDiscountStatus",
    case
        when "CommitmentDiscountId" is null then null
        when contains("CommitmentDiscountId", ':savingsplan/') then 'Savings Plan'
        else 'Reserved Instance'
    end as "CommitmentDiscountType",
    case
        when "CommitmentDiscountQuantity" is null then null
        when contains("CommitmentDiscountId", ':savingsplan/') then "BillingCurrency"
        else 'Hours'
    end as "CommitmentDiscountUnit",
    case when "ChargeCategory" = 'Usage' and "x_RowNumber" > 0 then "PricingQuantity" end as "ConsumedQuantity",
    case
        when "ChargeCategory" = 'Usage' and "x_RowNumber" > 0 then coalesce(focus.aws_unit("PricingUnit"), 'Units')
    end as "ConsumedUnit",
    case
        when "ChargeCategory" in ('Usage', 'Purchase')
        then
            try_cast(
                cast("ContractedCost" as double) / coalesce(nullif("PricingQuantity", 0), 1) as decimal(38, 12)
            )
    end as "ContractedUnitPrice",
    'AWS' as "InvoiceIssuerName",
    case
        when "ChargeCategory" in ('Usage', 'Purchase')
        then
            focus.unit_price("ListUnitPrice", "ListCost", coalesce(nullif("PricingQuantity", 0), 1))
    end as "ListUnitPrice",
    case
        when "ChargeCategory" not in ('Usage', 'Purchase') then null
        when "x_LineItemType" in ('DiscountedUsage', 'SavingsPlanCoveredUsage') then 'Committed'
        when "ChargeCategory" = 'Usage' and "x_RowNumber" < 0 then 'Committed'
        when "ChargeCategory" = 'Usage' and contains("x_UsageType", 'Spot') then 'Dynamic'
        else 'Standard'
    end as "PricingCategory",
    coalesce("PricingCurrency", "BillingCurrency") as "PricingCurrency",
    cast(null as decimal(38, 12)) as "PricingCurrencyContractedUnitPrice",
    case when coalesce("PricingCurrency", "BillingCurrency") = "BillingCurrency" then "EffectiveCost" end
    as "PricingCurrencyEffectiveCost",
    cast(null as decimal(38, 12)) as "PricingCurrencyListUnitPrice",
    case when "ChargeCategory" in ('Usage', 'Purchase') then coalesce(nullif("PricingQuantity", 0), 1) end
    as "PricingQuantity",
    case
        when "ChargeCategory" not in ('Usage', 'Purchase') then null
        when "PricingUnit" is null or coalesce("PricingQuantity", 0) = 0 then 'Units'
        else focus.aws_unit("PricingUnit")
    end as "PricingUnit",
    'AWS' as "ProviderName",
    coalesce("PublisherName", 'Amazon Web Services, Inc.') as "PublisherName",
    focus.aws_region_name("RegionId") as "RegionName",
    case
        when starts_with("ResourceId", 'arn:')
        then split_part("ResourceId", ':', 3) || ':' || split_part(split_part("ResourceId", ':', 6), '/', 1)
        when "ResourceId" is not null
        then
            coalesce(
                nullif(regexp_extract("ResourceId", '^(i|vol|eni|snap|nat|ami|vpc|igw|eipalloc)-', 1), ''),
                case "x_ServiceCode" when 'AmazonS3' then 'bucket' else "x_ServiceCode" end,
                'Resource'
            )
    end as "ResourceType",
    focus.aws_service_category("x_ServiceCode", "ServiceName") as "ServiceCategory",
    focus.aws_service_subcategory("x_ServiceCode", "ServiceName") as "ServiceSubcategory",
    case when "SkuId" is not null then "x_UsageType" end as "SkuMeter",
    case when "SkuPriceId" is not null then "SkuPriceDetails" end as "SkuPriceDetails",
    case when "SubAccountId" is not null then 'Account' end as "SubAccountType",
    cast(null as varchar) as "x_CostType",
    case when "x_LineItemType" = 'Credit' then least("BilledCost", 0) else 0 end as "x_PromotionalCredit",
    case
        when "x_LineItemType" = 'Credit' then 'promotional'
        when "x_LineItemType" = 'Refund' and "EffectiveCost" = 0 and "BilledCost" <> 0 then 'purchase refund'
        when "x_LineItemType" = 'Refund' then 'refund'
        when "ChargeCategory" = 'Credit' then 'negotiated'
    end as "x_CreditKind",
    "BillingPeriodStart" as "x_InvoicePeriodStart",
    "BillingPeriodEnd" as "x_InvoicePeriodEnd",
    cast(null as varchar) as "x_Credits",
    cast(null as varchar) as "x_ProjectNumber",
    cast(null as varchar) as "x_ProjectAncestors",
    cast(null as timestamp) as "x_ExportTime",
    cast(null as decimal(38, 12)) as "x_EffectiveCostProvider",
    cast(null as boolean) as "x_UnusedKnown",
    cast(null as varchar) as "x_InheritedTags",
    cast(null as varchar) as "x_ProviderNameDelivered",
    cast(null as varchar) as "x_InvoiceIssuerNameDelivered",
from charges
