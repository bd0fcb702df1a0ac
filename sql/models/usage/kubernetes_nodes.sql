-- Nodes of `kubectl get nodes -o json` as rows of usage.capacity, with what they have as (kind, amount).
with nodes as (
    select unnest(cast(json -> '$.items' as json[])) as node from document
),
held as (
    select
        node ->> '$.metadata.name' as node_name,
        cast(node -> '$.metadata.labels' as map(varchar, varchar)) as labels,
        instant(node ->> '$.metadata.creationTimestamp') as created_at,
        node ->> '$.spec.providerID' as provider_id,
        -- Nodes report every five minutes at least: the last of them does so before the list is written.
        coalesce(
            max(list_max(list_transform(cast(node -> '$.status.conditions' as json[]),
                lambda condition: instant(condition ->> '$.lastHeartbeatTime')))) over (),
            getvariable('source_told_at')
        ) as told_at,
        list_filter(
            cast(node -> '$.status.conditions' as json[]),
            lambda condition: condition ->> '$.type' = 'Ready' and condition ->> '$.status' <> 'True'
        ) as faults,
        try_cast(node ->> '$.status.capacity.cpu' as double) as cpus,
        list_transform(
            list_filter(
                map_entries(cast(node -> '$.status.capacity' as map(varchar, varchar))),
                lambda entry: regexp_matches(entry.key, '^(nvidia|amd)\.com/(gpu|mig-.+)$')
            ),
            lambda entry: {
                'kind': split_part(entry.key, '/', 2) || coalesce('@' || labels['nvidia.com/gpu.product'], ''),
                'amount': try_cast(entry.value as decimal(18, 0))
            }
        ) as resources
    from nodes
    where coalesce(node ->> '$.kind', 'Node') = 'Node'
)
select
    coalesce(getvariable('source_cluster'), '') as cluster,
    held.node_name as node,
    held.labels['nvidia.com/gpu.product'] as accelerator,
    held.cpus as cpu_count,
    held.created_at as starts_at,
    false as is_down,
    held.told_at,
    -- aws:///ZONE/i-..., gce://PROJECT/ZONE/NAME
    case when held.provider_id like 'aws://%' then regexp_extract(held.provider_id, '([^/]+)$', 1)
        when held.provider_id like 'gce://%' then regexp_replace(
            held.provider_id, '^gce://([^/]+)/([^/]+)/(.+)$',
            '//compute.googleapis.com/projects/\1/zones/\2/instances/\3') end as instance_id,
    held.resources
from held
union all
select
    coalesce(getvariable('source_cluster'), '') as cluster,
    held.node_name as node,
    held.labels['nvidia.com/gpu.product'] as accelerator,
    held.cpus as cpu_count,
    coalesce(instant(held.faults[1] ->> '$.lastTransitionTime'), held.created_at) as starts_at,
    true as is_down,
    held.told_at,
    null as instance_id,
    held.resources
from held
where len(held.faults) > 0
