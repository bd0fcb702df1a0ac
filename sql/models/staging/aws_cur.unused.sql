-- What no usage took of the commitments that recurring fees are for: one usage charge per fee, beside the purchase.
-- grain: one row per fee with an unused part; its position is that of the fee, negative
-- key: x_RowNumber
-- Source: FOCUS 1.2, Commitment Discount Status; AWS CUR data dictionary, unused columns and UsedCommitment.
select
    * replace (
        -"x_RowNumber" as "x_RowNumber",
        0 as "BilledCost",
        unused_cost as "EffectiveCost",
        0 as "ListCost",
        0 as "ContractedCost",
        cast(null as decimal(38, 12)) as "ListUnitPrice",
        unused_quantity as "CommitmentDiscountQuantity",
        case when "x_LineItemType" = 'RIFee' then unused_quantity else 1 end as "PricingQuantity",
        greatest("ChargePeriodStart", coalesce(commitment_end, "ChargePeriodEnd")) as "ChargePeriodEnd",
        0 as "x_UnblendedCost",
        cast(null as decimal(38, 12)) as "x_NetUnblendedCost",
        cast(null as decimal(38, 12)) as unused_cost,
        cast(null as decimal(38, 12)) as amortised_upfront_cost
    ),
from part
where unused_cost > 0
