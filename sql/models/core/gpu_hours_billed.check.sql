-- check: hours and costs equal those of core.accelerator_cost, per day, accelerator, pricing and currency
with built as (
    select hours.source, hours.billing_month, hours.charge_date, hours.accelerator, hours.pricing,
        hours.billing_currency,
        case when count(hours.gpu_hours + hours.unused_gpu_hours) = count(*)
            then sum(hours.gpu_hours + hours.unused_gpu_hours) end as hours,
        sum(hours.billed_cost) as billed_cost, sum(hours.effective_cost) as effective_cost,
        sum(hours.cost_before_credits) as cost_before_credits, sum(hours.list_cost) as list_cost
    from core.gpu_hours_billed as hours
    group by hours.source, hours.billing_month, hours.charge_date, hours.accelerator,
        hours.pricing, hours.billing_currency
),
given as (
    select costs.source, costs.billing_month, costs.charge_date, usages.accelerator, costs.pricing,
        costs.billing_currency,
        case when count(costs.hours * usages.accelerator_count) = count(*)
            then sum(costs.hours * usages.accelerator_count) end as hours,
        sum(costs.billed_cost) as billed_cost, sum(costs.effective_cost) as effective_cost,
        sum(costs.cost_before_credits) as cost_before_credits, sum(costs.list_cost) as list_cost
    from core.accelerator_cost as costs
    inner join core.accelerator_usage as usages
        on costs.source = usages.source and costs.billing_month = usages.billing_month
        and costs.usage_type = usages.usage_type and costs.provider is not distinct from usages.provider
        and costs.service_code is not distinct from usages.service_code
    group by costs.source, costs.billing_month, costs.charge_date, usages.accelerator, costs.pricing,
        costs.billing_currency
)
select built.source, built.billing_month, built.charge_date, built.accelerator, built.hours, given.hours
from built
full join given
    on built.source = given.source and built.billing_month = given.billing_month
    and built.charge_date = given.charge_date and built.accelerator = given.accelerator
    and built.pricing = given.pricing and built.billing_currency = given.billing_currency
where built.billed_cost is distinct from given.billed_cost
    or built.effective_cost is distinct from given.effective_cost
    or built.cost_before_credits is distinct from given.cost_before_credits
    or built.list_cost is distinct from given.list_cost
    or (built.hours is null and given.hours is not null) or (built.hours is not null and given.hours is null)
    -- Hours are rounded per machine and day.
    or abs(built.hours - given.hours) > 0.001
