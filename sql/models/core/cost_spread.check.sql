-- check: what is taken from one day is given to others, to the last place
select source, billing_month, load_id, charge_number, sum(effective_cost) as difference
from core.cost_spread
group by source, billing_month, load_id, charge_number
having sum(effective_cost) <> 0
