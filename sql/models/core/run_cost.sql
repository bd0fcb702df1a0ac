-- What each attempt cost by the best evidence that there is, and which that is.
-- grain: one row per attempt and currency; one without a currency where nothing tells what it cost
-- key: source, attempt_id, billing_currency?
-- materialized: full
with attempts as (select * from core.run_attempt),
own_costs as (select * from core.run_own_cost),
machine_costs as (select * from core.machine_cost),
run_sources as (select * from settings.run_source),
places as (select * from core.run_place),
node_times as (select * from core.node_time),
billed as (
    select own_costs.source, own_costs.attempt_id, own_costs.billing_currency, own_costs.cost_before_credits,
        case when own_costs.evidence = 'resource' then 1 else 2 end as place
    from own_costs
    union all
    select machine_costs.source, machine_costs.attempt_id, machine_costs.billing_currency,
        machine_costs.cost_before_credits, 3 as place
    from machine_costs
    where machine_costs.attempt_id is not null
),
summed as (
    select billed.source, billed.attempt_id, billed.billing_currency, min(billed.place) as place,
        cast(sum(billed.cost_before_credits) as decimal(38, 12)) as cost_before_credits
    from billed
    group by billed.source, billed.attempt_id, billed.billing_currency
),
-- A price that the nodes of a run had in common when it began goes before that of the source.
node_prices as (
    select places.source, places.attempt_id, max(node_times.gpu_hour_price) as gpu_hour_price,
        max(node_times.currency) as currency
    from places
    inner join node_times
        on places.cluster = node_times.cluster and places.node = node_times.node
        and (node_times.starts_at is null or node_times.starts_at <= places.started_at)
        and (node_times.ends_at is null or node_times.ends_at > places.started_at)
    where node_times.gpu_hour_price is not null
    group by places.source, places.attempt_id
    having count(distinct node_times.gpu_hour_price) = 1 and count(distinct node_times.currency) = 1
),
priced as (
    select attempts.source, attempts.attempt_id, coalesce(node_prices.currency, run_sources.currency) as currency,
        attempts.started_at, cast(coalesce(
            attempts.billable_seconds, date_diff('second', attempts.started_at, attempts.ended_at)
        ) as double) * cast(attempts.gpu_count as double) / 3600 as gpu_hours,
        coalesce(node_prices.gpu_hour_price, run_sources.gpu_hour_price) as gpu_hour_price
    from attempts
    left join run_sources on attempts.source = run_sources.source
    left join node_prices
        on attempts.source = node_prices.source and attempts.attempt_id = node_prices.attempt_id
    left join summed on attempts.source = summed.source and attempts.attempt_id = summed.attempt_id
    where summed.attempt_id is null
),
estimated as (
    select priced.source, priced.attempt_id,
        case
            when priced.started_at is null then 'not started'
            when priced.gpu_hours > 0 and priced.gpu_hours < 1000000000000 and priced.gpu_hour_price is not null
            then 'price' else 'none' end as method,
        priced.currency, cast(cast(priced.gpu_hour_price as decimal(18, 9))
            -- Absurd hours are no use that has a price.
            * cast(case when priced.gpu_hours < 1000000000000 then priced.gpu_hours end as decimal(20, 6))
            as decimal(38, 12)) as cost_before_credits
    from priced
)

select
    -- Source of the run
    summed.source,
    -- Attempt of core.run_attempt
    summed.attempt_id,
    -- resource (charges of the run's own resource), tag (charges that name it), machine (its part of machines that it
    -- was on), price (accelerators times hours times price), not started (nothing) or none (unknown)
    case when summed.place = 1 then 'resource' when summed.place = 2 then 'tag' else 'machine' end as cost_method,
    -- high, medium or low; null where the cost is unknown
    case when summed.place < 3 then 'high' else 'medium' end as cost_confidence,
    -- ISO 4217 code of the cost; null where it is nothing or unknown
    summed.billing_currency,
    -- Effective cost before promotional credits; 0 of a run that never began, null where unknown
    summed.cost_before_credits
from summed
union all
select estimated.source, estimated.attempt_id, estimated.method as cost_method,
    case when estimated.method = 'price' then 'low' when estimated.method = 'not started' then 'high' end
    as cost_confidence,
    case when estimated.method = 'price' then estimated.currency end as billing_currency,
    case when estimated.method = 'price' then estimated.cost_before_credits
        when estimated.method = 'not started' then cast(0 as decimal(38, 12)) end as cost_before_credits
from estimated
