-- check: attribution keeps every cost: money and charges equal those of core.charge_sum, per currency
with built as (
    select
        billing_currency,
        sum(billed_cost) as billed_cost,
        sum(effective_cost) as effective_cost,
        sum(cost_before_credits) as cost_before_credits,
        sum(list_cost) as list_cost,
        sum(contracted_cost) as contracted_cost,
        sum(promotional_credit) as promotional_credit,
        sum(charge_rows) as charge_rows
    from core.charge_cube
    group by billing_currency
),
given as (
    select
        kinds.billing_currency,
        sum(sums.billed_cost) as billed_cost,
        sum(sums.effective_cost) as effective_cost,
        sum(sums.effective_cost - sums.promotional_credit) as cost_before_credits,
        sum(sums.list_cost) as list_cost,
        sum(sums.contracted_cost) as contracted_cost,
        sum(sums.promotional_credit) as promotional_credit,
        sum(sums.charge_rows) as charge_rows
    from core.charge_sum as sums
    left join core.charge_kind as kinds
        on sums.billing_month = kinds.billing_month and sums.kind_number = kinds.kind_number
    group by kinds.billing_currency
)
select * from built except select * from given
union all
(select * from given except select * from built)
