-- Charges of containers and of machines that run them, with cluster, namespace and the share that nothing used: from
-- AWS's split cost allocation data, from labels of GKE's cost allocation, and from tags of machines.
-- Source: AWS CUR user guide, "Understanding split cost allocation data"; GKE documentation, "Get key spending insights
-- for your GKE resource allocation and cluster costs", for values of k8s-namespace that are no namespaces.
-- grain: one row per day, payer, cluster, namespace, kind, idle share, project, team and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, cluster_name?, namespace?, kind, idle_share,
-- key: project, team, billing_currency
with costs as (select * from core.charge_cube),
tags as (select * from core.tag_set),
parts as (select * from core.split_cost),
named as (
    select tags.source, tags.billing_month, tags.tag_set_id,
        max(case when tags.tag_key in ('goog-k8s-cluster-name', 'aws:eks:cluster-name', 'aws:eks_cluster_name',
            'aws:ecs:clusterName', 'aws:ecs_cluster_name') then tags.tag_value end) as cluster_name,
        max(case when tags.tag_key in ('k8s-namespace', 'aws:eks:namespace', 'aws:eks_namespace',
            'aws:ecs:serviceName', 'aws:ecs_service_name') then tags.tag_value end) as namespace
    from tags
    where tags.tag_key in ('goog-k8s-cluster-name', 'aws:eks:cluster-name', 'aws:eks_cluster_name',
        'aws:ecs:clusterName', 'aws:ecs_cluster_name', 'k8s-namespace', 'aws:eks:namespace', 'aws:eks_namespace',
        'aws:ecs:serviceName', 'aws:ecs_service_name')
    group by tags.source, tags.billing_month, tags.tag_set_id
),
-- Of what a container bears, the share that nothing used: corrections may leave less than nothing of either part.
idle as (
    select parts.source, parts.billing_month, parts.charge_date, parts.billing_currency, parts.parent_resource_id,
        parts.resource_id, parts.tag_set_id, parts.sub_account_id,
        cast(case
            when sum(parts.unused_cost) > sum(parts.split_cost + parts.unused_cost) then 1
            when sum(parts.unused_cost) > 0
            then cast(sum(parts.unused_cost) as double) / cast(sum(parts.split_cost + parts.unused_cost) as double)
            else 0 end as decimal(13, 12)) as idle_share
    from parts
    group by parts.source, parts.billing_month, parts.charge_date, parts.billing_currency, parts.parent_resource_id,
        parts.resource_id, parts.tag_set_id, parts.sub_account_id
    having sum(parts.split_cost + parts.unused_cost) > 0
),
machines as (
    select parts.source, parts.billing_month, parts.charge_date, parts.parent_resource_id,
        max(named.cluster_name) as cluster_name
    from parts
    left join named
        on parts.source = named.source and parts.billing_month = named.billing_month
        and parts.tag_set_id = named.tag_set_id
    group by parts.source, parts.billing_month, parts.charge_date, parts.parent_resource_id
),
found as (
    select costs.source, costs.billing_month, costs.charge_date, costs.provider, costs.billing_account_id,
        costs.project, costs.team, costs.billing_currency, costs.billed_cost, costs.effective_cost,
        costs.cost_before_credits, costs.list_cost, costs.charge_rows,
        coalesce(named.cluster_name, machines.cluster_name) as cluster_name,
        case when named.namespace not like 'kube:%' and named.namespace not like 'goog-k8s-%' then named.namespace end
            as namespace,
        case
            when named.namespace = 'kube:unallocated' then 'idle'
            when named.namespace = 'kube:system-overhead' then 'overhead'
            when named.namespace like 'kube:%' or named.namespace like 'goog-k8s-%' then 'remainder'
            when named.namespace is null and costs.parent_resource_id is null then 'remainder'
            else 'namespace'
        end as kind,
        coalesce(idle.idle_share, cast(0 as decimal(13, 12))) as idle_share
    from costs
    left join named
        on costs.source = named.source and costs.billing_month = named.billing_month
        and costs.tag_set_id = named.tag_set_id
    left join machines
        on costs.source = machines.source and costs.billing_month = machines.billing_month
        and costs.charge_date = machines.charge_date
        and coalesce(costs.parent_resource_id, costs.resource_id) = machines.parent_resource_id
    left join idle
        on costs.source = idle.source and costs.billing_month = idle.billing_month
        and costs.charge_date = idle.charge_date and costs.billing_currency = idle.billing_currency
        and costs.parent_resource_id = idle.parent_resource_id and costs.resource_id = idle.resource_id
        and costs.tag_set_id is not distinct from idle.tag_set_id
        and costs.sub_account_id is not distinct from idle.sub_account_id
    where named.tag_set_id is not null or machines.parent_resource_id is not null
)

select found.source, found.billing_month, found.charge_date, found.provider, found.billing_account_id,
    -- Cluster; null where nothing names it
    found.cluster_name,
    -- Kubernetes namespace or ECS service; null where the cost belongs to none
    found.namespace,
    -- namespace, idle, overhead (of the system, on GKE) or remainder (of the machine or cluster, told apart no further)
    found.kind,
    -- Share that nothing used of what a container bears of its machine, from 0 to 1; 0 elsewhere
    found.idle_share,
    found.project, found.team, found.billing_currency, sum(found.billed_cost) as billed_cost,
    sum(found.effective_cost) as effective_cost, sum(found.cost_before_credits) as cost_before_credits,
    sum(found.list_cost) as list_cost, cast(sum(found.charge_rows) as bigint) as charge_rows
from found
group by found.source, found.billing_month, found.charge_date, found.provider, found.billing_account_id,
    found.cluster_name, found.namespace, found.kind, found.idle_share, found.project, found.team,
    found.billing_currency
