-- What counts against each budget on each day, on the budget's own basis.
-- grain: one row per budget, source, billing month, day and currency of the charges that the budget covers
-- key: budget_id, source, billing_month, charge_date, billing_currency
with costs as (select * from core.costs_attributed),
budgets as (select * from settings.budget),
scopes as (select * from settings.budget_scope),
owners as (
    select distinct costs.project, costs.team
    from costs
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
        costs.source,
        costs.billing_month,
        costs.charge_date,
        costs.billing_currency,
        budgets.includes_credits,
        case
            when budgets.basis = 'billed' then costs.billed_cost - costs.promotional_credit
            when budgets.basis <> 'list' then costs.cost_before_credits
            -- A credit has no public price; FOCUS repeats its billed cost there.
            when costs.charge_category = 'Credit' then 0
            else coalesce(costs.list_cost, 0)
        end as gross_amount,
        costs.promotional_credit,
        costs.charge_rows
    from costs
    inner join owners_covered on costs.project = owners_covered.project and costs.team = owners_covered.team
    inner join budgets on owners_covered.budget_id = budgets.budget_id
    where (budgets.includes_tax or costs.charge_category is distinct from 'Tax')
        and (budgets.includes_refunds or costs.credit_kind is distinct from 'purchase refund')
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
