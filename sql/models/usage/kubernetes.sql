-- Pods of Jobs, and Jobs without pods, as rows of usage.run, with what they asked for as (kind, amount).
with items as (
    select unnest(cast(json -> '$.items' as json[])) as item from document
),
jobs as (
    select
        item ->> '$.metadata.uid' as job_uid,
        item ->> '$.metadata.name' as job_name,
        item ->> '$.metadata.namespace' as namespace,
        item,
        greatest(coalesce(try_cast(item ->> '$.spec.completions' as bigint), 1), coalesce(try_cast(item ->> '$.spec.parallelism' as bigint), 1))
            as parts
    from items
    where item ->> '$.kind' = 'Job'
),
pods as (
    select
        item,
        item ->> '$.metadata.namespace' as namespace,
        item ->> '$.metadata.name' as pod_name,
        list_filter(
            cast(coalesce(item -> '$.metadata.ownerReferences', '[]'::json) as struct(kind varchar, name varchar, uid varchar)[]),
            lambda owner: owner.kind = 'Job'
        )[1] as owner,
        cast(coalesce(item -> '$.metadata.labels', '{}'::json) as map(varchar, varchar)) as labels,
        item -> '$.spec' as spec,
        list_transform(
            cast(coalesce(item -> '$.status.containerStatuses', '[]'::json) as json[]),
            lambda status: coalesce(status -> '$.state.terminated', status -> '$.lastState.terminated')
        ) as ends,
        item ->> '$.status.phase' as phase,
        item ->> '$.status.reason' as pod_reason,
        instant(item ->> '$.status.startTime') as started_at,
        instant(item ->> '$.metadata.creationTimestamp') as submitted_at
    from items
    where item ->> '$.kind' = 'Pod'
),
attempts as (
    select
        pods.namespace,
        case
            when coalesce(pods.labels['batch.kubernetes.io/job-completion-index'], '') <> ''
                then pods.owner.name || '-' || pods.labels['batch.kubernetes.io/job-completion-index']
            when coalesce(jobs.parts, 1) > 1 then pods.pod_name
            else pods.owner.name
        end as run_name,
        pods.owner.uid as job_uid,
        case when coalesce(jobs.parts, 1) > 1 then pods.owner.name end as sweep_id,
        pods.labels['batch.kubernetes.io/job-completion-index'] as trial,
        pods.labels,
        pods.spec,
        pods.spec ->> '$.nodeName' as node_list,
        pods.phase,
        pods.submitted_at,
        pods.started_at,
        case when pods.phase in ('Succeeded', 'Failed')
            then list_max(list_transform(pods.ends, lambda ended: instant(ended ->> '$.finishedAt'))) end as ended_at,
        coalesce(pods.pod_reason, list_filter(list_transform(pods.ends, lambda ended: ended ->> '$.reason'),
            lambda reason: reason is not null and reason <> 'Completed')[1]) as reason,
        list_max(list_transform(pods.ends, lambda ended: try_cast(ended ->> '$.exitCode' as bigint))) as exit_code
    from pods
    left join jobs on pods.owner.uid = jobs.job_uid
    where pods.owner is not null
    union all
    select
        jobs.namespace,
        jobs.job_name as run_name,
        jobs.job_uid,
        null as sweep_id,
        null as trial,
        cast(coalesce(jobs.item -> '$.metadata.labels', '{}'::json) as map(varchar, varchar)) as labels,
        jobs.item -> '$.spec.template.spec' as spec,
        null as node_list,
        case
            when jobs.item ->> '$.status.completionTime' is not null then 'Succeeded'
            when len(list_filter(conditions, lambda condition: condition.type = 'Failed' and condition.status = 'True')) > 0
                then 'Failed'
            when jobs.item ->> '$.status.startTime' is null then 'Pending'
            else 'Running'
        end as phase,
        instant(jobs.item ->> '$.metadata.creationTimestamp') as submitted_at,
        instant(jobs.item ->> '$.status.startTime') as started_at,
        coalesce(
            instant(jobs.item ->> '$.status.completionTime'),
            instant(list_filter(conditions,
                lambda condition: condition.type = 'Failed' and condition.status = 'True')[1].lastTransitionTime)
        ) as ended_at,
        list_filter(conditions, lambda condition: condition.type = 'Failed' and condition.status = 'True')[1].reason
            as reason,
        null as exit_code
    from (
        select jobs.*, cast(coalesce(item -> '$.status.conditions', '[]'::json)
            as struct(type varchar, status varchar, reason varchar, lastTransitionTime varchar)[]) as conditions
        from jobs
    ) as jobs
    where jobs.job_uid not in (select pods.owner.uid from pods where pods.owner is not null)
        and not exists (
            select 1 from usage.run as held
            where held.source = getvariable('source_name') and held.sweep_id = jobs.job_name
                or held.source = getvariable('source_name') and held.run_id = jobs.namespace || '/' || jobs.job_name
                and held.node_list is not null
        )
)
select
    row_number() over () as row_number,
    coalesce(getvariable('source_cluster'), '') as cluster,
    attempts.namespace || '/' || attempts.run_name as run_id,
    attempts.sweep_id,
    attempts.trial,
    case when attempts.sweep_id is null then 'batch' else 'array_task' end as kind,
    attempts.run_name,
    attempts.namespace as account,
    attempts.labels['kueue.x-k8s.io/queue-name'] as partition_name,
    attempts.labels['project'] as project,
    attempts.labels['team'] as team,
    case
        when attempts.reason in ('OOMKilled') then 'oom'
        when attempts.reason in ('Evicted', 'Preempting', 'Preempted', 'Terminated') and attempts.phase = 'Failed' then 'preempted'
        when attempts.reason in ('NodeLost', 'NodeShutdown', 'Shutdown', 'NodeAffinity') then 'node_fail'
        when attempts.reason in ('DeadlineExceeded') then 'timeout'
        when attempts.phase = 'Succeeded' then 'completed'
        when attempts.phase = 'Failed' then 'failed'
        when attempts.phase = 'Running' then 'running'
        when attempts.phase = 'Pending' then 'pending'
        else 'unknown'
    end as state,
    attempts.phase as state_raw,
    attempts.reason,
    cast(attempts.exit_code as varchar) as exit_code,
    attempts.submitted_at,
    case when attempts.phase = 'Pending' then null else attempts.started_at end as started_at,
    attempts.ended_at,
    case when attempts.phase = 'Running' then getvariable('source_told_at') end as seen_at,
    1 as node_count,
    list_sum(list_transform(containers, lambda container: coalesce(
        try_cast(container ->> '$.resources.requests.cpu' as double),
        try_cast(regexp_extract(container ->> '$.resources.requests.cpu', '^(\d+)m$', 1) as double) / 1000, 0))) as cpu_count,
    attempts.spec -> '$.nodeSelector' ->> '$."nvidia.com/gpu.product"' as accelerator,
    attempts.node_list,
    list_transform(
        list_filter(
            flatten(list_transform(containers, lambda container:
                map_entries(cast(coalesce(container -> '$.resources.limits', '{}'::json) as map(varchar, varchar))))),
            lambda entry: regexp_matches(entry.key, '^(nvidia|amd)\.com/(gpu|mig-.+)$')
        ),
        lambda entry: {'kind': split_part(entry.key, '/', 2), 'amount': try_cast(entry.value as decimal(18, 0))}
    ) as resources
from (
    select attempts.*, cast(coalesce(spec -> '$.containers', '[]'::json) as json[]) as containers from attempts
) as attempts
