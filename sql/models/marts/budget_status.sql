-- Where each budget stands in the calendar month that contains the night's day, and in the one before while its last
-- days still arrive.
-- grain: one row per budget and period; the month before is there on the first five days of a month
-- key: budget_id, period_start
-- materialized: full
with periods as (select * from core.budget_period),
sources as (select * from core.budget_source),
spend as (select * from core.budget_daily_spend),
budgets as (select * from settings.budget),
thresholds as (select * from settings.budget_threshold),
freshness as (select * from marts.data_freshness),
totals as (
    select
        periods.budget_id,
        periods.period_start,
        periods.period_end,
        min(case when spend.billing_currency <> budgets.billing_currency then spend.billing_currency end)
            as foreign_currency,
        coalesce(sum(spend.spent_amount), 0) as spent_amount,
        coalesce(sum(spend.gross_amount), 0) as gross_amount,
        coalesce(sum(spend.net_amount), 0) as net_amount,
        cast(coalesce(sum(spend.charge_rows), 0) as bigint) as matched_rows
    from periods
    inner join budgets on periods.budget_id = budgets.budget_id
    left join spend
        on periods.budget_id = spend.budget_id and spend.charge_date <= periods.as_of
        and spend.charge_date >= periods.period_start and spend.charge_date < periods.period_end
    group by periods.budget_id, periods.period_start, periods.period_end
),
completeness as (
    select
        totals.budget_id,
        totals.period_start,
        case when count(*) = count(freshness.complete_through) then min(freshness.complete_through) end
            as complete_through
    from totals
    cross join freshness
    left join sources
        on totals.budget_id = sources.budget_id and totals.period_start = sources.period_start
        and freshness.source = sources.source
    where not freshness.is_retired and (totals.matched_rows = 0 or sources.source is not null)
    group by totals.budget_id, totals.period_start
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
    totals.period_start,
    -- First day after the period
    totals.period_end,
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
    -- Last complete day of the slowest source with charges of the budget, of all sources without any; null if unknown
    completeness.complete_through,
    -- Charges that count against the budget in the period
    totals.matched_rows
from budgets
inner join totals on budgets.budget_id = totals.budget_id
left join completeness on totals.budget_id = completeness.budget_id and totals.period_start = completeness.period_start
left join known on totals.budget_id = known.budget_id and totals.period_start = known.period_start
left join first_thresholds on budgets.budget_id = first_thresholds.budget_id
