-- Pods of Jobs, and Jobs without pods, as rows of usage.run, with what they asked for as (kind, amount).
-- A Job as a whole has no count of nodes. Its uid tells a Job from an earlier one of the same name.
with items as (
    select unnest(cast(json -> '$.items' as json[])) as item from document
),
jobs as (
    select
        item ->> '$.metadata.uid' as job_uid,
        item ->> '$.metadata.name' as job_name,
        item ->> '$.metadata.namespace' as namespace,
        item,
        list_filter(
            json_transform(coalesce(item -> '$.status.conditions', '[]'::json),
                '[{"type": "VARCHAR", "status": "VARCHAR", "reason": "VARCHAR", "lastTransitionTime": "VARCHAR"}]'),
            lambda condition: condition.type = 'Failed' and condition.status = 'True'
        )[1] as failure,
        greatest(coalesce(try_cast(item ->> '$.spec.completions' as bigint), 1),
            coalesce(try_cast(item ->> '$.spec.parallelism' as bigint), 1)) as parts
    from items
    where item ->> '$.kind' = 'Job'
),
pods as (
    select
        item,
        item ->> '$.metadata.namespace' as namespace,
        item ->> '$.metadata.name' as pod_name,
        list_filter(
            json_transform(coalesce(item -> '$.metadata.ownerReferences', '[]'::json),
                '[{"kind": "VARCHAR", "name": "VARCHAR", "uid": "VARCHAR"}]'),
            lambda owner: owner.kind = 'Job'
        )[1] as owner,
        cast(coalesce(item -> '$.metadata.labels', '{}'::json) as map(varchar, varchar)) as labels,
        item -> '$.spec' as spec,
        list_transform(
            cast(coalesce(item -> '$.status.containerStatuses', '[]'::json) as json[]),
            lambda status: coalesce(status -> '$.state.terminated', status -> '$.lastState.terminated')
        ) as ends,
        -- When it was to be stopped, and when it was ready no more.
        list_transform(
            list_filter(
                json_transform(coalesce(item -> '$.status.conditions', '[]'::json),
                    '[{"type": "VARCHAR", "status": "VARCHAR", "lastTransitionTime": "VARCHAR"}]'),
                lambda condition: condition.type = 'DisruptionTarget' and condition.status = 'True'
                    or condition.type in ('Ready', 'ContainersReady') and condition.status = 'False'
            ),
            lambda condition: instant(condition.lastTransitionTime)
        ) as stops,
        instant(item ->> '$.metadata.deletionTimestamp') as deleted_at,
        item ->> '$.status.phase' as phase,
        item ->> '$.status.reason' as pod_reason,
        instant(item ->> '$.status.startTime') as started_at,
        instant(item ->> '$.metadata.creationTimestamp') as submitted_at
    from items
    where item ->> '$.kind' = 'Pod'
),
owned as (
    select
        pods.*,
        case
            when coalesce(pods.labels['batch.kubernetes.io/job-completion-index'], '') <> ''
                then pods.owner.name || '-' || pods.labels['batch.kubernetes.io/job-completion-index']
            when jobs.parts > 1 then pods.pod_name
        end as part_name
    from pods
    left join jobs on pods.owner.uid = jobs.job_uid
    where pods.owner is not null
),
attempts as (
    select
        owned.namespace,
        coalesce(owned.part_name, owned.owner.name) as run_name,
        owned.owner.uid as job_uid,
        case when owned.part_name is not null then concat_ws('/', owned.namespace, owned.owner.name, owned.owner.uid)
            end as sweep_id,
        owned.labels['batch.kubernetes.io/job-completion-index'] as trial,
        owned.labels,
        owned.spec,
        owned.spec ->> '$.nodeName' as node_list,
        1 as node_count,
        owned.phase,
        owned.submitted_at,
        owned.started_at,
        case when owned.phase in ('Succeeded', 'Failed') then coalesce(
            list_max(list_transform(owned.ends, lambda ended: instant(ended ->> '$.finishedAt'))),
            list_max(list_filter(owned.stops, lambda stopped: stopped > owned.started_at)),
            owned.deleted_at
        ) end as ended_at,
        coalesce(owned.pod_reason, list_filter(list_transform(owned.ends, lambda ended: ended ->> '$.reason'),
            lambda reason: reason is not null and reason <> 'Completed')[1]) as reason,
        list_max(list_transform(owned.ends, lambda ended: try_cast(ended ->> '$.exitCode' as bigint))) as exit_code
    from owned
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
        null as node_count,
        case
            when jobs.item ->> '$.status.completionTime' is not null then 'Succeeded'
            when jobs.failure is not null then 'Failed'
            when jobs.item ->> '$.status.startTime' is null then 'Pending'
            else 'Running'
        end as phase,
        instant(jobs.item ->> '$.metadata.creationTimestamp') as submitted_at,
        instant(jobs.item ->> '$.status.startTime') as started_at,
        coalesce(instant(jobs.item ->> '$.status.completionTime'), instant(jobs.failure.lastTransitionTime))
            as ended_at,
        jobs.failure.reason as reason,
        null as exit_code
    from jobs
    where jobs.job_uid not in (select owned.owner.uid from owned)
)
select
    row_number() over () as row_number,
    coalesce(getvariable('source_cluster'), '') as cluster,
    concat_ws('/', attempts.namespace, attempts.run_name, attempts.job_uid) as run_id,
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
        when attempts.reason in ('Evicted', 'Preempting', 'Preempted', 'Terminated') and attempts.phase = 'Failed'
            then 'preempted'
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
    attempts.node_count,
    list_sum(list_transform(containers, lambda container: coalesce(
        try_cast(container ->> '$.resources.requests.cpu' as double),
        try_cast(regexp_extract(container ->> '$.resources.requests.cpu', '^(\d+)m$', 1) as double) / 1000, 0)))
        as cpu_count,
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
