-- When an export last said anything, and how late it told of usage, for exports that say when each row was exported.
-- grain: one row per source and invoice month with such rows
-- key: source, billing_month
with costs as (select * from focus.cost_and_usage),
exported as (
    select
        costs.x_Source as source,
        costs.x_BillingMonth as billing_month,
        max(costs.x_ExportTime) as last_exported_at
    from costs
    where costs.x_ExportTime is not null
    group by costs.x_Source, costs.x_BillingMonth
),
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
),
lags as (
    select ranked.source, ranked.billing_month, min(ranked.lag_days) as observed_lag_days
    from ranked
    where ranked.days_within * 100 >= ranked.days * 95
    group by ranked.source, ranked.billing_month
)

select
    -- Source
    exported.source,
    -- First day of the invoice month
    exported.billing_month,
    -- When the month's last row was exported, UTC
    exported.last_exported_at,
    -- Days from a usage day to the export of its last row: no more than this on 95 % of the month's usage days; null
    -- where it has no usage
    lags.observed_lag_days
from exported
left join lags on exported.source = lags.source and exported.billing_month = lags.billing_month
