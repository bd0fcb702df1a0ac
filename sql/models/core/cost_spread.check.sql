-- check: the days of a charge come to its effective cost, to the last place
with days as (
    select load_id, charge_number, sum(effective_cost) as effective_cost
    from core.cost_spread
    group by load_id, charge_number
)
select days.load_id, days.charge_number, days.effective_cost, charges.EffectiveCost as charged_cost
from days
left join focus.cost_and_usage as charges
    on days.load_id = charges.x_LoadId and days.charge_number = charges.x_RowNumber
where charges.EffectiveCost is distinct from days.effective_cost
