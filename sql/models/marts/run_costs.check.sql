-- check: costs equal those of core.run_cost, by currency
select built.billing_currency, built.cost_before_credits, given.cost_before_credits
from (
    select billing_currency, count(*) as run_rows, sum(cost_before_credits) as cost_before_credits
    from marts.run_costs
    group by billing_currency
) as built
full join (
    select billing_currency, count(*) as run_rows, sum(cost_before_credits) as cost_before_credits
    from core.run_cost
    group by billing_currency
) as given on built.billing_currency is not distinct from given.billing_currency
where built.cost_before_credits is distinct from given.cost_before_credits
    or built.run_rows is distinct from given.run_rows
-- check: what is lost of an attempt is no more than it cost
select source, attempt_id, wasted_certain_cost, wasted_possible_cost, cost_before_credits
from marts.run_costs
where abs(wasted_certain_cost + wasted_possible_cost) > abs(cost_before_credits)
