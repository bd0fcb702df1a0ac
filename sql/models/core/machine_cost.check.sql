-- check: runs and what nobody held come to what the machine cost
select built.bill_source, built.resource_id, built.cost_before_credits, given.cost_before_credits
from (
    select bill_source, resource_id, billing_currency, sum(cost_before_credits) as cost_before_credits
    from core.machine_cost
    group by bill_source, resource_id, billing_currency
) as built
full join (
    select source as bill_source, bearer as resource_id, billing_currency,
        sum(cost_before_credits) as cost_before_credits
    from core.run_charge
    where evidence = 'machine'
    group by source, bearer, billing_currency
) as given
    on built.bill_source = given.bill_source and built.resource_id = given.resource_id
    and built.billing_currency = given.billing_currency
where built.cost_before_credits is distinct from given.cost_before_credits
