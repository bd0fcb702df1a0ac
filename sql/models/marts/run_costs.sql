-- What each attempt of a run used and cost, and which part of that is lost.
-- grain: one row per attempt and currency; people sum
-- key: source, attempt_id, billing_currency?
-- materialized: full
with attempts as (select * from core.run_attempt),
costs as (select * from core.run_cost),
losses as (select * from core.run_loss),
placed as (
    select costs.source, costs.attempt_id, costs.cost_method, costs.cost_confidence, costs.billing_currency,
        cast(costs.cost_before_credits as decimal(24, 12)) as cost_before_credits, row_number() over (
            partition by costs.source, costs.attempt_id order by costs.billing_currency
        ) as place
    from costs
),
-- Use stands on the first row of an attempt, so that it is not counted once per currency.
used as (
    select attempts.source, attempts.attempt_id, placed.billing_currency,
        case when placed.place > 1 or attempts.started_at is null then 0
            else cast(date_diff('second', attempts.started_at, attempts.ended_at) as double) / 3600 end as hours
    from attempts
    inner join placed on attempts.source = placed.source and attempts.attempt_id = placed.attempt_id
)

select attempts.source, attempts.attempt_id, attempts.cluster, attempts.run_id, attempts.attempt, attempts.attempts,
    -- Array, sweep, heterogeneous job or parent run that it is a part of
    attempts.sweep_id,
    -- batch, array_task, interactive, notebook or service
    attempts.kind,
    -- Name that somebody gave the run
    attempts.run_name,
    -- Who started it
    attempts.user_name, attempts.project, attempts.team, attempts.workload,
    -- Experiment that it is a part of
    attempts.experiment,
    -- Model that was trained or served
    attempts.model,
    -- Plan that it belongs to
    attempts.plan_id,
    -- completed, failed, cancelled, timeout, oom, node_fail, preempted, requeued, resized, running, pending or unknown
    attempts.state,
    -- Why it ended, in the source's words
    attempts.reason,
    -- When it was submitted, UTC
    attempts.submitted_at,
    -- When the attempt began, UTC; null where it never did
    attempts.started_at, attempts.ended_at, attempts.end_known_by, attempts.is_stale,
    -- Nodes or hosts
    attempts.node_count,
    -- Processors of all nodes
    attempts.cpu_count, attempts.gpu_count,
    -- Kind of accelerator, as the source names it
    attempts.accelerator,
    -- Machine type
    attempts.instance_type,
    -- Hours from start to end; null where the end is unknown
    cast(used.hours as decimal(38, 9)) as wall_hours,
    -- Hours times nodes
    cast(used.hours * attempts.node_count as decimal(38, 9)) as node_hours,
    -- Hours times processors
    cast(used.hours * attempts.cpu_count as decimal(38, 9)) as cpu_hours,
    -- Hours times accelerators; null where unknown
    cast(used.hours * cast(attempts.gpu_count as double) as decimal(38, 9)) as gpu_hours,
    placed.cost_method, placed.cost_confidence, placed.billing_currency,
    cast(placed.cost_before_credits as decimal(38, 12)) as cost_before_credits, losses.certainty, losses.resumed_by,
    losses.lost_share,
    -- Accelerator hours that are lost for certain
    cast(case when losses.certainty = 'certain' then used.hours * cast(attempts.gpu_count as double)
        * cast(losses.lost_share as double) else 0 end as decimal(38, 9)) as wasted_certain_gpu_hours,
    -- Accelerator hours that may be lost, besides
    cast(case when losses.certainty = 'possible' then used.hours * cast(attempts.gpu_count as double)
        * cast(losses.lost_share as double) else 0 end as decimal(38, 9)) as wasted_possible_gpu_hours,
    -- Part of the cost that is lost for certain; null where the cost is unknown
    cast(case when losses.certainty = 'certain' then placed.cost_before_credits * losses.lost_share
        else placed.cost_before_credits * cast(0 as decimal(13, 12)) end as decimal(38, 12)) as wasted_certain_cost,
    -- Part of the cost that may be lost, besides
    cast(case when losses.certainty = 'possible' then placed.cost_before_credits * losses.lost_share
        else placed.cost_before_credits * cast(0 as decimal(13, 12)) end as decimal(38, 12)) as wasted_possible_cost
from attempts
inner join placed on attempts.source = placed.source and attempts.attempt_id = placed.attempt_id
inner join used
    on placed.source = used.source and placed.attempt_id = used.attempt_id
    and placed.billing_currency is not distinct from used.billing_currency
inner join losses on attempts.source = losses.source and attempts.attempt_id = losses.attempt_id
