-- How late usage was exported, for exports that say when each row was.
-- grain: one row per source and invoice month with such rows
-- key: source, billing_month
with costs as (select * from focus.cost_and_usage),
usage_days as (
    select
        costs.x_Source as source,
        costs.x_BillingMonth as billing_month,
        cast(costs.ChargePeriodStart as date) as usage_date,
        date_diff(
            'day', cast(costs.ChargePeriodStart as date), cast(max(costs.x_ExportTime) as date)
        ) as lag_days
    from costs
    -- Usage of an earlier month and corrections come late by their nature.
    where costs.x_ExportTime is not null and costs.ChargeCategory = 'Usage' and costs.ChargeClass is null
        and costs.ChargePeriodStart >= costs.BillingPeriodStart
        and costs.ChargePeriodStart < costs.BillingPeriodEnd
    group by costs.x_Source, costs.x_BillingMonth, cast(costs.ChargePeriodStart as date)
),
ranked as (
    select
        usage_days.*,
        count(*) over (partition by usage_days.source, usage_days.billing_month) as days,
        count(*) over (
            partition by usage_days.source, usage_days.billing_month
            order by usage_days.lag_days nulls first
        ) as days_within
    from usage_days
)

select
    -- Source
    ranked.source,
    -- First day of the invoice month
    ranked.billing_month,
    -- Days from a usage day to the export of its last row: no more than this on 95 % of the month's usage days
    min(ranked.lag_days) as observed_lag_days
from ranked
where ranked.days_within * 100 >= ranked.days * 95
group by ranked.source, ranked.billing_month
