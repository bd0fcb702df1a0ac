-- check: no resource has two findings that count
select source, resource_id, billing_currency
from marts.waste_findings
where is_counted and status <> 'resolved'
group by source, resource_id, billing_currency
having count(*) > 1

-- check: what is wasted of something is not above what it cost, and what is saved not above what is wasted
select finding_id
from marts.waste_findings
where (wasted_cost > 0 and wasted_cost > usage_cost) or cash_saving > wasted_cost or wasted_cost < 0
    or (outcome <> 'waste' and wasted_cost <> 0)
