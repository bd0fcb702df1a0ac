-- Closed months against what is loaded and attributed now: the figures as they were closed, and what the charges of now
-- come to under the attribution of then and of now. A combination of account, tags and service that had one owner when
-- the month was closed still has it then; one that had several, or was not there, has the owner of now in both. What
-- splits move is that of now in both, or else that of the closing where splits have changed since.
-- grain: one row per source, closed month, project, team and currency of either side
-- key: source, billing_month, project, team, billing_currency
with costs as (select * from core.charge_cube),
moved as (select * from core.cost_moved),
closed_months as (select * from settings.closed_month),
closed_figures as (select * from settings.closed_figure),
months as (
    select distinct costs.billing_month
    from costs
    inner join closed_months on costs.billing_month = closed_months.billing_month
),
now_costs as (
    select costs.source, costs.billing_month, costs.provider, costs.billing_account_id, costs.sub_account_id,
        costs.tag_set_id, costs.service_name, costs.service_category, costs.charge_category, costs.billing_currency,
        costs.project, costs.team, sum(costs.billed_cost) as billed_cost, sum(costs.effective_cost) as effective_cost
    from costs
    inner join months on costs.billing_month = months.billing_month
    group by costs.source, costs.billing_month, costs.provider, costs.billing_account_id, costs.sub_account_id,
        costs.tag_set_id, costs.service_name, costs.service_category, costs.charge_category, costs.billing_currency,
        costs.project, costs.team
),
figures as (
    select closed_figures.*
    from closed_figures
    inner join months on closed_figures.billing_month = months.billing_month
),
owners as (
    select figures.source, figures.billing_month, figures.provider, figures.billing_account_id,
        figures.sub_account_id, figures.tag_set_id, figures.service_name, figures.service_category,
        figures.charge_category, figures.billing_currency, min(figures.project) as project, min(figures.team) as team
    from figures
    where figures.kind = 'actual'
    group by figures.source, figures.billing_month, figures.provider, figures.billing_account_id,
        figures.sub_account_id, figures.tag_set_id, figures.service_name, figures.service_category,
        figures.charge_category, figures.billing_currency
    having min(figures.project) = max(figures.project) and min(figures.team) = max(figures.team)
),
amounts as (
    select figures.source, figures.billing_month, figures.project, figures.team, figures.billing_currency, sides.side,
        figures.billed_cost, figures.effective_cost
    from figures
    inner join closed_months on figures.billing_month = closed_months.billing_month
    inner join (
        select 'actual' as kind, 'closed' as side union all select 'shared' as kind, 'closed' as side
        union all select 'accrual' as kind, 'accrued' as side
        union all select 'shared' as kind, 'then' as side
    ) as sides
        on figures.kind = sides.kind and (sides.side <> 'then' or not closed_months.has_same_splits)
    union all
    select now_costs.source, now_costs.billing_month, now_costs.project, now_costs.team, now_costs.billing_currency,
        'now' as side, now_costs.billed_cost, now_costs.effective_cost
    from now_costs
    union all
    select moved.source, moved.billing_month, moved.project, moved.team, moved.billing_currency, sides.side,
        moved.billed_cost, moved.effective_cost
    from moved
    inner join closed_months on moved.billing_month = closed_months.billing_month
    inner join (select 'now' as side union all select 'then' as side) as sides
        on sides.side = 'now' or closed_months.has_same_splits
    union all
    select now_costs.source, now_costs.billing_month, coalesce(owners.project, now_costs.project) as project,
        coalesce(owners.team, now_costs.team) as team, now_costs.billing_currency,
        'then' as side, now_costs.billed_cost, now_costs.effective_cost
    from now_costs
    left join owners
        on now_costs.source = owners.source and now_costs.billing_month = owners.billing_month
        and now_costs.provider is not distinct from owners.provider
        and now_costs.billing_account_id is not distinct from owners.billing_account_id
        and now_costs.sub_account_id is not distinct from owners.sub_account_id
        and now_costs.tag_set_id is not distinct from owners.tag_set_id
        and now_costs.service_name is not distinct from owners.service_name
        and now_costs.service_category is not distinct from owners.service_category
        and now_costs.charge_category is not distinct from owners.charge_category
        and now_costs.billing_currency is not distinct from owners.billing_currency
)

select
    amounts.source, amounts.billing_month, amounts.project, amounts.team, amounts.billing_currency,
    -- Billed cost as it was closed, the accrual apart
    sum(case when amounts.side = 'closed' then amounts.billed_cost else 0 end) as closed_billed_cost,
    -- Effective cost as it was closed, the accrual apart
    sum(case when amounts.side = 'closed' then amounts.effective_cost else 0 end) as closed_effective_cost,
    -- Billed cost that was booked for days that were missing when the month was closed
    sum(case when amounts.side = 'accrued' then amounts.billed_cost else 0 end) as accrued_billed_cost,
    -- Effective cost that was booked for missing days
    sum(case when amounts.side = 'accrued' then amounts.effective_cost else 0 end) as accrued_effective_cost,
    -- Billed cost of the charges of now, attributed as when the month was closed
    sum(case when amounts.side = 'then' then amounts.billed_cost else 0 end) as then_billed_cost,
    -- Effective cost of the charges of now, attributed as then
    sum(case when amounts.side = 'then' then amounts.effective_cost else 0 end) as then_effective_cost,
    -- Billed cost of the charges of now, attributed as now
    sum(case when amounts.side = 'now' then amounts.billed_cost else 0 end) as now_billed_cost,
    -- Effective cost of the charges of now, attributed as now
    sum(case when amounts.side = 'now' then amounts.effective_cost else 0 end) as now_effective_cost
from amounts
group by amounts.source, amounts.billing_month, amounts.project, amounts.team, amounts.billing_currency
