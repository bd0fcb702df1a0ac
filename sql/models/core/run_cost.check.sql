-- check: what runs cost by the bill is all that names them and their part of machines
select built.billing_currency, built.cost_before_credits, given.cost_before_credits
from (
    select billing_currency, sum(cost_before_credits) as cost_before_credits
    from core.run_cost
    where cost_method in ('resource', 'tag', 'machine')
    group by billing_currency
) as built
full join (
    select own_or_machine.billing_currency, sum(own_or_machine.cost_before_credits) as cost_before_credits
    from (
        select billing_currency, cost_before_credits from core.run_own_cost
        union all
        select billing_currency, cost_before_credits from core.machine_cost where attempt_id is not null
    ) as own_or_machine
    group by own_or_machine.billing_currency
) as given
    on built.billing_currency = given.billing_currency
where built.cost_before_credits is distinct from given.cost_before_credits
