-- EffectiveCost of a part once the fees of commitments are spread over the usage that they cover.
-- grain: one row per fee, and per charge that a fee is spread over
-- key: row_number
-- New model: usage under a commitment is delivered at its price; what a fee's offset leaves of the fee is unused. Credit
-- model: usage is delivered with credits, and the fees of a pool are spread over it by them, but for what is unused: the
-- fees without an originating SKU where others have one; else by the use made of what the fees are good for (amount of
-- resources, or spend at the price without them); where that is unknown, nothing, and x_UnusedKnown is false. A day
-- without credits leaves its fees unused. A pool is a day (Pacific) of a billing account: of a region and sort of
-- resource, or of a service that has both spend commitments of its own and credits; else of all spend commitments.
-- What a grant pays of a fee stays with the fee. Shares are rounded, and what that leaves goes to the pool's first row.
-- Source: Cloud Billing documentation, "Attribution of committed use discount fees and credits"; FOCUS 1.2, EffectiveCost.
with
    lines as (
        select
            "x_RowNumber" as row_number,
            "BillingAccountId" as billing_account_id,
            "BillingCurrency" as billing_currency,
            cast(("ChargePeriodStart" at time zone 'UTC') at time zone 'America/Los_Angeles' as date) as pacific_date,
            "ServiceName" as service_name,
            "RegionId" as region_id,
            "SkuMeter" as sku_description,
            "BilledCost" as billed_cost,
            "x_PromotionalCredit" as promotional_credit,
            "BilledCost" - "x_PromotionalCredit" as fee_cost,
            "x_UnblendedCost" as gross_cost,
            "ConsumedQuantity" as quantity,
            "ConsumedUnit" as unit,
            fee_kind,
            spend_credit,
            resource_credit,
            offset_credit,
            fee_capacity,
            has_originating_sku,
        from part
        where fee_kind is not null or spend_credit is not null or resource_credit is not null
    ),

    own_services as (
        select billing_account_id, billing_currency, pacific_date, service_name,
        from lines
        where service_name <> 'Compute Engine' and (fee_kind = 'spend' and offset_credit is null or spend_credit is not null)
        group by all
        having count(fee_kind) > 0 and count(spend_credit) > 0
    ),

    pooled as (
        select
            lines.*,
            case when own.service_name is null then 'spend' else 'spend ' || own.service_name end as spend_pool,
            'resource ' || coalesce(lines.region_id, '') || ' ' || focus.gcp_resource_kind(lines.sku_description)
            as resource_pool,
        from lines
        left join own_services as own using (billing_account_id, billing_currency, pacific_date, service_name)
    ),

    -- A credited charge weighs what it is credited; where a correction takes a credit back, it weighs less than nothing.
    -- Amounts are added as decimals: a sum of doubles differs with the order that rows come in.
    credited as (
        select
            row_number, billing_account_id, billing_currency, pacific_date, billed_cost, unit, spend_pool as pool,
            -spend_credit as weight, -spend_credit as taken,
        from pooled
        where fee_kind is null and spend_credit is not null
        union all
        select
            row_number, billing_account_id, billing_currency, pacific_date, billed_cost, unit, resource_pool as pool,
            -resource_credit as weight,
            case
                when gross_cost <> 0
                then cast(quantity * cast(-resource_credit as double) / cast(gross_cost as double) as decimal(38, 12))
            end as taken,
        from pooled
        where fee_kind is null and resource_credit is not null
    ),

    credits as (
        select
            billing_account_id, billing_currency, pacific_date, pool, sum(weight) as weight, sum(taken) as taken,
            min(unit) as least_unit, max(unit) as greatest_unit,
        from credited
        group by all
    ),

    fees as (
        select
            *,
            case when fee_kind = 'resource' then resource_pool else spend_pool end as pool,
            cast(
                case
                    when fee_kind = 'resource' then case when quantity > 0 and unit is not null then quantity end
                    else fee_capacity
                end as decimal(38, 12)
            ) as capacity,
        from pooled
        where fee_kind is not null and offset_credit is null
    ),

    fee_pools as (
        select
            billing_account_id, billing_currency, pacific_date, pool,
            case when count(*) = count(capacity) then sum(capacity) end as capacity,
            bool_or(has_originating_sku) as has_originating_skus,
            bool_or(fee_kind = 'resource') as is_resource,
            min(unit) as least_unit, max(unit) as greatest_unit,
        from fees
        group by all
    ),

    uses as (
        select
            fee_pools.*,
            coalesce(credits.weight, 0) > 0 as is_used,
            case
                when fee_pools.is_resource
                    and (
                        least(fee_pools.least_unit, credits.least_unit)
                        <> greatest(fee_pools.greatest_unit, credits.greatest_unit)
                    )
                then null
                when fee_pools.capacity > 0 then greatest(least(cast(credits.taken as double) / cast(fee_pools.capacity as double), 1), 0)
            end as use_ratio,
        from fee_pools
        left join credits using (billing_account_id, billing_currency, pacific_date, pool)
    ),

    judged as (
        select
            fees.row_number, fees.promotional_credit, fees.fee_cost, fees.billing_account_id, fees.billing_currency,
            fees.pacific_date, fees.pool,
            case
                when not uses.is_used then fees.fee_cost
                when uses.has_originating_skus then case when fees.has_originating_sku then 0 else fees.fee_cost end
                when uses.use_ratio is null then 0
                else fees.fee_cost - cast(round(cast(fees.fee_cost as double) * uses.use_ratio, 12) as decimal(38, 12))
            end as unused_cost,
            not uses.is_used or uses.has_originating_skus or uses.use_ratio is not null as is_known,
        from fees
        inner join uses using (billing_account_id, billing_currency, pacific_date, pool)
    ),

    used as (
        select
            billing_account_id, billing_currency, pacific_date, pool,
            sum(fee_cost) - sum(unused_cost) as used_cost, bool_and(is_known) as is_known,
        from judged
        group by all
    ),

    shares as (
        select
            credited.row_number, credited.billed_cost, credited.taken, credited.billing_account_id,
            credited.billing_currency, credited.pacific_date, credited.pool, used.used_cost, used.is_known,
            cast(
                round(
                    cast(used.used_cost as double) * (cast(credited.weight as double) / cast(credits.weight as double)), 12
                ) as decimal(38, 12)
            ) as share,
        from credited
        inner join credits using (billing_account_id, billing_currency, pacific_date, pool)
        inner join used using (billing_account_id, billing_currency, pacific_date, pool)
        where credits.weight > 0
    ),

    exact_shares as (
        select
            * replace (
                case
                    when row_number = min(row_number) over pool_rows
                    then share + used_cost - sum(share) over pool_rows
                    else share
                end as share
            ),
        from shares
        window pool_rows as (partition by billing_account_id, billing_currency, pacific_date, pool)
    )

select
    row_number,
    min(billed_cost) + sum(share) as effective_cost,
    cast(null as decimal(38, 12)) as unused_cost,
    bool_and(is_known) as is_known,
    -- The amount of a resource, or the part of a commitment to spend.
    case when starts_with(min(pool), 'resource') then cast(sum(taken) as double) else cast(sum(share) as double) end as quantity,
from exact_shares
group by row_number
union all
select row_number, promotional_credit, unused_cost, is_known, cast(null as double)
from judged
union all
select row_number, promotional_credit, fee_cost, true, cast(null as double)
from lines
where fee_kind is not null and offset_credit is not null
