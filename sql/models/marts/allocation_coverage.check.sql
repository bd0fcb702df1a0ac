-- check: each scope and dimension has the whole effective cost and all charges, per month and currency
with built as (
    select billing_month, billing_currency, sum(effective_cost) as effective_cost, sum(charge_rows) as charge_rows
    from marts.allocation_coverage
    group by billing_month, billing_currency, scope, dimension
),
given as (
    select billing_month, billing_currency, sum(effective_cost) as effective_cost, sum(charge_rows) as charge_rows
    from core.costs_attributed
    group by billing_month, billing_currency
)
select * from built except select * from given
union all
(select * from given except select * from built)
