-- check: a split shares amounts below 1,000,000,000,000 a day, payer and service (source, month, day, service, amount)
select costs.source, costs.billing_month, costs.charge_date, costs.service_name, costs.effective_cost
from core.costs_attributed as costs
inner join (select distinct billing_month from core.cost_group) as months
    on costs.billing_month = months.billing_month
where abs(costs.billed_cost) >= 1000000000000 or abs(costs.effective_cost) >= 1000000000000
    or abs(coalesce(costs.list_cost, 0)) >= 1000000000000 or abs(costs.promotional_credit) >= 1000000000000
