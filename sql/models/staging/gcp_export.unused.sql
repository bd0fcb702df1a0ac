-- What no usage took of the commitments that fees are for: one usage charge per fee, beside the purchase.
-- grain: one row per fee with an unused part; its position is that of the fee, negative
-- key: x_RowNumber
-- Source: FOCUS 1.2, Commitment Discount Status.
select
    part.* replace (
        -"x_RowNumber" as "x_RowNumber",
        0 as "BilledCost",
        spread.unused_cost as "EffectiveCost",
        0 as "ListCost",
        0 as "ContractedCost",
        cast(null as decimal(38, 12)) as "ListUnitPrice",
        cast(null as decimal(38, 12)) as "ContractedUnitPrice",
        case
            when fee_kind = 'spend' then cast(spread.unused_cost as double)
            else
                "ConsumedQuantity" * cast(spread.unused_cost as double)
                / nullif(cast("BilledCost" - "x_PromotionalCredit" as double), 0)
        end as "CommitmentDiscountQuantity",
        0 as "x_PromotionalCredit",
        cast(null as varchar) as "x_Credits",
        0 as "x_UnblendedCost"
    ),
from part
inner join spread on spread.row_number = part."x_RowNumber"
where spread.unused_cost <> 0
