-- The columns of FOCUS that follow from a part of a Cloud Billing export.
-- grain: one row per charge
-- key: x_RowNumber
-- Source: FOCUS 1.2; cost types and commitment fee SKUs after the Cloud Billing documentation.
with
    charges as (
        select
            part.* replace (
                coalesce("ContractedCost", "ListCost") as "ContractedCost",
                coalesce("EffectiveCost", "BilledCost") as "EffectiveCost",
                coalesce("x_CostType", 'regular') as "x_CostType"
            ),
            case
                when "x_RowNumber" < 0 then 'Usage'
                when "x_CostType" = 'tax' then 'Tax'
                when "x_CostType" = 'credit' then 'Credit'
                when "x_CostType" in ('adjustment', 'rounding_error') then 'Adjustment'
                when fee_kind is not null then 'Purchase'
                when regexp_matches("SkuMeter", '^Commitment( v\d+)?:|^Commitment - dollar based') then 'Purchase'
                when contains("ServiceName", 'Support') then 'Purchase'
                else 'Usage'
            end as "ChargeCategory",
            case when contains("SkuMeter", 'GPU') then regexp_extract("SkuMeter", '^(.*?)\s+GPU\b', 1) end as gpu_type,
            tagged."Tags",
            tagged.machine_type,
            tagged.cores,
            tagged.megabytes,
            tagged.reservation_name,
            tagged.reservation_project,
            tagged.is_unused_reservation,
        from part
        left join tagged using ("x_Source", "x_BillingMonth", "x_TagSetId")
    )

select
    * exclude (
        "ChargeDescription", "CommitmentDiscountQuantity", "ConsumedQuantity", "ConsumedUnit", "ContractedUnitPrice", "ListUnitPrice",
        "PricingCategory", "PricingQuantity", "PricingUnit", "PublisherName", "SkuId", "SkuMeter",
        machine_type, gpu_type, cores, megabytes, reservation_name, reservation_project, is_unused_reservation,
        tier_start_amount, fee_kind, spend_credit, resource_credit, offset_credit, fee_capacity, has_originating_sku, conversion_rate
    ),
    cast(null as varchar) as "BillingAccountName",
    'Billing Account' as "BillingAccountType",
    case
        when reservation_name is not null
        then
            'projects/' || coalesce(
                reservation_project,
                "SubAccountId",
                ''
            ) || '/reservations/' || reservation_name
    end as "CapacityReservationId",
    case
        when reservation_name is null or "ChargeCategory" <> 'Usage' then null
        when is_unused_reservation = 'true'
        then 'Unused'
        else 'Used'
    end as "CapacityReservationStatus",
    coalesce("ChargeDescription", "SkuMeter") as "ChargeDescription",
    case "ChargeCategory" when 'Usage' then 'Usage-Based' when 'Purchase' then 'Recurring' else 'One-Time' end
    as "ChargeFrequency",
    case
        when "CommitmentDiscountId" is null then null
        when fee_kind = 'resource' or resource_credit is not null then 'Usage'
        else 'Spend'
    end as "CommitmentDiscountCategory",
    cast(null as varchar) as "CommitmentDiscountName",
    case when "CommitmentDiscountId" is not null then "CommitmentDiscountQuantity" end as "CommitmentDiscountQuantity",
    case
        when "CommitmentDiscountId" is not null and "ChargeCategory" = 'Usage'
        then case when "x_RowNumber" < 0 then 'Unused' else 'Used' end
    end as "CommitmentDiscountStatus",
    case when "CommitmentDiscountId" is not null then 'Committed Use Discount' end as "CommitmentDiscountType",
    case
        when "CommitmentDiscountId" is null or "CommitmentDiscountQuantity" is null then null
        when fee_kind = 'resource' or resource_credit is not null then coalesce(focus.gcp_unit("ConsumedUnit"), 'Units')
        else "BillingCurrency"
    end as "CommitmentDiscountUnit",
    case when "ChargeCategory" = 'Usage' and "x_RowNumber" > 0 then "ConsumedQuantity" end as "ConsumedQuantity",
    case when "ChargeCategory" = 'Usage' and "x_RowNumber" > 0 then focus.gcp_unit("ConsumedUnit") end as "ConsumedUnit",
    case
        when "ChargeCategory" in ('Usage', 'Purchase')
        then
            focus.unit_price("ContractedUnitPrice", "ContractedCost", coalesce(nullif("PricingQuantity", 0), 1))
    end as "ContractedUnitPrice",
    cast(null as varchar) as "InvoiceId",
    'Google Cloud' as "InvoiceIssuerName",
    case
        when "ChargeCategory" in ('Usage', 'Purchase')
        then
            focus.unit_price("ListUnitPrice", "ListCost", coalesce(nullif("PricingQuantity", 0), 1))
    end as "ListUnitPrice",
    case
        when "ChargeCategory" = 'Usage'
        then case when "x_RowNumber" < 0 then 'Committed' else coalesce("PricingCategory", 'Standard') end
        when "ChargeCategory" = 'Purchase' then 'Standard'
    end as "PricingCategory",
    case when conversion_rate is not null then 'USD' else "BillingCurrency" end as "PricingCurrency",
    cast(null as decimal(38, 12)) as "PricingCurrencyContractedUnitPrice",
    case
        when conversion_rate is null then "EffectiveCost"
        else try_cast(cast("EffectiveCost" as double) / nullif(conversion_rate, 0) as decimal(38, 12))
    end as "PricingCurrencyEffectiveCost",
    cast(null as decimal(38, 12)) as "PricingCurrencyListUnitPrice",
    case when "ChargeCategory" in ('Usage', 'Purchase') then coalesce(nullif("PricingQuantity", 0), 1) end
    as "PricingQuantity",
    case
        when "ChargeCategory" not in ('Usage', 'Purchase') then null
        when coalesce("PricingQuantity", 0) = 0 then 'Units'
        else coalesce(focus.gcp_unit("PricingUnit"), 'Units')
    end as "PricingUnit",
    'Google Cloud' as "ProviderName",
    coalesce("PublisherName", 'Google Cloud') as "PublisherName",
    focus.gcp_region_name("RegionId") as "RegionName",
    nullif(regexp_extract("ResourceId", '/([a-zA-Z]+)/[^/]+$', 1), '') as "ResourceType",
    focus.gcp_service_category("ServiceName") as "ServiceCategory",
    focus.gcp_service_subcategory("ServiceName") as "ServiceSubcategory",
    case when "ChargeCategory" in ('Usage', 'Purchase') then "SkuId" end as "SkuId",
    case when "ChargeCategory" in ('Usage', 'Purchase') then "SkuMeter" end as "SkuMeter",
    case
        when machine_type is not null or gpu_type is not null
        then
            cast(
                json_object(
                    'InstanceType', machine_type,
                    'CoreCount',
                    try_cast(cores as integer),
                    'MemorySize',
                    try_cast(megabytes as double) / 1024,
                    'x_MemoryMegabytes',
                    try_cast(megabytes as double),
                    'GpuCount', focus.gcp_gpu_count(machine_type),
                    'x_GpuType', gpu_type
                ) as varchar
            )
    end as "SkuPriceDetails",
    case
        when "ChargeCategory" in ('Usage', 'Purchase')
        then "SkuId" || '/' || coalesce(regexp_replace(cast(tier_start_amount as varchar), '\.0$', ''), '0')
    end as "SkuPriceId",
    case when "SubAccountId" is not null then 'Project' end as "SubAccountType",
    case when "x_RowNumber" < 0 then 0 else "BilledCost" end as "x_EffectiveCostProvider",
    cast(null as varchar) as "x_LineItemType",
    cast(null as varchar) as "x_Operation",
    "SkuMeter" as "x_UsageType",
    cast(null as varchar) as "x_InvoicingEntity",
    cast(null as decimal(38, 12)) as "x_NetUnblendedCost",
    case
        when "x_CostType" = 'credit' then 'promotional'
        when "x_CostType" = 'adjustment' and "BilledCost" < 0 then 'refund'
    end as "x_CreditKind",
    -- Google's invoice months begin at midnight in California, daylight saving included.
    ("BillingPeriodStart" at time zone 'America/Los_Angeles') at time zone 'UTC' as "x_InvoicePeriodStart",
    ("BillingPeriodEnd" at time zone 'America/Los_Angeles') at time zone 'UTC' as "x_InvoicePeriodEnd",
    cast(null as varchar) as "x_Discounts",
    cast(null as varchar) as "x_CostCategories",
    cast(null as varchar) as "x_ProviderNameDelivered",
    cast(null as varchar) as "x_InvoiceIssuerNameDelivered",
from charges
