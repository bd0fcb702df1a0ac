-- Hours of GPUs, TPU chips and other accelerators by two measures, never to be added up: those in the bill, with what
-- they cost, and those that runs held.
-- grain: one row per measure, day, provider, all that is attributed, accelerator, pricing, outcome and currency
-- key: source, billing_month, charge_date, provider?, project, team, environment, workload, accelerator_kind,
-- key: accelerator, pricing, measured_by, outcome?, billing_currency?
-- materialized: full
with billed as (select * from core.gpu_hours_billed),
runs as (select * from marts.run_daily_use)

select billed.source, billed.billing_month, billed.charge_date, billed.provider, billed.project, billed.team,
    billed.environment, billed.workload, billed.accelerator_kind, billed.accelerator,
    -- on-demand, spot, committed or unused reservation; unknown of runs
    billed.pricing, billed.billing_currency,
    -- bill: hours charged for; run: hours that runs held, as schedulers and trackers tell. Never add the two
    billed.measured_by,
    -- How the runs ended; null in the bill
    cast(null as varchar) as outcome,
    -- Hours times accelerators (chips of TPUs); null where unknown, 0 for unused reservations
    billed.gpu_hours,
    billed.unused_gpu_hours, billed.utilised_gpu_hours,
    billed.billed_cost, billed.effective_cost, billed.cost_before_credits, billed.list_cost
from billed
union all
select runs.source, runs.billing_month, runs.charge_date, null as provider, runs.project, runs.team,
    'unattributed' as environment, runs.workload, 'GPU' as accelerator_kind,
    coalesce(runs.accelerator, 'unknown') as accelerator, 'unknown' as pricing, null as billing_currency,
    'run' as measured_by, runs.state as outcome,
    case when count(runs.gpu_hours) = count(*) then cast(sum(runs.gpu_hours) as decimal(38, 9)) end as gpu_hours,
    cast(0 as decimal(38, 9)) as unused_gpu_hours, null as utilised_gpu_hours, null as billed_cost,
    null as effective_cost, null as cost_before_credits, null as list_cost
from runs
where runs.gpu_hours is null or runs.gpu_hours > 0
group by runs.source, runs.billing_month, runs.charge_date, runs.project, runs.team, runs.workload,
    coalesce(runs.accelerator, 'unknown'), runs.state
