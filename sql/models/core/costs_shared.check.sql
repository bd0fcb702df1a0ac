-- check: money and charges equal those of core.costs_attributed, per source, month, day, payer and currency
with built as (
    select
        source,
        billing_month,
        charge_date,
        billing_account_id,
        billing_currency,
        sum(billed_cost) as billed_cost,
        sum(effective_cost) as effective_cost,
        sum(cost_before_credits) as cost_before_credits,
        sum(list_cost) as list_cost,
        sum(promotional_credit) as promotional_credit,
        sum(charge_rows) as charge_rows
    from core.costs_shared
    group by source, billing_month, charge_date, billing_account_id, billing_currency
),
given as (
    select
        source,
        billing_month,
        charge_date,
        billing_account_id,
        billing_currency,
        sum(billed_cost) as billed_cost,
        sum(effective_cost) as effective_cost,
        sum(cost_before_credits) as cost_before_credits,
        sum(list_cost) as list_cost,
        sum(promotional_credit) as promotional_credit,
        sum(charge_rows) as charge_rows
    from core.costs_attributed
    group by source, billing_month, charge_date, billing_account_id, billing_currency
)
select * from built except select * from given
union all
(select * from given except select * from built)
