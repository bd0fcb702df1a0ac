-- check: what is used, idle and left adds up to the charges of containers and their machines, per day and currency
with built as (
    select
        source,
        billing_month,
        charge_date,
        billing_currency,
        sum(billed_cost) as billed_cost,
        sum(effective_cost) as effective_cost,
        sum(cost_before_credits) as cost_before_credits,
        sum(charge_rows) as charge_rows
    from marts.container_daily_cost
    group by source, billing_month, charge_date, billing_currency
),
given as (
    select
        source,
        billing_month,
        charge_date,
        billing_currency,
        sum(billed_cost) as billed_cost,
        sum(effective_cost) as effective_cost,
        sum(cost_before_credits) as cost_before_credits,
        sum(charge_rows) as charge_rows
    from core.container_cost
    group by source, billing_month, charge_date, billing_currency
)
select * from built except select * from given
union all
(select * from given except select * from built)
