-- check: a budget of everything, taxes, refunds, credits and shared costs too, counts every cost of its basis, exactly
with whole as (
    select budgets.budget_id, budgets.basis, budgets.billing_currency
    from settings.budget as budgets
    left join settings.budget_scope as scopes on budgets.budget_id = scopes.budget_id
    where scopes.budget_id is null
        and budgets.includes_tax
        and budgets.includes_refunds
        and budgets.includes_credits
        and budgets.includes_shared
        and budgets.basis <> 'list'
),
built as (
    select whole.budget_id, spend.billing_currency, sum(spend.spent_amount) as amount
    from whole
    inner join core.budget_daily_spend as spend on whole.budget_id = spend.budget_id
    group by whole.budget_id, spend.billing_currency
),
given as (
    select
        whole.budget_id,
        case when costs.reporting_currency = whole.billing_currency then whole.billing_currency
            else costs.billing_currency end as billing_currency,
        sum(case
            when costs.reporting_currency = whole.billing_currency and whole.basis = 'billed'
                then costs.converted_billed_cost
            when costs.reporting_currency = whole.billing_currency then costs.converted_effective_cost
            when whole.basis = 'billed' then costs.billed_cost
            else costs.effective_cost
        end) as amount
    from whole
    cross join core.costs_converted as costs
    group by whole.budget_id, case when costs.reporting_currency = whole.billing_currency then whole.billing_currency
        else costs.billing_currency end
)
select * from built except select * from given
union all
(select * from given except select * from built)
