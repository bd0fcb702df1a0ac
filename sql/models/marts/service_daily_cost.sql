-- What each service cost each project on each day.
-- grain: one row per source, billing month, day, provider, project, team, service and currency
-- key: source, billing_month, charge_date, provider?, project, team, service_name?, service_category?, billing_currency
with costs as (select * from core.costs_attributed)

select
    costs.source,
    costs.billing_month,
    costs.charge_date,
    costs.provider,
    costs.project,
    costs.team,
    costs.service_name,
    costs.service_category,
    costs.billing_currency,
    sum(costs.billed_cost) as billed_cost,
    sum(costs.effective_cost) as effective_cost,
    sum(costs.cost_before_credits) as cost_before_credits,
    sum(costs.list_cost) as list_cost,
    cast(sum(costs.charge_rows) as bigint) as charge_rows
from costs
group by
    costs.source,
    costs.billing_month,
    costs.charge_date,
    costs.provider,
    costs.project,
    costs.team,
    costs.service_name,
    costs.service_category,
    costs.billing_currency
