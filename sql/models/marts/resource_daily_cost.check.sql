-- check: money and charges equal those of core.charge_cube, per month and currency
with built as (
    select
        source,
        billing_month,
        billing_currency,
        sum(billed_cost) as billed_cost,
        sum(effective_cost) as effective_cost,
        sum(cost_before_credits) as cost_before_credits,
        sum(list_cost) as list_cost,
        sum(charge_rows) as charge_rows
    from marts.resource_daily_cost
    group by source, billing_month, billing_currency
),
given as (
    select
        source,
        billing_month,
        billing_currency,
        sum(billed_cost) as billed_cost,
        sum(effective_cost) as effective_cost,
        sum(cost_before_credits) as cost_before_credits,
        sum(list_cost) as list_cost,
        sum(charge_rows) as charge_rows
    from core.charge_cube
    group by source, billing_month, billing_currency
)
select * from built except select * from given
union all
(select * from given except select * from built)
