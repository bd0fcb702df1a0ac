-- The amortisation identity: recurring fees and what of upfront payments falls to the month, against the charges that
-- they are spread over.
-- grain: one row per billing account, commitment and currency
-- key: billing_account_id, commitment_discount_id, billing_currency
-- Source: FOCUS 1.2, EffectiveCost: over the term of a commitment, its usage is charged what its purchase was billed.
with
    totals as (
        select
            "BillingAccountId" as billing_account_id,
            coalesce("CommitmentDiscountId", '') as commitment_discount_id,
            "BillingCurrency" as billing_currency,
            coalesce(
                sum("BilledCost") filter (where "x_LineItemType" in ('RIFee', 'SavingsPlanRecurringFee')), 0
            ) as fee_cost,
            coalesce(sum(amortised_upfront_cost), 0) as amortised_upfront_cost,
            coalesce(
                sum("EffectiveCost") filter (where "x_LineItemType" in ('DiscountedUsage', 'SavingsPlanCoveredUsage')), 0
            ) as used_cost,
            coalesce(
                sum("EffectiveCost") filter (where "x_LineItemType" in ('RIFee', 'SavingsPlanRecurringFee')), 0
            ) as unused_cost,
            min(term_start) as starts_at,
            max(term_end) as ends_at,
        from part
        where "x_LineItemType" in ('RIFee', 'SavingsPlanRecurringFee', 'DiscountedUsage', 'SavingsPlanCoveredUsage')
        group by 1, 2, 3
    )

select * exclude (starts_at, ends_at), used_cost + unused_cost - fee_cost - amortised_upfront_cost as gap_cost, starts_at, ends_at,
from totals
