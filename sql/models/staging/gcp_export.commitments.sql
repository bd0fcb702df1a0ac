-- The amortisation identity: fees of commitments against what was added to the charges that they are spread over, and what
-- is unused. Told from the charges alone, so that it proves the spreading.
-- grain: one row per billing account and currency with commitments; several share a pool of usage, so they stand together
-- key: billing_account_id, commitment_discount_id, billing_currency
-- Source: FOCUS 1.2, EffectiveCost: over the term of a commitment, its usage is charged what its purchase was billed.
with
    totals as (
        select
            "BillingAccountId" as billing_account_id,
            '' as commitment_discount_id,
            "BillingCurrency" as billing_currency,
            coalesce(sum("BilledCost" - "EffectiveCost") filter (where fee_kind is not null and "x_RowNumber" > 0), 0)
            as fee_cost,
            cast(0 as decimal(38, 12)) as amortised_upfront_cost,
            coalesce(sum("EffectiveCost" - "BilledCost") filter (where fee_kind is null), 0) as used_cost,
            coalesce(sum("EffectiveCost") filter (where fee_kind is not null and "x_RowNumber" < 0), 0) as unused_cost,
            bool_or(fee_kind is not null) as has_fees,
        from (select * replace (coalesce("EffectiveCost", "BilledCost") as "EffectiveCost") from part)
        group by 1, 2, 3
    )

select * exclude (has_fees), used_cost + unused_cost - fee_cost - amortised_upfront_cost as gap_cost,
    cast(null as timestamp) as starts_at, cast(null as timestamp) as ends_at,
from totals
where has_fees
