-- What the negations of Savings Plans leave of the usage that they cancel, as one charge.
-- grain: one row; its position, amount, billing account and currency are bound
-- key: x_RowNumber
select
    cast($1 as bigint) as "x_RowNumber",
    cast($2 as decimal(38, 12)) as "BilledCost",
    $3 as "BillingAccountId",
    $4 as "BillingCurrency",
    getvariable('billing_month') as "ChargePeriodStart",
    getvariable('next_billing_month') as "ChargePeriodEnd",
    'Savings Plan negations without their usage' as "ChargeDescription",
    cast($2 as decimal(38, 12)) as "ContractedCost",
    0 as "EffectiveCost",
    cast($2 as decimal(38, 12)) as "ListCost",
    'AWS Savings Plans' as "ServiceName",
    'ComputeSavingsPlans' as "x_ServiceCode",
    'SavingsPlanNegation' as "x_LineItemType",
