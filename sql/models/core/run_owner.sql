-- Who runs belong to: what rules say of account, user, partition and so on; then the run itself; then its account.
-- grain: one row per combination of what attribution looks at in runs
-- key: source, month?, cluster, account?, user_name?, partition_name?, qos?, experiment?, own_project?, own_team?,
-- key: own_workload?
-- materialized: full
with runs as (select * from usage.run),
rules as (select * from settings.attribution_rule),
conditions as (select * from settings.attribution_condition),
accounts as (select * from settings.attribution_account),
owners as (select * from settings.owner),
team_projects as (select * from settings.team_project),
combinations as (
    select runs.source, cast(date_trunc('month', coalesce(runs.started_at, runs.submitted_at, runs.ended_at)) as date)
            as month,
        runs.cluster, runs.account, runs.user_name, runs.partition_name, runs.qos, runs.experiment,
        runs.project as own_project, runs.team as own_team, runs.workload as own_workload
    from runs
    group by runs.source,
        cast(date_trunc('month', coalesce(runs.started_at, runs.submitted_at, runs.ended_at)) as date), runs.cluster,
        runs.account, runs.user_name, runs.partition_name, runs.qos, runs.experiment, runs.project,
        runs.team, runs.workload
),
numbered as (
    select combinations.*, row_number() over (
            order by combinations.source, combinations.month, combinations.cluster, combinations.account,
                combinations.user_name, combinations.partition_name, combinations.qos, combinations.experiment,
                combinations.own_project, combinations.own_team, combinations.own_workload
        ) as number
    from combinations
),
-- A run has no tags: what it is known by stands for them.
facts as (
    select number, month, 'account' as subject, '' as tag_key, account as value from numbered
    union all select number, month, 'tag' as subject, 'user' as tag_key, user_name as value from numbered
    union all select number, month, 'tag' as subject, 'partition' as tag_key, partition_name as value from numbered
    union all select number, month, 'tag' as subject, 'qos' as tag_key, qos as value from numbered
    union all select number, month, 'tag' as subject, 'cluster' as tag_key, cluster as value from numbered
    union all select number, month, 'tag' as subject, 'experiment' as tag_key, experiment as value from numbered
),
met as (
    select facts.number, conditions.rule_number, count(distinct conditions.condition_number) as conditions_met
    from conditions
    inner join facts on conditions.subject = facts.subject and conditions.tag_key = facts.tag_key
    where facts.value like conditions.pattern escape '\'
    group by facts.number, conditions.rule_number
),
needed as (
    select conditions.rule_number, count(distinct conditions.condition_number) as conditions_needed
    from conditions
    group by conditions.rule_number
),
ranked as (
    select met.number, rules.dimension, rules.value, row_number() over (
            partition by met.number, rules.dimension order by rules.rule_number
        ) as place
    from met
    inner join needed on met.rule_number = needed.rule_number and met.conditions_met = needed.conditions_needed
    inner join rules on met.rule_number = rules.rule_number
    inner join numbered on met.number = numbered.number
    where rules.value_key is null and (rules.from_month is null or rules.from_month <= numbered.month)
        and (rules.until_month is null or numbered.month < rules.until_month)
),
ruled as (
    select ranked.number, max(case when ranked.dimension = 'project' then ranked.value end) as project,
        max(case when ranked.dimension = 'team' then ranked.value end) as team,
        max(case when ranked.dimension = 'workload' then ranked.value end) as workload
    from ranked
    where ranked.place = 1
    group by ranked.number
),
named as (
    select numbered.*, coalesce(ruled.project, numbered.own_project, accounts.project, 'unattributed') as project,
        coalesce(ruled.team, numbered.own_team) as named_team,
        coalesce(ruled.workload, numbered.own_workload, 'unattributed') as workload
    from numbered
    left join ruled on numbered.number = ruled.number
    left join accounts on numbered.account = accounts.sub_account_id
)

select named.source,
    -- First day of the month in which the run began; null where nothing tells
    named.month,
    named.cluster, named.account, named.user_name, named.partition_name, named.qos, named.experiment,
    -- Project that the run itself names
    named.own_project,
    -- Team that the run itself names
    named.own_team,
    -- Kind of work that the run itself names
    named.own_workload,
    -- Project that the run is for; 'unattributed' where nothing names one
    named.project,
    -- Team that answers; 'unattributed' where nothing names one
    coalesce(named.named_team, owners.team, team_projects.team, 'unattributed') as team,
    -- Kind of work, such as training or inference; 'unattributed' where nothing names one
    named.workload
from named
left join owners on named.project = owners.project and (owners.from_month is null or owners.from_month <= named.month)
    and (owners.until_month is null or named.month < owners.until_month)
left join team_projects on named.project = team_projects.project
