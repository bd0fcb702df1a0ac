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
            focus.provider_name("ProviderName") = 'Google Cloud' as is_google,
            case when focus.provider_name("ProviderName") = 'Google Cloud' then 'America/Los_Angeles' else 'UTC' end
            as invoice_zone,
            -- Google's own export has lists instead of Tags and without a category of the service.
            private_tags(
                coalesce(
                    nullif("Tags", '{}'),
                    gcp_tags(
                        gcp_list_of_focus("x_Tags"),
                        gcp_list_of_focus("x_Labels"),
                        gcp_list_of_focus("x_ProjectLabels"),
                        gcp_list_of_focus("x_SystemLabels")
                    )
                )
            ) as tags_text,
            coalesce(
                "ServiceCategory",
                case
                    when focus.provider_name("ProviderName") = 'Google Cloud' then focus.gcp_service_category("ServiceName")
                end,
                'Other'
            ) as service_category,
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
        else case
            when charge_category = 'Usage' then 'Usage-Based'
            when charge_category = 'Purchase' and is_google then 'Recurring'
            else 'One-Time'
        end
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
    private_resource("ResourceId") as "ResourceId",
    private_name("ResourceName", "ResourceId") as "ResourceName",
    "ResourceType",
    service_category as "ServiceCategory",
    coalesce("ServiceName", 'Unknown') as "ServiceName",
    coalesce(
        "ServiceSubcategory",
        case when "ServiceCategory" is null and is_google then focus.gcp_service_subcategory("ServiceName") end,
        'Other (' || service_category || ')'
    ) as "ServiceSubcategory",
    "SkuId",
    "SkuMeter",
    "SkuPriceDetails",
    "SkuPriceId",
    "SubAccountId",
    "SubAccountName",
    coalesce("SubAccountType", case when "SubAccountId" is not null then case when is_google then 'Project' else 'SubAccount' end end) as "SubAccountType",
    tags_text as "Tags",
    tag_set_id(tags_text, nullif("x_CostCategories", '{}')) as "x_TagSetId",
    "x_Operation",
    "x_UsageType",
    coalesce("x_ServiceCode", "x_ServiceId") as "x_ServiceCode",
    "x_Discounts",
    nullif("x_CostCategories", '{}') as "x_CostCategories",
    nullif("x_Credits", '[]') as "x_Credits",
    "x_ExportTime",
    "ProviderName" as "x_ProviderNameDelivered",
    "InvoiceIssuerName" as "x_InvoiceIssuerNameDelivered",
    cast(null as varchar) as "x_LineItemType",
    "x_CostType",
    coalesce("InvoiceIssuerName", "ProviderName") as "x_InvoicingEntity",
    coalesce("BilledCost", 0) as "x_UnblendedCost",
    cast(null as decimal(38, 12)) as "x_NetUnblendedCost",
    -- FOCUS does not tell a grant from a refund: its words do.
    case
        when charge_category = 'Credit' and not contains(lower(coalesce("ChargeDescription", '')), 'refund')
        then least(coalesce("BilledCost", 0), 0)
        when "x_Credits" is not null and is_google then least(gcp_promotion_sum(gcp_credits(gcp_list_of_focus("x_Credits"))), 0)
        else 0
    end as "x_PromotionalCredit",
    case
        when charge_category = 'Credit' and not contains(lower(coalesce("ChargeDescription", '')), 'refund')
        then 'promotional'
        when charge_category in ('Credit', 'Adjustment') and contains(lower("ChargeDescription"), 'refund')
        then 'refund'
    end as "x_CreditKind",
    -- Google's invoice months begin at midnight in California, daylight saving included.
    (getvariable('billing_month') at time zone invoice_zone) at time zone 'UTC' as "x_InvoicePeriodStart",
    (getvariable('next_billing_month') at time zone invoice_zone) at time zone 'UTC' as "x_InvoicePeriodEnd",
    "x_Project.Number" as "x_ProjectNumber",
    "x_Project.AncestryNumbers" as "x_ProjectAncestors",
    coalesce("EffectiveCost", "BilledCost", 0) as "x_EffectiveCostProvider",
    cast(null as boolean) as "x_UnusedKnown",
    gcp_inherited_tags(
        gcp_list_of_focus("x_Tags"), gcp_list_of_focus("x_Labels"), gcp_list_of_focus("x_ProjectLabels")
    ) as "x_InheritedTags",
from charges
