-- check: runs bear all of the charges that name them
select built.evidence, built.billing_currency, built.cost_before_credits, given.cost_before_credits
from (
    select evidence, billing_currency, sum(cost_before_credits) as cost_before_credits
    from core.run_own_cost
    group by evidence, billing_currency
) as built
full join (
    select evidence, billing_currency, sum(cost_before_credits) as cost_before_credits
    from core.run_charge
    where evidence <> 'machine'
    group by evidence, billing_currency
) as given
    on built.evidence = given.evidence and built.billing_currency = given.billing_currency
where built.cost_before_credits is distinct from given.cost_before_credits

-- check: what a tag names is borne by runs of sources that look at that tag
select costs.source, costs.attempt_id, costs.cost_before_credits
from core.run_own_cost as costs
left join settings.run_source as run_sources on costs.source = run_sources.source
where costs.evidence = 'tag' and run_sources.run_tag is null
