-- Which nodes each attempt was on, of those that capacity or the bill knows, and which part of its use each bore.
-- grain: one row per attempt and node
-- key: source, attempt_id, node
-- materialized: full
with attempts as (select * from core.run_attempt),
nodes as (select * from usage.run_node),
capacities as (select * from usage.capacity),
charges as (select * from core.run_charge),
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
    select capacities.cluster, capacities.node
    from capacities
    union
    select lists.cluster, lists.node
    from lists
    inner join charges on lists.node = charges.bearer and charges.evidence = 'machine'
)

select attempts.source, attempts.attempt_id, attempts.cluster, lists.node, attempts.started_at, attempts.ended_at,
    -- Accelerators that it held on the node, those of the attempt in equal parts; null for unknown
    cast(attempts.gpu_count as double) / counted.nodes as gpus,
    -- Processors that it held on the node
    attempts.cpu_count / counted.nodes as cpus
from attempts
inner join counted
    on attempts.source = counted.source and attempts.cluster = counted.cluster
    and attempts.node_list = counted.node_list
inner join lists
    on counted.source = lists.source and counted.cluster = lists.cluster and counted.node_list = lists.node_list
inner join known on lists.cluster = known.cluster and lists.node = known.node
where attempts.started_at is not null and attempts.ended_at is not null
