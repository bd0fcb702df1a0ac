-- What counts against each budget on each day, on the budget's own basis. Charges in other currencies count converted
-- where the limit is in the reporting currency.
-- grain: one row per budget, source, billing month, day and currency of what the budget covers
-- key: budget_id, source, billing_month, charge_date, billing_currency
with costs as (select * from core.costs_converted),
budgets as (select * from settings.budget),
scopes as (select * from settings.budget_scope),
-- Summed by all that a budget looks at, before each budget reads them.
days as (
    select costs.source, costs.billing_month, costs.charge_date, costs.billing_currency, costs.reporting_currency,
        costs.project, costs.team, costs.charge_category, costs.credit_kind, costs.is_own,
        sum(costs.billed_cost) as billed_cost, sum(costs.cost_before_credits) as cost_before_credits,
        sum(costs.list_cost) as list_cost, sum(costs.promotional_credit) as promotional_credit,
        sum(costs.converted_billed_cost) as converted_billed_cost,
        sum(costs.converted_cost_before_credits) as converted_cost_before_credits,
        sum(costs.converted_list_cost) as converted_list_cost,
        sum(costs.converted_effective_cost - costs.converted_cost_before_credits) as converted_credit,
        sum(costs.charge_rows) as charge_rows
    from costs
    group by costs.source, costs.billing_month, costs.charge_date, costs.billing_currency, costs.reporting_currency,
        costs.project, costs.team, costs.charge_category, costs.credit_kind, costs.is_own
),
owners as (select distinct days.project, days.team from days),
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
covered as (
    select days.*, budgets.budget_id, budgets.basis, budgets.includes_credits,
        budgets.billing_currency <> days.billing_currency
        and budgets.billing_currency is not distinct from days.reporting_currency as is_converted
    from days
    inner join owners_covered on days.project = owners_covered.project and days.team = owners_covered.team
    inner join budgets on owners_covered.budget_id = budgets.budget_id
    where (budgets.includes_tax or days.charge_category is distinct from 'Tax')
        and (budgets.includes_refunds or days.credit_kind is distinct from 'purchase refund')
        and (budgets.includes_shared or days.is_own = 1)
),
amounts as (
    select covered.budget_id, covered.source, covered.billing_month, covered.charge_date, covered.includes_credits,
        case when covered.is_converted then covered.reporting_currency else covered.billing_currency end
            as billing_currency,
        case
            -- A credit has no public price; FOCUS repeats its billed cost there.
            when covered.basis = 'list' and covered.charge_category = 'Credit' then 0
            when covered.basis = 'list' and covered.is_converted then coalesce(covered.converted_list_cost, 0)
            when covered.basis = 'list' then coalesce(covered.list_cost, 0)
            when covered.basis = 'billed' and covered.is_converted
            then covered.converted_billed_cost - covered.converted_credit
            when covered.basis = 'billed' then covered.billed_cost - covered.promotional_credit
            when covered.is_converted then covered.converted_cost_before_credits
            else covered.cost_before_credits
        end as gross_amount,
        case when covered.is_converted then covered.converted_credit else covered.promotional_credit end
            as promotional_credit,
        covered.charge_rows
    from covered
)

select
    -- Id of the budget in the configuration
    amounts.budget_id,
    amounts.source,
    amounts.billing_month,
    amounts.charge_date,
    -- ISO 4217 code of every amount on the row
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
