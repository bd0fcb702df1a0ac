-- check: what the charges of now come to is the same under both attributions, per month and currency
select source, billing_month, billing_currency
from core.closing_compared
group by source, billing_month, billing_currency
having sum(then_billed_cost) <> sum(now_billed_cost) or sum(then_effective_cost) <> sum(now_effective_cost)
