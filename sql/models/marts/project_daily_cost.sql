-- What each project cost on each day.
-- grain: one row per source, billing month, day, provider, all that is attributed and currency
-- key: source, billing_month, charge_date, provider?, project, team, environment, workload, cost_centre,
-- key: split_name?, billing_currency
with costs as (select * from core.costs_converted)

select
    costs.source,
    costs.billing_month,
    costs.charge_date,
    costs.provider,
    costs.project,
    costs.team,
    costs.environment,
    costs.workload,
    costs.cost_centre,
    costs.split_name,
    costs.billing_currency,
    sum(costs.billed_cost) as billed_cost,
    sum(costs.effective_cost) as effective_cost,
    -- The part of effective_cost that is charged to those who bear it: all of it on a row without split_name, else 0
    sum(case when costs.split_name is null then costs.effective_cost else 0 end) as direct_cost,
    -- The part of effective_cost that a split gave them: all of it on a row with split_name, else 0
    sum(case when costs.split_name is null then 0 else costs.effective_cost end) as shared_cost,
    sum(costs.cost_before_credits) as cost_before_credits,
    sum(costs.list_cost) as list_cost,
    max(costs.reporting_currency) as reporting_currency,
    sum(costs.converted_billed_cost) as converted_billed_cost,
    sum(costs.converted_effective_cost) as converted_effective_cost,
    sum(costs.converted_cost_before_credits) as converted_cost_before_credits,
    sum(costs.converted_list_cost) as converted_list_cost,
    cast(sum(costs.charge_rows) as bigint) as charge_rows
from costs
group by
    costs.source,
    costs.billing_month,
    costs.charge_date,
    costs.provider,
    costs.project,
    costs.team,
    costs.environment,
    costs.workload,
    costs.cost_centre,
    costs.split_name,
    costs.billing_currency
