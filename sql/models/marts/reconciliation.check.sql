-- check: every load in force ties: delivered, loaded and mart totals are equal
select source, billing_month, billing_account_id, billing_currency, delivered_cost, billed_cost, mart_cost
from marts.reconciliation
where not ties

-- check: the mart total equals the total of marts.monthly_cost, per currency
with built as (
    select billing_currency, sum(mart_cost) as billed_cost
    from marts.reconciliation
    where billing_currency is not null
    group by billing_currency
),
given as (
    select billing_currency, sum(billed_cost) as billed_cost
    from marts.monthly_cost
    group by billing_currency
)
select * from built except select * from given
union all
(select * from given except select * from built)
