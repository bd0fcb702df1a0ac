-- How runs ended, by count and by what they used, cost and lost: a few long ones may weigh more than thousands.
-- grain: one row per source, cluster, month, project, team, state and currency
-- key: source, cluster, billing_month?, project, team, state, told_as, billing_currency?
-- materialized: full
with runs as (select * from marts.run_costs),
totals as (select * from usage.run_total),
team_projects as (select * from settings.team_project),
counted as (
    select runs.*, cast(date_trunc('month', coalesce(runs.started_at, runs.submitted_at, runs.ended_at)) as date)
        as billing_month, row_number() over (
            partition by runs.source, runs.attempt_id order by runs.billing_currency
        ) as place
    from runs
)

select
    -- The [[source]] of the configuration that told of the runs
    counted.source,
    -- Cluster; empty where nothing names one
    counted.cluster,
    -- First day of the month in which the runs began; null where it is not known
    counted.billing_month, counted.project, counted.team, counted.state,
    -- runs: the source lists them one by one; totals: it tells of sums only
    'runs' as told_as,
    counted.billing_currency,
    -- Attempts that ended so
    cast(sum(case when counted.place = 1 then 1 else 0 end) as bigint) as run_count,
    -- Attempts that never began
    cast(sum(case when counted.place = 1 and counted.started_at is null then 1 else 0 end) as bigint)
    as not_started_count,
    sum(counted.wall_hours) as wall_hours, sum(counted.node_hours) as node_hours, sum(counted.cpu_hours) as cpu_hours,
    sum(counted.gpu_hours) as gpu_hours, cast(sum(counted.cost_before_credits) as decimal(38, 12))
    as cost_before_credits,
    sum(counted.wasted_certain_gpu_hours) as wasted_certain_gpu_hours,
    sum(counted.wasted_possible_gpu_hours) as wasted_possible_gpu_hours,
    cast(sum(counted.wasted_certain_cost) as decimal(38, 12)) as wasted_certain_cost,
    cast(sum(counted.wasted_possible_cost) as decimal(38, 12)) as wasted_possible_cost
from counted
group by counted.source, counted.cluster, counted.billing_month, counted.project, counted.team, counted.state,
    counted.billing_currency
union all
select totals.source, totals.cluster, totals.month as billing_month,
    coalesce(totals.project, 'unattributed') as project,
    coalesce(totals.team, team_projects.team, 'unattributed') as team, totals.state, 'totals' as told_as,
    null as billing_currency, cast(sum(totals.run_count) as bigint) as run_count, null as not_started_count,
    null as wall_hours, null as node_hours,
    cast(cast(sum(totals.cpu_seconds) as double) / 3600 as decimal(38, 9)) as cpu_hours,
    cast(cast(sum(totals.gpu_seconds) as double) / 3600 as decimal(38, 9)) as gpu_hours, null as cost_before_credits,
    null as wasted_certain_gpu_hours, null as wasted_possible_gpu_hours, null as wasted_certain_cost,
    null as wasted_possible_cost
from totals
left join team_projects on totals.project = team_projects.project
group by totals.source, totals.cluster, totals.month, coalesce(totals.project, 'unattributed'),
    coalesce(totals.team, team_projects.team, 'unattributed'), totals.state
