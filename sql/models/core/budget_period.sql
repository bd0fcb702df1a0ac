-- The periods in which each budget is judged: the calendar month of the night's day, and on its first five days the one
-- before, whose last charges still arrive.
-- grain: one row per budget and period
-- key: budget_id, period_start
-- materialized: full
with night as (select * from settings.night),
budgets as (select * from settings.budget),
current_month as (
    select cast(date_trunc('month', night.as_of) as date) as period_start, night.as_of
    from night
),
periods as (
    select
        current_month.period_start,
        cast(current_month.period_start + interval '1' month as date) as period_end,
        current_month.as_of
    from current_month
    union all
    select
        cast(current_month.period_start - interval '1' month as date) as period_start,
        current_month.period_start as period_end,
        current_month.as_of
    from current_month
    where current_month.as_of < cast(current_month.period_start + interval '5' day as date)
)

select
    -- Id of the budget in the configuration
    budgets.budget_id,
    -- First day of the period
    periods.period_start,
    -- First day after the period
    periods.period_end,
    -- The night's day: charges of later days do not count
    periods.as_of
from budgets
cross join periods
