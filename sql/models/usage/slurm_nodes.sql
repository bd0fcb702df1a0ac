-- Nodes of `scontrol show node --json` as rows of usage.capacity, with what they have as (kind, amount).
with nodes as (
    -- Newer lists say when anything of a node last changed; of others the file says when it was written.
    select unnest(cast(json -> '$.nodes' as json[])) as node,
        coalesce(
            make_timestamp(nullif(coalesce(try_cast(json ->> '$.last_update.number' as bigint),
                try_cast(json ->> '$.last_update' as bigint)), 0) * 1000000),
            getvariable('source_told_at')
        ) as told_at
    from document
),
read_nodes as (
    select
        told_at,
        node ->> '$.name' as node_name,
        coalesce(node ->> '$.cluster_name', '') as cluster_name,
        coalesce(node ->> '$.gres', '') as gres,
        try_cast(node ->> '$.cpus' as double) as cpus,
        -- An instant is a number, or since 23.02 an object with one; 0 is none.
        nullif(coalesce(try_cast(node ->> '$.boot_time.number' as bigint), try_cast(node ->> '$.boot_time' as bigint)), 0)
            as booted,
        nullif(
            coalesce(
                try_cast(node ->> '$.reason_changed_at.number' as bigint), try_cast(node ->> '$.reason_changed_at' as bigint)
            ), 0
        ) as changed,
        upper(coalesce(cast(node -> '$.state' as varchar), '') || coalesce(cast(node -> '$.state_flags' as varchar), ''))
            as state,
        node ->> '$.instance_id' as instance
    from nodes
),
entries as (
    select
        read_nodes.*,
        regexp_extract_all(regexp_replace(gres, '\([^)]*\)', '', 'g'), '(?:^|,)gpu(?::[^:,]+)?:\d+') as gpus,
        try_cast(nullif(regexp_extract(regexp_replace(gres, '\([^)]*\)', '', 'g'), '(?:^|,)(?:shard|mps)(?::[^:,]+)?:(\d+)', 1), '')
            as double) as shards
    from read_nodes
),
held as (
    select
        entries.*,
        list_transform(
            gpus,
            lambda entry: {
                'kind': coalesce(nullif(regexp_extract(entry, 'gpu:([^:]+):\d+$', 1), ''), 'gpu'),
                'amount': cast(regexp_extract(entry, ':(\d+)$', 1) as decimal(18, 0))
            }
        ) as resources
    from entries
)
select
    coalesce(nullif(held.cluster_name, ''), getvariable('source_cluster'), '') as cluster,
    held.node_name as node,
    nullif(nullif(list_aggregate(list_transform(held.resources, lambda entry: entry.kind), 'string_agg', '+'), 'gpu'), '')
        as accelerator,
    held.cpus as cpu_count,
    case when held.shards > 0 then cast(held.shards / nullif(list_sum(list_transform(held.resources,
        lambda entry: cast(entry.amount as double))), 0) as decimal(18, 9)) end as shards_per_gpu,
    make_timestamp(coalesce(held.changed, held.booted) * 1000000) as starts_at,
    true as is_down,
    held.told_at,
    nullif(held.instance, '') as instance_id,
    held.resources
from held
where regexp_matches(held.state, 'DOWN|DRAIN|FAIL|NOT_RESPONDING|MAINT')
union all
select
    coalesce(nullif(held.cluster_name, ''), getvariable('source_cluster'), '') as cluster,
    held.node_name as node,
    nullif(nullif(list_aggregate(list_transform(held.resources, lambda entry: entry.kind), 'string_agg', '+'), 'gpu'), '')
        as accelerator,
    held.cpus as cpu_count,
    case when held.shards > 0 then cast(held.shards / nullif(list_sum(list_transform(held.resources,
        lambda entry: cast(entry.amount as double))), 0) as decimal(18, 9)) end as shards_per_gpu,
    make_timestamp(held.booted * 1000000) as starts_at,
    false as is_down,
    held.told_at,
    nullif(held.instance, '') as instance_id,
    held.resources
from held
