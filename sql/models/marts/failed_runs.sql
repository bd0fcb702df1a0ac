-- Attempts of runs that came to nothing, or may have, and what of their cost is lost.
-- grain: one row per such attempt and currency; people sum
-- key: source, attempt_id, billing_currency?
-- materialized: full
with runs as (select * from marts.run_costs)

select runs.source, runs.attempt_id, runs.cluster, runs.run_id, runs.attempt, runs.attempts, runs.sweep_id, runs.kind,
    runs.run_name, runs.user_name, runs.project, runs.team, runs.workload, runs.experiment, runs.model, runs.state,
    runs.reason,
    -- Whether it ever began: what did not cost nothing
    runs.started_at is not null as has_started,
    runs.started_at, runs.ended_at, runs.end_known_by, runs.is_stale, runs.accelerator, runs.wall_hours,
    runs.cpu_hours, runs.gpu_hours, runs.cost_method, runs.cost_confidence, runs.billing_currency,
    runs.cost_before_credits, runs.certainty, runs.resumed_by, runs.lost_share, runs.wasted_certain_gpu_hours,
    runs.wasted_possible_gpu_hours, runs.wasted_certain_cost, runs.wasted_possible_cost
from runs
where runs.certainty <> 'none' or runs.is_stale
    or runs.state not in ('completed', 'running', 'pending', 'resized', 'unknown')
