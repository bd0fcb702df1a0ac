-- Notebooks that run day and night: nobody works with them outside working hours.
-- grain: one row per notebook that runs on all days
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
work as (select * from settings.waste_hours),
days as (
    select windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.limit_number,
        usage.resource_id, usage.billing_currency, usage.charge_date, sum(usage.quantity) as hours,
        sum(usage.cost_before_credits) as day_cost, sum(usage.covered_cost) as day_covered_cost,
        sum(case when usage.hour_of_day is not null then usage.cost_before_credits else 0 end) as hourly_cost,
        sum(case when usage.hour_of_day < work.from_hour or usage.hour_of_day >= work.until_hour
                -- 3 January 2000 was a Monday.
                or (usage.hour_of_day is not null and date_diff('day', date '2000-01-03', usage.charge_date) % 7 >= 5)
            then usage.cost_before_credits else 0 end) as off_hours_cost
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    left join work on true
    where windows.check_name = 'always_on_notebook' and windows.reason is null and usage.resource_id is not null
        and usage.meaning = 'notebook_hours'
    group by windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.limit_number,
        usage.resource_id, usage.billing_currency, usage.charge_date
),
resources as (
    select days.source, days.check_name, days.minimum_days, days.window_days, days.limit_number, days.resource_id,
        days.billing_currency, count(*) as days_seen,
        count(case when days.hours >= days.limit_number then 1 end) as days_on, sum(days.hours) as hours,
        sum(days.day_cost) as all_cost, sum(days.day_covered_cost) as covered_cost,
        sum(days.hourly_cost) as hourly_cost, sum(days.off_hours_cost) as off_hours_cost
    from days
    group by days.source, days.check_name, days.minimum_days, days.window_days, days.limit_number, days.resource_id,
        days.billing_currency
)

select
    resources.source, resources.check_name, resources.resource_id, resources.billing_currency,
    -- waste, or unknown where the quantity is not in hours
    case when resources.hours > 0 then 'waste' else 'unknown' end as outcome,
    -- Cost in the window; only that outside working hours where the export has hours
    case when resources.hourly_cost = resources.all_cost then resources.off_hours_cost else resources.all_cost end
        as usage_cost,
    -- Part of it that a commitment pays
    case when resources.hourly_cost = resources.all_cost and resources.off_hours_cost < resources.covered_cost
        then resources.off_hours_cost else resources.covered_cost end as covered_cost,
    -- Part of the cost that is saved: all of what is outside working hours, else that part of a week
    case
        when resources.hourly_cost = resources.all_cost then cast(1 as decimal(13, 12))
        else cast(cast(168 - 5 * (work.until_hour - work.from_hour) as double) / 168 as decimal(13, 12))
    end as saving_share,
    -- Days that the cost is of
    resources.window_days as charged_days,
    -- What was seen, in numbers
    cast(resources.days_on as varchar) || ' of ' || cast(resources.window_days as varchar) || ' days with '
        || cast(cast(resources.limit_number as bigint) as varchar) || ' hours or more, the weekend included' as evidence
from resources
left join work on true
where resources.days_on >= resources.minimum_days
    or (resources.hours = 0 and resources.days_seen >= resources.minimum_days)
