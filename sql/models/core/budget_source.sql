-- The sources whose charges count against a budget in a period: they say how far it is complete.
-- grain: one row per budget, period and source
-- key: budget_id, period_start, source
-- materialized: full
with periods as (select * from core.budget_period),
spend as (select * from core.budget_daily_spend)

select distinct
    -- Id of the budget in the configuration
    periods.budget_id,
    -- First day of the period
    periods.period_start,
    -- Source with charges of the budget in the period
    spend.source
from periods
inner join spend
    on periods.budget_id = spend.budget_id
    and spend.charge_date >= periods.period_start
    and spend.charge_date < periods.period_end
    and spend.charge_date <= periods.as_of
