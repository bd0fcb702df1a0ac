-- check: what is lost equals what marts.run_costs says, by currency
select built.billing_currency, built.wasted_certain_cost, given.wasted_certain_cost
from (
    select billing_currency, sum(wasted_certain_cost) as wasted_certain_cost,
        sum(wasted_possible_cost) as wasted_possible_cost
    from marts.failed_runs
    group by billing_currency
) as built
full join (
    select billing_currency, sum(wasted_certain_cost) as wasted_certain_cost,
        sum(wasted_possible_cost) as wasted_possible_cost
    from marts.run_costs
    group by billing_currency
) as given on built.billing_currency is not distinct from given.billing_currency
where coalesce(built.wasted_certain_cost, 0) <> coalesce(given.wasted_certain_cost, 0)
    or coalesce(built.wasted_possible_cost, 0) <> coalesce(given.wasted_possible_cost, 0)
