-- What no usage took of the commitments that fees are for: one usage charge per fee, beside the purchase.
-- grain: one row per fee with an unused part; its position is that of the fee, negative
-- key: x_RowNumber
-- Source: FOCUS 1.2, Commitment Discount Status.
select
    * replace (
        -"x_RowNumber" as "x_RowNumber",
        0 as "BilledCost",
        unused_cost as "EffectiveCost",
        0 as "x_EffectiveCostProvider",
        0 as "ListCost",
        0 as "ContractedCost",
        cast(null as decimal(38, 12)) as "ListUnitPrice",
        cast(null as decimal(38, 12)) as "ContractedUnitPrice",
        case
            when fee_kind = 'spend' then cast(unused_cost as double)
            else "ConsumedQuantity" * cast(unused_cost as double) / nullif(cast("BilledCost" - "x_PromotionalCredit" as double), 0)
        end as "CommitmentDiscountQuantity",
        0 as "x_PromotionalCredit",
        cast(null as varchar) as "x_Credits",
        0 as "x_UnblendedCost",
        case
            when "PricingCurrencyEffectiveCost" is not null
            then try_cast(cast(unused_cost as double) / nullif(conversion_rate, 0) as decimal(38, 12))
        end as "PricingCurrencyEffectiveCost",
        cast(null as decimal(38, 12)) as unused_cost
    ),
from part
where unused_cost <> 0
