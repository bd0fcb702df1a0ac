-- The Cloud Billing export, standard or detailed, as the stored columns of a part.
-- grain: one row per delivered row; identical rows are legitimate
-- key: x_RowNumber
-- Tags stand apart, once per combination (gcp_export.labels.sql), and rows have its id.
-- Null stands for what most rows have, and the view says it: a cost type of regular, an EffectiveCost that is BilledCost,
-- a ContractedCost that is ListCost.
-- Source: Cloud Billing documentation, "Structure of the detailed usage cost data"; FOCUS 1.2.
with
    -- What the price list has one price for, as it was last listed.
    listed as (
        select sku_id, any_value(price) as price, any_value(currency) as currency
        from settings.price
        where provider = 'Google Cloud'
        group by sku_id
        having count(distinct price) = 1 and count(distinct currency) = 1
    ),

    rows_credited as (
        select
            landed.*,
            coalesce(cost, 0) as gross_cost,
            coalesce(cost_type, 'regular') as kind,
            gcp_credits(credits) as credit_list,
            case
                when cost_at_list is not null then cost_at_list
                when listed.currency = coalesce(landed.currency, getvariable('default_currency'))
                then try_cast(cast(listed.price as double) * "usage.amount_in_pricing_units" as decimal(38, 12))
                when listed.currency = 'USD'
                then
                    try_cast(
                        cast(listed.price as double) * "usage.amount_in_pricing_units" * currency_conversion_rate
                        as decimal(38, 12)
                    )
            end as listed_cost,
        from landed
        left join listed on landed."sku.id" = listed.sku_id
    ),

    rows_costed as (
        select
            rows_credited.*,
            label_set.tag_set_id,
            label_set.inherited_text,
            cast(gross_cost + gcp_credit_sum(credit_list) as decimal(38, 12)) as net_cost,
            gcp_fee_kind(kind, "sku.description", "resource.global_name", credits) as fee_kind,
            -- Commitments are spread over usage: a tax or a correction with credits takes no part in it.
            case when kind = 'regular' and contains(credits, 'COMMITTED_USAGE_DISCOUNT') then credit_list end
            as commitment_credits,
            kind = 'regular' and "consumption_model.id" <> '7754-699E-0EBF' as is_committed_model,
        from rows_credited
        left join label_set
            on rows_credited.tags is not distinct from label_set.tags
            and rows_credited.labels is not distinct from label_set.labels
            and rows_credited."project.labels" is not distinct from label_set."project.labels"
            and rows_credited.system_labels is not distinct from label_set.system_labels
    )

select
    row_number as "x_RowNumber",
    "location.zone" as "AvailabilityZone",
    net_cost as "BilledCost",
    billing_account_id as "BillingAccountId",
    coalesce(currency, getvariable('default_currency')) as "BillingCurrency",
    case
        when coalesce("adjustment_info.id", "adjustment_info.mode", "adjustment_info.type") is not null
            and usage_start_time < getvariable('billing_month')
        then 'Correction'
    end as "ChargeClass",
    nullif("adjustment_info.description", "sku.description") as "ChargeDescription",
    coalesce(usage_end_time, getvariable('next_billing_month')) as "ChargePeriodEnd",
    coalesce(usage_start_time, getvariable('billing_month')) as "ChargePeriodStart",
    case
        when fee_kind is not null or commitment_credits is not null or is_committed_model
        then
            coalesce(
                gcp_subscription("subscription.instance_id"),
                case when contains("resource.global_name", 'project_commitments') then "resource.global_name" end
            )
    end as "CommitmentDiscountId",
    case
        when fee_kind = 'resource' then "usage.amount"
        when fee_kind = 'spend' or is_committed_model then cast(gross_cost as double)
    end as "CommitmentDiscountQuantity",
    nullif(currency_conversion_rate, 1) as conversion_rate,
    "usage.amount" as "ConsumedQuantity",
    "usage.unit" as "ConsumedUnit",
    case
        when kind = 'regular' and fee_kind is null
        then nullif(coalesce(cost_at_effective_price_default, gross_cost), coalesce(listed_cost, gross_cost))
    end as "ContractedCost",
    coalesce("price.effective_price_default", "price.effective_price") as "ContractedUnitPrice",
    cast(null as decimal(38, 12)) as "EffectiveCost",
    case
        when kind = 'regular' and fee_kind is null then coalesce(listed_cost, gross_cost) else net_cost
    end as "ListCost",
    "price.list_price" as "ListUnitPrice",
    case
        when kind <> 'regular' then null
        when commitment_credits is not null or is_committed_model then 'Committed'
        when contains("sku.description", 'Spot') or contains("sku.description", 'Preemptible') then 'Dynamic'
    end as "PricingCategory",
    "usage.amount_in_pricing_units" as "PricingQuantity",
    "usage.pricing_unit" as "PricingUnit",
    case when transaction_type <> 'GOOGLE' then seller_name end as "PublisherName",
    coalesce("location.region", nullif("location.location", 'global')) as "RegionId",
    private_resource("resource.global_name") as "ResourceId",
    private_name("resource.name", "resource.global_name") as "ResourceName",
    coalesce("service.description", 'Unknown') as "ServiceName",
    "sku.id" as "SkuId",
    "sku.description" as "SkuMeter",
    nullif("price.tier_start_amount", 0) as tier_start_amount,
    "project.id" as "SubAccountId",
    "project.name" as "SubAccountName",
    tag_set_id as "x_TagSetId",
    nullif(kind, 'regular') as "x_CostType",
    "service.id" as "x_ServiceCode",
    cost as "x_UnblendedCost",
    cast(
        least(case when kind = 'credit' then gross_cost else 0 end + gcp_promotion_sum(credit_list), 0) as decimal(38, 12)
    ) as "x_PromotionalCredit",
    nullif(credits, '[]') as "x_Credits",
    "project.number" as "x_ProjectNumber",
    "project.ancestry_numbers" as "x_ProjectAncestors",
    export_time as "x_ExportTime",
    inherited_text as "x_InheritedTags",
    -- For the spreading of commitments (gcp_export.spread.sql) and its proof; no columns of FOCUS.
    fee_kind,
    gcp_credit_of(commitment_credits, 'COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE') as spend_credit,
    gcp_credit_of(commitment_credits, 'COMMITTED_USAGE_DISCOUNT') as resource_credit,
    case when fee_kind is not null then gcp_credit_of(credit_list, 'FEE_UTILIZATION_OFFSET') end as offset_credit,
    case
        when fee_kind = 'spend'
        then
            gcp_spend_capacity(
                cast(gross_cost as double),
                currency_conversion_rate,
                "usage.amount_in_pricing_units",
                gcp_spend_discount("service.description", "sku.description")
            )
    end as fee_capacity,
    case when fee_kind is not null then contains(labels, '"goog-originating-sku-id"') end as has_originating_sku,
    cast(null as boolean) as "x_UnusedKnown",
from rows_costed
