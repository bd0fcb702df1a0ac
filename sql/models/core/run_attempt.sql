-- Attempts of runs: whose they are, their place among those of the run, when they ended as far as anything tells.
-- grain: one row per attempt
-- key: source, attempt_id
-- materialized: full
with runs as (select * from usage.run),
owners as (select * from core.run_owner),
night as (select max(as_of) as as_of from settings.night),
nodes as (select * from usage.run_node),
capacities as (select * from usage.capacity),
node_times as (select * from core.node_time),
charges as (select * from core.run_charge),
open_runs as (
    select runs.source, runs.attempt_id, runs.run_id, runs.cluster, runs.node_list, runs.started_at
    from runs
    where runs.ended_at is null and runs.started_at is not null
),
billed_as as (
    select open_runs.source, open_runs.attempt_id, open_runs.started_at, open_runs.run_id as bearer
    from open_runs
    union
    select open_runs.source, open_runs.attempt_id, open_runs.started_at,
        coalesce(node_times.instance_id, nodes.node) as bearer
    from open_runs
    inner join nodes on open_runs.source = nodes.source and open_runs.cluster = nodes.cluster
        and open_runs.node_list = nodes.node_list
    left join node_times
        on nodes.node = node_times.node and nodes.cluster = node_times.cluster
        and (node_times.ends_at is null or node_times.ends_at > open_runs.started_at)
),
billed as (
    select billed_as.source, billed_as.attempt_id, max(charges.ends_at) as billed_until
    from billed_as
    inner join charges on billed_as.bearer = charges.bearer and charges.ends_at > billed_as.started_at
    group by billed_as.source, billed_as.attempt_id
),
shards as (
    select capacities.cluster, max(capacities.shards_per_gpu) as shards_per_gpu
    from capacities
    group by capacities.cluster
    having count(distinct capacities.shards_per_gpu) = 1
),
known as (
    select runs.*, billed.billed_until,
        case when runs.gpu_count is not null then runs.gpu_count
            when runs.gpu_shards is not null and shards.shards_per_gpu > 0
            then cast(cast(runs.gpu_shards as double) / cast(shards.shards_per_gpu as double) as decimal(18, 9))
        end as gpus,
        runs.state = 'running' and runs.ended_at is null and runs.started_at is not null
        and (runs.seen_at is null or runs.seen_at < night.as_of - interval '1' day) as is_stale,
        row_number() over (
            partition by runs.source, runs.cluster, runs.run_id order by runs.started_at nulls last, runs.attempt_id
        ) as attempt,
        count(*) over (partition by runs.source, runs.cluster, runs.run_id) as attempts
    from runs
    cross join night
    left join billed on runs.source = billed.source and runs.attempt_id = billed.attempt_id
    left join shards on runs.cluster = shards.cluster
)

select
    -- The [[source]] of the configuration that told of the run
    known.source,
    known.attempt_id, known.cluster, known.run_id, known.sweep_id, known.kind, known.run_name, known.user_name,
    known.account, known.experiment, known.model, known.plan_id,
    -- Project that the run is for; 'unattributed' where nothing names one
    owners.project,
    -- Team that answers; 'unattributed' where nothing names one
    owners.team, owners.workload, known.state, known.reason, known.submitted_at, known.started_at,
    -- When it ended, or until when it is known to have run, UTC; null where nothing tells
    case when known.started_at is null then null
        when known.ended_at is not null and known.ended_at < known.started_at then known.started_at
        when known.ended_at is not null then known.ended_at
        when known.is_stale or known.state <> 'running' then coalesce(known.billed_until, known.seen_at)
        else known.seen_at end as ended_at,
    -- What tells: reported, backwards (it was to end before it began), billed, seen, unknown; null where it never began
    case when known.started_at is null then null
        when known.ended_at is not null and known.ended_at < known.started_at then 'backwards'
        when known.ended_at is not null then 'reported'
        when (known.is_stale or known.state <> 'running') and known.billed_until is not null then 'billed'
        when known.seen_at is not null then 'seen' else 'unknown' end as end_known_by,
    -- Whether it is said to run though nobody has seen it for a day
    known.is_stale,
    -- Number of the attempt among those of its run, from 1
    known.attempt,
    -- Attempts of its run
    known.attempts,
    known.node_count, known.cpu_count,
    -- Accelerators, parts of one as parts; 0 for none, null for unknown
    known.gpus as gpu_count, known.accelerator, known.instance_type, known.node_list, known.work_dir, known.dependency,
    known.checkpoint_at, known.resumed_from, known.restart_seconds, known.billable_seconds
from known
inner join owners on known.source = owners.source
    and owners.month is not distinct from
    cast(date_trunc('month', coalesce(known.started_at, known.submitted_at, known.ended_at)) as date)
    and known.cluster = owners.cluster and known.account is not distinct from owners.account
    and known.user_name is not distinct from owners.user_name
    and known.partition_name is not distinct from owners.partition_name
    and known.qos is not distinct from owners.qos and known.experiment is not distinct from owners.experiment
    and known.project is not distinct from owners.own_project and known.team is not distinct from owners.own_team
    and known.workload is not distinct from owners.own_workload
