-- Accelerator hours of own hardware and static fleets that no run took: what there is, less what is down or allocated.
-- grain: one row per day, cluster, accelerator and currency
-- key: cluster, billing_month, charge_date, accelerator?, billing_currency?
-- materialized: full
with capacities as (select * from usage.capacity),
nodes as (select * from usage.run_node),
attempts as (select * from core.run_attempt),
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
-- A node that several files tell of is there once.
there as (
    select calendar.charge_date, capacities.cluster, capacities.node, capacities.is_down,
        max(capacities.accelerator) as accelerator, max(capacities.gpu_count) as gpu_count,
        max(capacities.gpu_hour_price) as gpu_hour_price, max(capacities.currency) as currency,
        max(date_diff('second', case when capacities.starts_at > calendar.day_start then capacities.starts_at
            else calendar.day_start end,
        case when capacities.ends_at < calendar.day_end then capacities.ends_at else calendar.day_end end))
        as there_seconds
    from calendar
    inner join capacities
        on (capacities.starts_at < calendar.day_end
            or capacities.starts_at is null and calendar.charge_date >= calendar.run_date)
        and (capacities.ends_at is null or capacities.ends_at > calendar.day_start)
    where capacities.gpu_count > 0
    group by calendar.charge_date, capacities.cluster, capacities.node, capacities.is_down
),
lists as (
    select distinct nodes.source, nodes.cluster, nodes.node_list, nodes.node
    from nodes
),
counted as (
    select lists.source, lists.cluster, lists.node_list, count(*) as nodes
    from lists
    group by lists.source, lists.cluster, lists.node_list
),
allocated as (
    select days.charge_date, lists.cluster, lists.node,
        sum(days.run_seconds * cast(attempts.gpu_count as double) / counted.nodes) as gpu_seconds
    from days
    inner join attempts on days.source = attempts.source and days.attempt_id = attempts.attempt_id
    inner join counted
        on attempts.source = counted.source and attempts.cluster = counted.cluster
        and attempts.node_list = counted.node_list
    inner join lists
        on counted.source = lists.source and counted.cluster = lists.cluster and counted.node_list = lists.node_list
    group by days.charge_date, lists.cluster, lists.node
),
used as (
    select there.charge_date, there.cluster, there.node, there.accelerator, there.currency, there.gpu_hour_price,
        cast(there.gpu_count as double) * there.there_seconds as gpu_seconds,
        cast(there.gpu_count as double) * coalesce(down.there_seconds, 0) as down_seconds,
        coalesce(allocated.gpu_seconds, 0) as allocated_seconds
    from there
    left join there as down
        on there.charge_date = down.charge_date and there.cluster = down.cluster and there.node = down.node
        and down.is_down
    left join allocated
        on there.charge_date = allocated.charge_date and there.cluster = allocated.cluster
        and there.node = allocated.node
    where not coalesce(there.is_down, false)
),
idle as (
    select used.*, case when used.gpu_seconds - used.down_seconds > used.allocated_seconds
        then used.gpu_seconds - used.down_seconds - used.allocated_seconds else 0 end as idle_seconds
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
    -- ISO 4217 code of the cost; null without a price
    idle.currency as billing_currency,
    -- Idle hours at the price of the capacity, list or planned; null without a price
    cast(sum(cast(cast(idle.idle_seconds / 3600 as decimal(13, 6)) * cast(idle.gpu_hour_price as decimal(24, 12))
        as decimal(38, 12))) as decimal(38, 12)) as idle_cost
from idle
group by idle.cluster, idle.charge_date, idle.accelerator, idle.currency
