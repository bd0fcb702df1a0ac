-- Through which day each source is complete, as of the night's day.
-- grain: one row per source that is configured or has charges
-- key: source
-- materialized: full
with night as (select * from settings.night),
months as (select * from marts.month_status),
sources as (select * from settings.source),
loads as (select * from ops.load),
costs as (select * from core.costs_attributed),
lags as (select * from core.export_lag),
usage_days as (
    select costs.source, max(costs.charge_date) as last_usage_date
    from costs
    cross join night
    where costs.charge_category = 'Usage' and costs.charge_date <= night.as_of and costs.charge_rows > 0
    group by costs.source
),
loaded as (
    select loads.source, max(loads.billing_month) as last_billing_month
    from loads where loads.is_current group by loads.source
),
exported as (
    select lags.source, cast(max(lags.last_exported_at) as date) as last_export_date from lags group by lags.source
),
named as (select sources.source from sources union select loaded.source from loaded),
described as (
    select
        named.source, loaded.last_billing_month, usage_days.last_usage_date, exported.last_export_date,
        night.as_of,
        cast(night.as_of - interval '1' day as date) as yesterday,
        coalesce(sources.settle_days, 1) as settle_days,
        coalesce(sources.is_retired, true) as is_retired
    from named
    cross join night
    left join sources on named.source = sources.source
    left join loaded on named.source = loaded.source
    left join usage_days on named.source = usage_days.source
    left join exported on named.source = exported.source
),
-- An export that goes on says that days before it have settled, those without usage too.
settled as (
    select
        described.*,
        case
            when cast(described.last_export_date - interval '1' day as date) > described.last_usage_date
            then cast(described.last_export_date - interval '1' day as date)
            else described.last_usage_date
        end as last_known_date
    from described
),
judged as (
    select
        settled.*,
        cast(settled.yesterday - settled.settle_days * interval '1' day as date) as due_through,
        cast(
            case when settled.last_known_date < settled.yesterday then settled.last_known_date
                when settled.last_known_date is not null then settled.yesterday
            end - settled.settle_days * interval '1' day as date
        ) as complete_through
    from settled
)

select
    judged.source,
    -- Latest billing month that is loaded; null where nothing is
    judged.last_billing_month,
    -- Whether that month is open, estimated, final or restated: see marts.month_status
    last_months.status as last_month_status,
    -- The same of the month before it; null where that is not loaded
    previous_months.status as previous_month_status,
    -- Last day on which usage begins, days after as_of not counted
    judged.last_usage_date,
    -- Last day whose usage is complete: the last with usage or before an export, less settle_days; null if unknown
    judged.complete_through,
    -- First day that may still grow, and with it all later ones: the day after complete_through; null if unknown
    cast(judged.complete_through + interval '1' day as date) as provisional_from,
    -- Days from a usage day to the export of its last row in the latest loaded month, on 95 % of its days; null where
    -- the export does not say
    lags.observed_lag_days,
    -- The day that counts as today
    judged.as_of,
    -- Days after which a day's usage counts as complete
    judged.settle_days,
    -- Days between complete_through and the day that could be complete by now; null if unknown
    date_diff('day', judged.complete_through, judged.due_through) as days_behind,
    -- True where the configuration no longer names the source
    judged.is_retired,
    -- fresh, late (more than a day behind: providers take up to a day to deliver) or no data
    case
        when judged.complete_through is null then 'no data'
        when date_diff('day', judged.complete_through, judged.due_through) > 1 then 'late'
        else 'fresh'
    end as state
from judged
left join months as last_months
    on judged.source = last_months.source and judged.last_billing_month = last_months.billing_month
left join months as previous_months
    on judged.source = previous_months.source
    and cast(judged.last_billing_month - interval '1' month as date) = previous_months.billing_month
left join lags on judged.source = lags.source and judged.last_billing_month = lags.billing_month
