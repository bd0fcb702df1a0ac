-- The delivered price of a unit where it makes the cost, else what the cost makes it; prices have 12 places.
-- Source: FOCUS 1.2, ListCost and ContractedCost: unit price times PricingQuantity is the cost.
create or replace macro focus.unit_price(price, cost, quantity) as
    case
        when price is not null
            and abs(cast(price as double) * quantity - cast(cost as double))
            <= 0.000001 + 0.00001 * abs(cast(cost as double)) + 0.000000000001 * abs(quantity)
        then price
        when price is not null and cast(cost as double) / quantity < 0 then price
        else try_cast(cast(cost as double) / quantity as decimal(38, 12))
    end
