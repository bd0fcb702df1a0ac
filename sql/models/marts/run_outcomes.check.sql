-- check: attempts and costs equal those of marts.run_costs, by source and currency
select built.source, built.billing_currency, built.cost_before_credits, given.cost_before_credits
from (
    select source, billing_currency, sum(cost_before_credits) as cost_before_credits
    from marts.run_outcomes
    where told_as = 'runs'
    group by source, billing_currency
) as built
full join (
    select source, billing_currency, sum(cost_before_credits) as cost_before_credits
    from marts.run_costs
    group by source, billing_currency
) as given
    on built.source = given.source and built.billing_currency is not distinct from given.billing_currency
where built.cost_before_credits is distinct from given.cost_before_credits
