-- Where each budget stands in the calendar month that contains the night's day.
-- grain: one row per budget
-- key: budget_id
-- materialized: full
with night as (select * from settings.night),
budgets as (select * from settings.budget),
thresholds as (select * from settings.budget_threshold),
spend as (select * from core.budget_daily_spend),
freshness as (select * from marts.data_freshness),
periods as (
    select
        cast(date_trunc('month', night.as_of) as date) as period_start,
        cast(date_trunc('month', night.as_of) + interval '1' month as date) as period_end,
        night.as_of
    from night
),
completeness as (
    select
        case when count(*) = count(freshness.complete_through) then min(freshness.complete_through) end
            as complete_through
    from freshness
    where not freshness.is_retired
),
in_period as (
    select spend.*
    from spend
    inner join periods on spend.charge_date >= periods.period_start and spend.charge_date <= periods.as_of
),
totals as (
    select
        budgets.budget_id,
        min(case when in_period.billing_currency <> budgets.billing_currency then in_period.billing_currency end)
            as foreign_currency,
        coalesce(sum(in_period.spent_amount), 0) as spent_amount,
        coalesce(sum(in_period.gross_amount), 0) as gross_amount,
        coalesce(sum(in_period.net_amount), 0) as net_amount,
        cast(coalesce(sum(in_period.charge_rows), 0) as bigint) as matched_rows
    from budgets
    left join in_period on budgets.budget_id = in_period.budget_id
    group by budgets.budget_id
),
known as (
    select totals.*
    from totals
    where totals.foreign_currency is null
),
first_thresholds as (
    select thresholds.budget_id, min(thresholds.threshold_amount) as threshold_amount
    from thresholds
    group by thresholds.budget_id
)

select
    budgets.budget_id,
    -- Team that is told; null for the default route
    budgets.team,
    -- First day of the period
    periods.period_start,
    -- First day after the period
    periods.period_end,
    -- effective, billed or list: which cost counts
    budgets.basis,
    -- Spend so far on the budget's basis; a lower bound while days are missing, null if unknown
    known.spent_amount,
    -- The same before promotional credits
    known.gross_amount,
    -- The same after promotional credits
    known.net_amount,
    -- Limit of the period
    budgets.limit_amount,
    -- Spend as a share of the limit [%]
    cast(100 * cast(known.spent_amount as double) / nullif(cast(budgets.limit_amount as double), 0) as decimal(38, 2))
        as spent_percent,
    -- Limit less spend; negative where the budget is exceeded
    budgets.limit_amount - known.spent_amount as remaining_amount,
    -- Currency of the limit and of every amount on the row
    budgets.billing_currency,
    -- ok, at risk (a threshold is reached), over (more than the limit) or unknown
    case
        when known.budget_id is null then 'unknown'
        when known.spent_amount > budgets.limit_amount then 'over'
        when known.spent_amount >= first_thresholds.threshold_amount then 'at risk'
        else 'ok'
    end as state,
    -- Why the state is unknown; null where it is known
    case
        when known.budget_id is null
            then 'charges in ' || totals.foreign_currency || ', limit in ' || budgets.billing_currency
    end as reason,
    -- Last complete day of the slowest source; null if a source has no data
    completeness.complete_through,
    -- Charges that count against the budget in the period
    totals.matched_rows
from budgets
cross join periods
cross join completeness
inner join totals on budgets.budget_id = totals.budget_id
left join known on budgets.budget_id = known.budget_id
left join first_thresholds on budgets.budget_id = first_thresholds.budget_id
