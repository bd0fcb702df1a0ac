-- Usage types and SKUs that are hours of GPUs, TPUs and other accelerators, and how many one hour of them is.
-- grain: one row per source, month, provider, usage type and service
-- key: source, billing_month, provider?, usage_type, service_code?
with costs as (select * from core.accelerator_cost),
known as (select * from settings.accelerator),
named as (
    select costs.source, costs.billing_month, costs.provider, costs.usage_type, costs.service_code
    from costs
    group by costs.source, costs.billing_month, costs.provider, costs.usage_type, costs.service_code
),
-- Hours of AWS machines: fees on top of them by other services have the same usage types. Of dedicated hosts the host
-- is charged and not the machines. Families whose names begin so have accelerators, save those of maps.
machines as (
    select named.*,
        named.usage_type like '%:p%.%' or named.usage_type like '%:g%.%' or named.usage_type like '%ml.p%.%'
            or named.usage_type like '%ml.g%.%' as is_gpu,
        named.usage_type like '%:trn%.%' or named.usage_type like '%ml.trn%.%' or named.usage_type like '%:inf%.%'
            or named.usage_type like '%ml.inf%.%' or named.usage_type like '%:dl%.%' as is_other
    from named
    where named.provider = 'AWS' and named.usage_type not like '%ml.geospatial%' and (
        (named.service_code = 'AmazonEC2' and named.usage_type not like '%HostBoxUsage:%' and (
            named.usage_type like '%BoxUsage:%' or named.usage_type like '%SpotUsage:%'
            or named.usage_type like '%DedicatedUsage:%' or named.usage_type like '%UnusedBox:%'
            or named.usage_type like '%UnusedDed:%'
        ))
        or (named.service_code = 'AmazonSageMaker' and named.usage_type like '%ml.%')
    )
),
-- Google Cloud charges GPUs and chips by themselves. Cores, memory and disks that go with them are lines of their own,
-- some with the GPU's name, as are fees for managing it: hours of none.
worded as (
    select named.*, ' ' || translate(lower(named.usage_type), '(),:/', '     ') || ' ' as words,
        translate(lower(named.usage_type), 'a -', 'a') as letters
    from named
    where named.provider = 'Google Cloud'
),
skus as (
    select worded.*,
        worded.words like '% gpu%' or worded.words like '% nvidia %' or worded.words like '% rtx %' as is_gpu,
        worded.words like '% tpu%' as is_tpu
    from worded
    where worded.words not like ' commitment %' and worded.words not like '% management fee %'
        and worded.words not like '% licens%' and worded.words not like '% premium %'
        and worded.words not like '% mcpu %' and worded.words not like '% core %' and worded.words not like '% ram %'
        and worded.words not like '% memory %' and worded.words not like '% storage %'
        and worded.words not like '% ssd %'
),
matched as (
    select machines.source, machines.billing_month, machines.provider, machines.usage_type, machines.service_code,
        known.name, case when machines.is_gpu then 'GPU' else 'other' end as kind, known.accelerator,
        known.accelerator_count
    from machines
    left join known
        on known.kind = 'machine'
        and (machines.usage_type like '%:' || known.name or machines.usage_type like '%ml.' || known.name)
    where machines.is_gpu or machines.is_other
    union all
    select skus.source, skus.billing_month, skus.provider, skus.usage_type, skus.service_code, known.name,
        case when skus.is_tpu or known.name like 'ct%' then 'TPU' else 'GPU' end as kind, known.accelerator,
        case when known.name is null and not skus.is_tpu then 1 else known.accelerator_count end as accelerator_count
    from skus
    left join known
        on (known.kind = 'machine' and skus.words like '% ' || known.name || ' %')
        or (known.kind = 'sku' and (skus.is_gpu or skus.is_tpu)
            and skus.letters like '%' || translate(lower(known.name), 'a -', 'a') || '%')
    where skus.is_gpu or skus.is_tpu or known.name is not null
),
-- A name may hold another one: the longest is meant.
ranked as (
    select matched.*,
        row_number() over (
            partition by matched.source, matched.billing_month, matched.provider, matched.usage_type,
                matched.service_code
            order by length(matched.name) desc nulls last, matched.name
        ) as position
    from matched
)

select
    ranked.source, ranked.billing_month, ranked.provider,
    ranked.usage_type, ranked.service_code,
    -- GPU, TPU or other: chips for training and inference that are neither
    ranked.kind as accelerator_kind,
    -- Name of the accelerator in settings.accelerator; 'unknown' where that does not list the machine or SKU
    coalesce(ranked.accelerator, 'unknown') as accelerator,
    -- Accelerators that run for an hour of it; null where it is not known
    cast(ranked.accelerator_count as decimal(9, 3)) as accelerator_count
from ranked
where ranked.position = 1
