-- Log storage that only grows: what was there at the start of the window is still kept.
-- grain: one row per log group that was there at the start and never shrank
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
days as (
    select windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        windows.window_start, windows.window_end, usage.resource_id, usage.billing_currency, usage.charge_date,
        sum(usage.monthly_quantity) as gigabytes,
        sum(usage.cost_before_credits) as day_cost, sum(usage.covered_cost) as day_covered_cost
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    where windows.check_name = 'log_growth' and windows.reason is null and usage.resource_id is not null
        and usage.meaning = 'log_storage'
    group by windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        windows.window_start, windows.window_end, usage.resource_id, usage.billing_currency, usage.charge_date
),
ordered as (
    select days.*,
        lag(days.gigabytes) over (
            partition by days.source, days.resource_id, days.billing_currency order by days.charge_date
        ) as gigabytes_before,
        case when date_diff('day', days.charge_date, days.window_end) <= 30 then 1 else 0 end as is_last_month
    from days
),
resources as (
    select ordered.source, ordered.check_name, ordered.minimum_days, ordered.window_days, ordered.saving_share,
        ordered.window_start, ordered.resource_id, ordered.billing_currency, count(*) as days_seen,
        min(ordered.charge_date) as first_day, min(ordered.gigabytes) as first_gigabytes,
        max(ordered.gigabytes) as last_gigabytes,
        -- Hours that arrive late make a day look a little smaller.
        count(case when ordered.gigabytes * 100 < ordered.gigabytes_before * 99 then 1 end) as days_shrunk,
        sum(case when ordered.is_last_month = 1 then ordered.day_cost else 0 end) as usage_cost,
        sum(case when ordered.is_last_month = 1 then ordered.day_covered_cost else 0 end) as covered_cost
    from ordered
    group by ordered.source, ordered.check_name, ordered.minimum_days, ordered.window_days, ordered.saving_share,
        ordered.window_start, ordered.resource_id, ordered.billing_currency
)

select
    resources.source, resources.check_name, resources.resource_id, resources.billing_currency,
    -- waste, or unknown where days are missing in between
    case when resources.days_seen >= resources.minimum_days then 'waste' else 'unknown' end as outcome,
    -- Cost of the last 30 days
    resources.usage_cost,
    -- Part of it that a commitment pays
    resources.covered_cost,
    -- Storage at the start as a part of that at the end: it is older than the window
    cast(cast(resources.first_gigabytes as double) / nullif(cast(resources.last_gigabytes as double), 0)
        as decimal(13, 12)) as saving_share,
    -- Days that the cost is of
    case when resources.window_days < 30 then resources.window_days else 30 end as charged_days,
    -- What was seen, in numbers
    cast(cast(resources.first_gigabytes as decimal(18, 2)) as varchar) || ' GB grew to '
        || cast(cast(resources.last_gigabytes as decimal(18, 2)) as varchar) || ' GB in '
        || cast(resources.days_seen as varchar) || ' days and never shrank' as evidence
from resources
where date_diff('day', resources.window_start, resources.first_day) <= resources.window_days - resources.minimum_days
    and resources.days_shrunk = 0 and resources.last_gigabytes * 100 > resources.first_gigabytes * 105
