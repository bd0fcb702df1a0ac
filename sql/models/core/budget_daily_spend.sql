-- What counts against each budget on each day, on the budget's own basis.
-- grain: one row per budget, source, billing month, day and currency of the charges that the budget covers
-- key: budget_id, source, billing_month, charge_date, billing_currency
with costs as (select * from core.costs_shared),
budgets as (select * from settings.budget),
scopes as (select * from settings.budget_scope),
-- Summed by all that a budget looks at, before each budget reads them.
days as (
    select costs.source, costs.billing_month, costs.charge_date, costs.billing_currency, costs.project, costs.team,
        costs.charge_category, costs.credit_kind, costs.is_own,
        sum(costs.billed_cost) as billed_cost, sum(costs.cost_before_credits) as cost_before_credits,
        sum(costs.list_cost) as list_cost, sum(costs.promotional_credit) as promotional_credit,
        sum(costs.charge_rows) as charge_rows
    from costs
    group by costs.source, costs.billing_month, costs.charge_date, costs.billing_currency, costs.project, costs.team,
        costs.charge_category, costs.credit_kind, costs.is_own
),
owners as (
    select distinct days.project, days.team
    from days
),
scope_sizes as (
    select budgets.budget_id, count(distinct scopes.dimension) as dimension_count
    from budgets
    left join scopes on budgets.budget_id = scopes.budget_id
    group by budgets.budget_id
),
scopes_met as (
    select owners.project, owners.team, scopes.budget_id, count(distinct scopes.dimension) as dimension_count
    from owners
    inner join scopes
        on (scopes.dimension = 'project' and owners.project like scopes.pattern escape '\')
        or (scopes.dimension = 'team' and owners.team like scopes.pattern escape '\')
    group by owners.project, owners.team, scopes.budget_id
),
owners_covered as (
    select owners.project, owners.team, scope_sizes.budget_id
    from owners
    cross join scope_sizes
    left join scopes_met
        on owners.project = scopes_met.project
        and owners.team = scopes_met.team
        and scope_sizes.budget_id = scopes_met.budget_id
    where scope_sizes.dimension_count = coalesce(scopes_met.dimension_count, 0)
),
amounts as (
    select
        budgets.budget_id,
        days.source,
        days.billing_month,
        days.charge_date,
        days.billing_currency,
        budgets.includes_credits,
        case
            when budgets.basis = 'billed' then days.billed_cost - days.promotional_credit
            when budgets.basis <> 'list' then days.cost_before_credits
            -- A credit has no public price; FOCUS repeats its billed cost there.
            when days.charge_category = 'Credit' then 0
            else coalesce(days.list_cost, 0)
        end as gross_amount,
        days.promotional_credit,
        days.charge_rows
    from days
    inner join owners_covered on days.project = owners_covered.project and days.team = owners_covered.team
    inner join budgets on owners_covered.budget_id = budgets.budget_id
    where (budgets.includes_tax or days.charge_category is distinct from 'Tax')
        and (budgets.includes_refunds or days.credit_kind is distinct from 'purchase refund')
        and (budgets.includes_shared or days.is_own = 1)
)

select
    -- Id of the budget in the configuration
    amounts.budget_id,
    amounts.source,
    amounts.billing_month,
    amounts.charge_date,
    amounts.billing_currency,
    -- Spend on the budget's basis; promotional credits lower it only where the budget includes them
    sum(
        amounts.gross_amount + case when amounts.includes_credits then amounts.promotional_credit else 0 end
    ) as spent_amount,
    -- The same before promotional credits
    sum(amounts.gross_amount) as gross_amount,
    -- The same after promotional credits
    sum(amounts.gross_amount + amounts.promotional_credit) as net_amount,
    -- Charges that count
    cast(sum(amounts.charge_rows) as bigint) as charge_rows
from amounts
group by amounts.budget_id, amounts.source, amounts.billing_month, amounts.charge_date, amounts.billing_currency
