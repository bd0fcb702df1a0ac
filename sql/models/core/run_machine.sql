-- Which machines of the bill each attempt was on, and which part of a machine it held.
-- grain: one row per attempt and machine
-- key: source, attempt_id, resource_id
-- materialized: full
with places as (select * from core.run_place),
node_times as (select * from core.node_time),
charges as (select * from core.run_charge),
billed as (
    select distinct charges.bearer as resource_id
    from charges
    where charges.evidence = 'machine'
),
-- What a node has, and which machine of the bill it is, may change while a run is on it.
placed as (
    select places.source, places.attempt_id, billed.resource_id, node_times.gpu_count as machine_gpus,
        node_times.cpu_count as machine_cpus, places.gpus, places.cpus
    from places
    left join node_times
        on places.cluster = node_times.cluster and places.node = node_times.node
        and (node_times.starts_at is null or node_times.starts_at < places.ended_at)
        and (node_times.ends_at is null or node_times.ends_at > places.started_at)
    inner join billed on coalesce(node_times.instance_id, places.node) = billed.resource_id
),
-- Where nobody says what a machine has, it has what the largest run on it held.
largest as (
    select placed.resource_id, max(placed.gpus) as gpus, max(placed.cpus) as cpus
    from placed
    group by placed.resource_id
),
sized as (
    select placed.source, placed.attempt_id, placed.resource_id, placed.gpus, placed.cpus,
        coalesce(cast(placed.machine_gpus as double), largest.gpus, 0) as machine_gpus,
        coalesce(placed.machine_cpus, largest.cpus, 0) as machine_cpus
    from placed
    inner join largest on placed.resource_id = largest.resource_id
),
held as (
    select sized.source, sized.attempt_id, sized.resource_id, case
            when sized.machine_gpus > 0 and sized.gpus is not null then sized.gpus / sized.machine_gpus
            when sized.machine_cpus > 0 and sized.cpus is not null then sized.cpus / sized.machine_cpus
            else 1
        end as held_share
    from sized
)

select held.source, held.attempt_id,
    -- Machine: ResourceId of its charges
    held.resource_id,
    -- Part of it that the run held, 0 to 1: of its accelerators (nothing for a run without any), else of its
    -- processors, else all of it
    max(cast(case when held.held_share > 1 then 1 else held.held_share end as decimal(13, 12))) as held_share
from held
group by held.source, held.attempt_id, held.resource_id
