-- What each node of own clusters and static fleets had and when, where several rows tell of it counted once.
-- grain: one row per node and time in which nothing of it changed
-- key: cluster, node, starts_at?
-- materialized: full
with capacities as (select * from usage.capacity),
listed as (select * from core.node_listed),
ever as (
    select cast('1970-01-01' as date) + interval '0' day as first_instant
),
spans as (
    select capacities.cluster, capacities.node, coalesce(capacities.starts_at, ever.first_instant) as starts_at,
        capacities.ends_at, coalesce(capacities.is_down, false) as is_down, capacities.accelerator,
        capacities.gpu_count, capacities.cpu_count, capacities.gpu_hour_price, capacities.currency,
        capacities.instance_id
    from capacities
    cross join ever
    where capacities.told_at is null
    union all
    select listed.cluster, listed.node, coalesce(listed.starts_at, ever.first_instant) as starts_at, listed.ends_at,
        listed.is_down, listed.accelerator, listed.gpu_count, listed.cpu_count, null as gpu_hour_price,
        null as currency, listed.instance_id
    from listed
    cross join ever
),
bounds as (
    select spans.cluster, spans.node, spans.starts_at as bound_at from spans
    union
    select spans.cluster, spans.node, spans.ends_at as bound_at from spans
    where spans.ends_at is not null
),
pieces as (
    select bounds.cluster, bounds.node, bounds.bound_at as starts_at, lag(bounds.bound_at) over (
            partition by bounds.cluster, bounds.node order by bounds.bound_at desc
        ) as ends_at
    from bounds
)

select pieces.cluster, pieces.node,
    -- Since when, UTC; null where nothing says
    case when pieces.starts_at > max(ever.first_instant) then pieces.starts_at end as starts_at,
    -- First instant at which that was over, UTC; null for not yet
    pieces.ends_at,
    -- Whether it was out of order
    max(case when spans.is_down then 1 else 0 end) = 1 as is_down,
    max(spans.accelerator) as accelerator, max(spans.gpu_count) as gpu_count, max(spans.cpu_count) as cpu_count,
    -- Price of one accelerator for an hour; null where nothing says, or two prices
    case when count(distinct spans.gpu_hour_price) = 1 and count(distinct spans.currency) = 1
        then max(spans.gpu_hour_price) end as gpu_hour_price,
    -- ISO 4217 code of the price
    case when count(distinct spans.gpu_hour_price) = 1 and count(distinct spans.currency) = 1
        then max(spans.currency) end as currency,
    max(spans.instance_id) as instance_id
from pieces
inner join spans
    on pieces.cluster = spans.cluster and pieces.node = spans.node and spans.starts_at <= pieces.starts_at
    and (spans.ends_at is null or spans.ends_at > pieces.starts_at)
cross join ever
group by pieces.cluster, pieces.node, pieces.starts_at, pieces.ends_at
