-- Charges that break a rule of FOCUS 1.2 about prices and quantities by themselves. A price times its quantity may miss
-- the cost by a hundred-thousandth, or by what 12 places of the price leave open. Corrections need none.
-- Source: FOCUS 1.2, Cost and Usage; the normative requirements of each column.
-- grain: one row per source, month and rule that is broken
-- key: source, billing_month, rule
with charges as (select * from focus.cost_and_usage),
priced as (
    select
        charges.*,
        case when charges.ChargeCategory in ('Usage', 'Purchase') and charges.ChargeClass is null then 1 else 0 end
            as is_priced,
        cast(charges.ListUnitPrice as double) * charges.PricingQuantity - cast(charges.ListCost as double)
            as list_difference,
        cast(charges.ContractedUnitPrice as double) * charges.PricingQuantity - cast(charges.ContractedCost as double)
            as contracted_difference,
        0.000000000001 * charges.PricingQuantity as rounding
    from charges
),
counted as (
    select
        x_Source as source,
        x_BillingMonth as billing_month,
        sum(case when ChargeCategory = 'Purchase' and ChargeFrequency = 'Usage-Based'
            then 1 else 0 end) as purchase_not_by_usage,
        sum(case when is_priced = 1 and PricingCategory is null then 1 else 0 end) as pricing_category_set,
        sum(case when is_priced = 1 and PricingQuantity is null then 1 else 0 end) as pricing_quantity_set,
        sum(case when PricingQuantity is not null and PricingUnit is null then 1 else 0 end) as pricing_unit_set,
        sum(case when is_priced = 1 and ListUnitPrice is null then 1 else 0 end) as list_unit_price_set,
        sum(case when is_priced = 1 and ContractedUnitPrice is null then 1 else 0 end) as contracted_unit_price_set,
        sum(case when ListUnitPrice < 0 or ContractedUnitPrice < 0 then 1 else 0 end) as unit_price_not_negative,
        sum(case when is_priced = 1 and list_difference * list_difference
            > 0.000000000001 + rounding * rounding
            + 0.0000000001 * cast(ListCost as double) * cast(ListCost as double)
            then 1 else 0 end) as list_cost_of_price,
        sum(case when is_priced = 1 and contracted_difference * contracted_difference
            > 0.000000000001 + rounding * rounding
            + 0.0000000001 * cast(ContractedCost as double) * cast(ContractedCost as double)
            then 1 else 0 end) as contracted_cost_of_price,
        sum(case when is_priced = 1 and ChargeCategory = 'Usage'
            and coalesce(CommitmentDiscountStatus, 'Used') = 'Used' and (ConsumedQuantity is null
            or ConsumedUnit is null) then 1 else 0 end) as consumption_set,
        sum(case when ConsumedQuantity is not null and (ChargeCategory <> 'Usage'
            or CommitmentDiscountStatus = 'Unused') then 1 else 0 end) as consumption_of_usage,
        sum(case when ChargeCategory = 'Tax' and (ListUnitPrice is not null or ContractedUnitPrice is not null
            or PricingQuantity is not null or PricingCategory is not null or SkuId is not null)
            then 1 else 0 end) as tax_without_price
    from priced
    group by x_Source, x_BillingMonth
),
broken as (
    select source, billing_month, 'purchase_not_by_usage' as rule,
        'ChargeFrequency of a purchase is not Usage-Based' as requirement,
        purchase_not_by_usage as violating_rows
    from counted
    union all select source, billing_month, 'pricing_category_set',
        'PricingCategory of usage and purchases is not null', pricing_category_set from counted
    union all select source, billing_month, 'pricing_quantity_set',
        'PricingQuantity of usage and purchases is not null', pricing_quantity_set from counted
    union all select source, billing_month, 'pricing_unit_set',
        'PricingUnit is not null where PricingQuantity is not', pricing_unit_set from counted
    union all select source, billing_month, 'list_unit_price_set',
        'ListUnitPrice of usage and purchases is not null', list_unit_price_set from counted
    union all select source, billing_month, 'contracted_unit_price_set',
        'ContractedUnitPrice of usage and purchases is not null', contracted_unit_price_set from counted
    union all select source, billing_month, 'unit_price_not_negative',
        'ListUnitPrice and ContractedUnitPrice are not negative', unit_price_not_negative from counted
    union all select source, billing_month, 'list_cost_of_price',
        'ListUnitPrice x PricingQuantity is ListCost', list_cost_of_price from counted
    union all select source, billing_month, 'contracted_cost_of_price',
        'ContractedUnitPrice x PricingQuantity is ContractedCost', contracted_cost_of_price from counted
    union all select source, billing_month, 'consumption_set',
        'ConsumedQuantity and ConsumedUnit of usage are not null', consumption_set from counted
    union all select source, billing_month, 'consumption_of_usage',
        'ConsumedQuantity is null but for usage that was used', consumption_of_usage from counted
    union all select source, billing_month, 'tax_without_price',
        'a tax has no prices, quantity and SKU', tax_without_price from counted
)

select
    -- Source that delivered the charges
    broken.source,
    -- First day of the invoice month
    broken.billing_month,
    -- Short name of the rule
    broken.rule,
    -- What it asks of each charge
    broken.requirement,
    -- Charges that break it
    cast(broken.violating_rows as bigint) as violating_rows
from broken
where broken.violating_rows > 0
