-- The Cloud Billing export, standard or detailed, as the stored columns of a part.
-- grain: one row per delivered row; identical rows are legitimate
-- key: x_RowNumber
-- Source: Cloud Billing documentation, "Structure of the detailed usage cost data"; FOCUS 1.2.
with
    -- Labels repeat from row to row: their texts are worked out once per combination.
    label_sets as materialized (
        select *, case when tags_text is not null then md5_number_lower(tags_text) end as tag_set_id,
        from (
            select
                *,
                gcp_tags(tags, labels, "project.labels", system_labels) as tags_text,
                gcp_inherited_tags(tags, labels, "project.labels") as inherited_text,
            from (select distinct tags, labels, "project.labels", system_labels from landed)
        )
    ),

    rows_costed as (
        select
            landed.*,
            label_sets.tags_text,
            label_sets.tag_set_id,
            label_sets.inherited_text,
            coalesce(cost, 0) as gross_cost,
            gcp_credit_sum(credits) as credit_cost,
            coalesce(cost_type, 'regular') as kind,
            gcp_fee_kind(coalesce(cost_type, 'regular'), "sku.description", "resource.global_name", credits) as fee_kind,
            -- Commitments are spread over usage: a tax or a correction with credits takes no part in it.
            case
                when coalesce(cost_type, 'regular') = 'regular' and contains(credits, 'COMMITTED_USAGE_DISCOUNT') then credits
            end as commitment_credits,
            coalesce(cost_type, 'regular') = 'regular' and "consumption_model.id" <> '7754-699E-0EBF' as is_committed_model,
        from landed
        left join label_sets
            on landed.tags is not distinct from label_sets.tags
            and landed.labels is not distinct from label_sets.labels
            and landed."project.labels" is not distinct from label_sets."project.labels"
            and landed.system_labels is not distinct from label_sets.system_labels
    )

select
    row_number as "x_RowNumber",
    "location.zone" as "AvailabilityZone",
    cast(gross_cost + credit_cost as decimal(38, 12)) as "BilledCost",
    billing_account_id as "BillingAccountId",
    coalesce(currency, getvariable('default_currency')) as "BillingCurrency",
    case
        when coalesce("adjustment_info.id", "adjustment_info.mode", "adjustment_info.type") is not null
            and usage_start_time < getvariable('billing_month')
        then 'Correction'
    end as "ChargeClass",
    coalesce("adjustment_info.description", "sku.description") as "ChargeDescription",
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
    "usage.amount" as "ConsumedQuantity",
    "usage.unit" as "ConsumedUnit",
    case
        when kind = 'regular' and fee_kind is null then coalesce(cost_at_effective_price_default, gross_cost)
        else gross_cost + credit_cost
    end as "ContractedCost",
    coalesce("price.effective_price_default", "price.effective_price") as "ContractedUnitPrice",
    cast(gross_cost + credit_cost as decimal(38, 12)) as "EffectiveCost",
    cast(gross_cost + credit_cost as decimal(38, 12)) as "x_EffectiveCostProvider",
    case
        when kind = 'regular' and fee_kind is null then coalesce(cost_at_list, gross_cost) else gross_cost + credit_cost
    end as "ListCost",
    "price.list_price" as "ListUnitPrice",
    case
        when kind in ('tax', 'adjustment', 'rounding_error', 'credit') then null
        when commitment_credits is not null or is_committed_model then 'Committed'
        when contains("sku.description", 'Spot') or contains("sku.description", 'Preemptible') then 'Dynamic'
        else 'Standard'
    end as "PricingCategory",
    case when currency_conversion_rate <> 1 then 'USD' else currency end as "PricingCurrency",
    case
        when currency_conversion_rate <> 1
        then try_cast(cast(gross_cost + credit_cost as double) / nullif(currency_conversion_rate, 0) as decimal(38, 12))
    end as "PricingCurrencyEffectiveCost",
    "usage.amount_in_pricing_units" as "PricingQuantity",
    "usage.pricing_unit" as "PricingUnit",
    case when transaction_type <> 'GOOGLE' then seller_name end as "PublisherName",
    coalesce("location.region", nullif("location.location", 'global')) as "RegionId",
    "resource.global_name" as "ResourceId",
    "resource.name" as "ResourceName",
    coalesce("service.description", 'Unknown') as "ServiceName",
    "sku.id" as "SkuId",
    "sku.description" as "SkuMeter",
    "sku.id" || '/' || coalesce("price.tier_start_amount", '0') as "SkuPriceId",
    "project.id" as "SubAccountId",
    "project.name" as "SubAccountName",
    tags_text as "Tags",
    tag_set_id as "x_TagSetId",
    kind as "x_CostType",
    "service.id" as "x_ServiceCode",
    cost as "x_UnblendedCost",
    cast(
        least(case when kind = 'credit' then gross_cost else 0 end + gcp_promotion_sum(credits), 0) as decimal(38, 12)
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
    case when fee_kind is not null then gcp_credit_of(credits, 'FEE_UTILIZATION_OFFSET') end as offset_credit,
    case
        when fee_kind = 'spend'
        then
            gcp_spend_capacity(
                cast(gross_cost as double),
                currency_conversion_rate,
                "usage.amount_in_pricing_units",
                focus.gcp_commitment_discount("service.description", "sku.description")
            )
    end as fee_capacity,
    case when fee_kind is not null then contains(labels, '"goog-originating-sku-id"') end as has_originating_sku,
    case
        when fee_kind is not null or commitment_credits is not null then currency_conversion_rate
    end as conversion_rate,
    cast(null as decimal(38, 12)) as unused_cost,
    cast(null as boolean) as "x_UnusedKnown",
from rows_costed
