-- check: conversion neither loses nor repeats a cost of core.costs_shared
with built as (
    select source, billing_month, billing_currency, sum(billed_cost) as billed_cost, count(*) as cost_rows
    from core.costs_converted
    group by source, billing_month, billing_currency
),
given as (
    select source, billing_month, billing_currency, sum(billed_cost) as billed_cost, count(*) as cost_rows
    from core.costs_shared
    group by source, billing_month, billing_currency
)
select * from built except select * from given
union all
(select * from given except select * from built)

-- check: a cost in the reporting currency is worth itself
select source, billing_month, charge_date, billing_currency
from core.costs_converted
where billing_currency = reporting_currency
    and (billed_cost <> converted_billed_cost or effective_cost <> converted_effective_cost
        or cost_before_credits <> converted_cost_before_credits or list_cost is distinct from converted_list_cost)

-- check: where there is a reporting currency, every cost is converted to it
select source, billing_month, charge_date, billing_currency
from core.costs_converted
where converted_billed_cost is null and exists (select 1 from settings.currency)
