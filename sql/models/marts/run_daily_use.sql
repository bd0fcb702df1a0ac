-- What runs used on each day, split at midnight UTC, and how many ended on it.
-- grain: one row per day, source, cluster, project, team, kind of run, accelerator and state
-- key: source, cluster, billing_month, charge_date, project, team, workload, kind, accelerator?, state
-- materialized: full
with attempts as (select * from core.run_attempt),
days as (select * from core.run_day),
timed as (
    select days.source, days.attempt_id, days.charge_date, days.run_seconds, 0 as ended_count
    from days
    union all
    select attempts.source, attempts.attempt_id, cast(attempts.ended_at as date) as charge_date, 0 as run_seconds,
        1 as ended_count
    from attempts
    where attempts.started_at is not null and attempts.end_known_by in ('reported', 'backwards')
)

select timed.source, attempts.cluster,
    -- First day of the month
    cast(date_trunc('month', timed.charge_date) as date) as billing_month,
    -- Day, UTC
    timed.charge_date, attempts.project, attempts.team, attempts.workload,
    -- batch, array_task, interactive, notebook or service
    attempts.kind,
    -- Kind of accelerator, as the source names it
    attempts.accelerator,
    -- How the run ended
    attempts.state,
    -- Attempts that ended on the day, those that never began apart
    cast(sum(timed.ended_count) as bigint) as ended_count,
    -- Hours from start to end
    cast(cast(sum(timed.run_seconds) as double) / 3600 as decimal(38, 9)) as wall_hours,
    -- Hours times nodes
    cast(cast(sum(timed.run_seconds * attempts.node_count) as double) / 3600 as decimal(38, 9)) as node_hours,
    -- Hours times processors
    cast(cast(sum(timed.run_seconds * cast(attempts.cpu_count as decimal(18, 3))) as double) / 3600 as decimal(38, 9))
    as cpu_hours,
    -- Hours times accelerators; null where some are unknown
    case when count(attempts.gpu_count) = count(*) then
        cast(cast(sum(timed.run_seconds * attempts.gpu_count) as double) / 3600 as decimal(38, 9)) end as gpu_hours
from timed
inner join attempts on timed.source = attempts.source and timed.attempt_id = attempts.attempt_id
group by timed.source, attempts.cluster, cast(date_trunc('month', timed.charge_date) as date), timed.charge_date,
    attempts.project, attempts.team, attempts.workload, attempts.kind, attempts.accelerator, attempts.state
