-- check: every closed figure is there, per month and currency
with sides as (
    select billing_month, billing_currency, billed_cost, effective_cost
    from marts.closed_month
    union all
    select billing_month, billing_currency, -billed_cost, -effective_cost
    from settings.closed_figure
)
select billing_month, billing_currency
from sides
group by billing_month, billing_currency
having sum(billed_cost) <> 0 or sum(effective_cost) <> 0
