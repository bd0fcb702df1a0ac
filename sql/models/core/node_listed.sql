-- What clusters have by lists of all their nodes, each list until the next one: what the next does not name is gone.
-- grain: one row per source, node, whether it is down, and time in which nothing of it changed
-- key: source, cluster, node, is_down, starts_at?
-- materialized: full
with capacities as (select * from usage.capacity),
lists as (
    select capacities.source, capacities.cluster, capacities.told_at, lag(capacities.told_at) over (
            partition by capacities.source, capacities.cluster order by capacities.told_at desc
        ) as next_list_at
    from capacities
    where capacities.told_at is not null
    group by capacities.source, capacities.cluster, capacities.told_at
),
words as (
    select capacities.source, capacities.cluster, capacities.node, capacities.told_at,
        min(capacities.starts_at) as starts_at, lag(capacities.told_at) over (
            partition by capacities.source, capacities.cluster, capacities.node order by capacities.told_at
        ) as told_before, lag(capacities.told_at) over (
            partition by capacities.source, capacities.cluster, capacities.node order by capacities.told_at desc
        ) as told_after
    from capacities
    where capacities.told_at is not null
    group by capacities.source, capacities.cluster, capacities.node, capacities.told_at
),
-- A word holds from when it says that the node came up, but never from before the word that it follows.
begun as (
    select words.*, case when words.told_before is null or words.starts_at > words.told_before then words.starts_at
            else words.told_before end as begins_at
    from words
),
followed as (
    select begun.*, case when begun.told_after is not distinct from lists.next_list_at then lag(begun.begins_at) over (
            partition by begun.source, begun.cluster, begun.node order by begun.told_at desc
        ) else lists.next_list_at end as held_until
    from begun
    inner join lists
        on begun.source = lists.source and begun.cluster = lists.cluster and begun.told_at = lists.told_at
),
clipped as (
    select capacities.source, capacities.cluster, capacities.node, coalesce(capacities.is_down, false) as is_down,
        max(capacities.accelerator) as accelerator, max(capacities.gpu_count) as gpu_count,
        max(capacities.cpu_count) as cpu_count, max(capacities.instance_id) as instance_id,
        max(followed.held_until) as ends_at, min(case when followed.begins_at > capacities.starts_at
            then followed.begins_at else coalesce(capacities.starts_at, followed.begins_at) end) as starts_at
    from capacities
    inner join followed
        on capacities.source = followed.source and capacities.cluster = followed.cluster
        and capacities.node = followed.node and capacities.told_at = followed.told_at
    group by capacities.source, capacities.cluster, capacities.node, coalesce(capacities.is_down, false),
        capacities.told_at
),
-- Equal words that follow each other are one: a list that is written every hour says the same for months.
marked as (
    select clipped.*, case
            when lag(clipped.ends_at) over node = clipped.starts_at
                and lag(clipped.accelerator) over node is not distinct from clipped.accelerator
                and lag(clipped.gpu_count) over node is not distinct from clipped.gpu_count
                and lag(clipped.cpu_count) over node is not distinct from clipped.cpu_count
                and lag(clipped.instance_id) over node is not distinct from clipped.instance_id
            then 0 else 1 end as is_new
    from clipped
    where clipped.ends_at is null or clipped.starts_at is null or clipped.ends_at > clipped.starts_at
    window node as (
        partition by clipped.source, clipped.cluster, clipped.node, clipped.is_down
        order by clipped.starts_at nulls first
    )
),
numbered as (
    select marked.*, sum(marked.is_new) over (
            partition by marked.source, marked.cluster, marked.node, marked.is_down
            order by marked.starts_at nulls first
        ) as word_number
    from marked
)

select numbered.source, numbered.cluster, numbered.node,
    -- Whether it was out of order
    numbered.is_down,
    -- Since when, UTC; null where nothing says
    min(numbered.starts_at) as starts_at,
    -- First instant at which that was over, UTC; null for not yet
    case when count(*) = count(numbered.ends_at) then max(numbered.ends_at) end as ends_at,
    max(numbered.accelerator) as accelerator, max(numbered.gpu_count) as gpu_count,
    max(numbered.cpu_count) as cpu_count, max(numbered.instance_id) as instance_id
from numbered
group by numbered.source, numbered.cluster, numbered.node, numbered.is_down, numbered.word_number
