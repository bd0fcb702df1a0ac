-- Accelerator hours of own hardware and static fleets that no run took: what there is, less what is down or allocated.
-- grain: one row per day, cluster, accelerator and currency
-- key: cluster, billing_month, charge_date, accelerator?, billing_currency?
-- materialized: full
with node_times as (select * from core.node_time),
places as (select * from core.run_place),
days as (select * from core.run_day),
calendar_days as (select * from core.calendar_day),
first_run as (
    select min(days.charge_date) as run_date
    from days
),
calendar as (
    select calendar_days.calendar_date as charge_date, calendar_days.calendar_date + interval '0' day as day_start,
        calendar_days.calendar_date + interval '1' day as day_end, first_run.run_date
    from calendar_days
    cross join first_run
),
there as (
    select calendar.charge_date, node_times.cluster, node_times.node, node_times.is_down, node_times.accelerator,
        node_times.gpu_hour_price, node_times.currency, cast(node_times.gpu_count as double) * date_diff(
            'second', case when node_times.starts_at > calendar.day_start then node_times.starts_at
                else calendar.day_start end,
            case when node_times.ends_at < calendar.day_end then node_times.ends_at else calendar.day_end end
        ) as gpu_seconds
    from calendar
    inner join node_times
        on (node_times.starts_at < calendar.day_end
            or node_times.starts_at is null and calendar.charge_date >= calendar.run_date)
        and (node_times.ends_at is null or node_times.ends_at > calendar.day_start)
    where node_times.gpu_count > 0
),
had as (
    select there.charge_date, there.cluster, there.node, max(there.accelerator) as accelerator,
        max(there.gpu_hour_price) as gpu_hour_price, max(there.currency) as currency,
        sum(there.gpu_seconds) as gpu_seconds,
        sum(case when there.is_down then there.gpu_seconds else 0 end) as down_seconds
    from there
    group by there.charge_date, there.cluster, there.node
),
allocated as (
    select days.charge_date, places.cluster, places.node, sum(days.run_seconds * places.gpus) as gpu_seconds,
        count(*) > count(places.gpus) as is_unknown
    from days
    inner join places on days.source = places.source and days.attempt_id = places.attempt_id
    group by days.charge_date, places.cluster, places.node
),
used as (
    select had.*, coalesce(allocated.gpu_seconds, 0) as allocated_seconds,
        coalesce(allocated.is_unknown, false) as is_unknown,
        had.gpu_seconds - had.down_seconds - coalesce(allocated.gpu_seconds, 0) as rest_seconds
    from had
    left join allocated
        on had.charge_date = allocated.charge_date and had.cluster = allocated.cluster
        and had.node = allocated.node
),
-- Where a run may have held what nobody counted, the rest is not called idle.
idle as (
    select used.*, case when used.rest_seconds > 0 and not used.is_unknown then used.rest_seconds else 0 end
        as idle_seconds,
        case when used.rest_seconds > 0 and used.is_unknown then used.rest_seconds else 0 end as unknown_seconds
    from used
)

select idle.cluster,
    -- First day of the month
    cast(date_trunc('month', idle.charge_date) as date) as billing_month,
    -- Day, UTC; before the first run only where the capacity says since when it is there
    idle.charge_date,
    -- Kind of accelerator; null where the capacity does not say
    idle.accelerator,
    -- Hours that accelerators were there
    cast(sum(idle.gpu_seconds) / 3600 as decimal(38, 9)) as capacity_gpu_hours,
    -- Hours of these that their nodes were out of order
    cast(sum(idle.down_seconds) / 3600 as decimal(38, 9)) as down_gpu_hours,
    -- Hours that runs held; more than there is where runs of several sources tell of the same work
    cast(sum(idle.allocated_seconds) / 3600 as decimal(38, 9)) as allocated_gpu_hours,
    -- The rest, never less than nothing, node by node
    cast(sum(idle.idle_seconds) / 3600 as decimal(38, 9)) as idle_gpu_hours,
    -- Hours on days and nodes with a run whose accelerators nobody counted, instead of idle ones
    cast(sum(idle.unknown_seconds) / 3600 as decimal(38, 9)) as unknown_gpu_hours,
    -- ISO 4217 code of the cost; null without a price
    idle.currency as billing_currency,
    -- Idle hours at the price of the capacity, list or planned; null without a price
    cast(sum(cast(cast(idle.idle_seconds / 3600 as decimal(20, 6)) * cast(idle.gpu_hour_price as decimal(18, 9))
        as decimal(38, 12))) as decimal(38, 12)) as idle_cost
from idle
group by idle.cluster, idle.charge_date, idle.accelerator, idle.currency
