-- Which machines of the bill each attempt was on, and which part of a machine it held.
-- grain: one row per attempt and machine
-- key: source, attempt_id, resource_id
-- materialized: full
with attempts as (select * from core.run_attempt),
nodes as (select * from usage.run_node),
capacities as (select * from usage.capacity),
charges as (select * from core.run_charge),
billed as (
    select distinct charges.bearer as resource_id
    from charges
    where charges.evidence = 'machine'
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
known as (
    select capacities.cluster, capacities.node, max(capacities.instance_id) as instance_id,
        max(capacities.gpu_count) as gpu_count, max(capacities.cpu_count) as cpu_count
    from capacities
    group by capacities.cluster, capacities.node
),
placed as (
    select attempts.source, attempts.attempt_id, billed.resource_id, known.gpu_count as machine_gpus,
        known.cpu_count as machine_cpus,
        cast(attempts.gpu_count as double) / counted.nodes as gpus, attempts.cpu_count / counted.nodes as cpus
    from attempts
    inner join counted
        on attempts.source = counted.source and attempts.cluster = counted.cluster
        and attempts.node_list = counted.node_list
    inner join lists
        on counted.source = lists.source and counted.cluster = lists.cluster and counted.node_list = lists.node_list
    left join known on lists.cluster = known.cluster and lists.node = known.node
    inner join billed on coalesce(known.instance_id, lists.node) = billed.resource_id
    where attempts.started_at is not null and attempts.ended_at is not null
),
-- Where nobody says what a machine has, it has what the largest run on it held.
largest as (
    select placed.resource_id, max(placed.gpus) as gpus, max(placed.cpus) as cpus
    from placed
    group by placed.resource_id
),
held as (
    select placed.source, placed.attempt_id, placed.resource_id,
        case
            when coalesce(placed.machine_gpus, cast(largest.gpus as decimal(18, 9)), 0) > 0 and placed.gpus is not null
            then placed.gpus / cast(coalesce(placed.machine_gpus, cast(largest.gpus as decimal(18, 9))) as double)
            when coalesce(placed.machine_cpus, largest.cpus, 0) > 0 and placed.cpus is not null
            then placed.cpus / coalesce(placed.machine_cpus, largest.cpus)
            else 1
        end as held_share
    from placed
    inner join largest on placed.resource_id = largest.resource_id
)

select
    -- Source of the run
    held.source,
    -- Attempt of core.run_attempt
    held.attempt_id,
    -- Machine: ResourceId of its charges
    held.resource_id,
    -- Part of it that the run held, 0 to 1: of its accelerators, else of its processors, else all of it
    max(cast(case when held.held_share > 1 then 1 else held.held_share end as decimal(13, 12))) as held_share
from held
group by held.source, held.attempt_id, held.resource_id
