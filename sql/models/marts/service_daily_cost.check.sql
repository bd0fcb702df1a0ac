-- check: money and charges equal those of core.costs_converted, per month and currency
with built as (
    select
        source,
        billing_month,
        billing_currency,
        sum(billed_cost) as billed_cost,
        sum(effective_cost) as effective_cost,
        sum(cost_before_credits) as cost_before_credits,
        sum(list_cost) as list_cost,
        max(reporting_currency) as reporting_currency,
        sum(converted_billed_cost) as converted_billed_cost,
        sum(converted_effective_cost) as converted_effective_cost,
        sum(converted_cost_before_credits) as converted_cost_before_credits,
        sum(converted_list_cost) as converted_list_cost,
        sum(charge_rows) as charge_rows
    from marts.service_daily_cost
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
        max(reporting_currency) as reporting_currency,
        sum(converted_billed_cost) as converted_billed_cost,
        sum(converted_effective_cost) as converted_effective_cost,
        sum(converted_cost_before_credits) as converted_cost_before_credits,
        sum(converted_list_cost) as converted_list_cost,
        sum(charge_rows) as charge_rows
    from core.costs_converted
    group by source, billing_month, billing_currency
)
select * from built except select * from given
union all
(select * from given except select * from built)
