-- Who pays for each combination of tags, account and what else rules ask for, and which setting said so.
-- grain: one row per combination of core.combination
-- key: source, billing_month, tag_set_id?, sub_account_id?, provider?, billing_account_id?, region_id?, service_name?,
-- key: charge_category?, resource_id?
with combinations as (select * from core.combination),
matches as (select * from core.rules_matched),
by_tag as (select * from core.tags_preferred),
accounts as (select * from settings.attribution_account),
owners as (select * from settings.owner),
team_projects as (select * from settings.team_project),
by_rule as (
    select matches.billing_month, matches.combination_number,
        max(case when matches.dimension = 'project' then matches.value end) as project,
        max(case when matches.dimension = 'project' then matches.named_by end) as project_rule,
        max(case when matches.dimension = 'team' then matches.value end) as team,
        max(case when matches.dimension = 'team' then matches.named_by end) as team_rule,
        max(case when matches.dimension = 'environment' then matches.value end) as environment,
        max(case when matches.dimension = 'environment' then matches.named_by end) as environment_rule,
        max(case when matches.dimension = 'workload' then matches.value end) as workload,
        max(case when matches.dimension = 'workload' then matches.named_by end) as workload_rule,
        max(case when matches.dimension = 'cost_centre' then matches.value end) as cost_centre,
        max(case when matches.dimension = 'cost_centre' then matches.named_by end) as cost_centre_rule
    from matches
    group by matches.billing_month, matches.combination_number
),
named as (
    select combinations.*, coalesce(by_rule.project, by_tag.project, accounts.project, 'unattributed') as project,
        coalesce(by_rule.project_rule, by_tag.project_rule, case when accounts.project is not null then 'account' end,
            'unattributed') as project_rule,
        coalesce(by_rule.team, by_tag.team) as team,
        coalesce(by_rule.team_rule, by_tag.team_rule) as team_rule,
        coalesce(by_rule.environment, by_tag.environment) as environment,
        coalesce(by_rule.environment_rule, by_tag.environment_rule) as environment_rule,
        coalesce(by_rule.workload, by_tag.workload) as workload,
        coalesce(by_rule.workload_rule, by_tag.workload_rule) as workload_rule,
        coalesce(by_rule.cost_centre, by_tag.cost_centre) as cost_centre,
        coalesce(by_rule.cost_centre_rule, by_tag.cost_centre_rule) as cost_centre_rule
    from combinations
    left join by_rule
        on combinations.billing_month = by_rule.billing_month
        and combinations.combination_number = by_rule.combination_number
    left join by_tag
        on combinations.source = by_tag.source and combinations.billing_month = by_tag.billing_month
        and combinations.tag_set_id is not distinct from by_tag.tag_set_id
        and combinations.sub_account_id is not distinct from by_tag.sub_account_id
    left join accounts on combinations.sub_account_id = accounts.sub_account_id
)

select
    named.source, named.billing_month, named.tag_set_id, named.sub_account_id, named.sub_account_name, named.provider,
    named.billing_account_id, named.region_id, named.service_name, named.charge_category, named.resource_id,
    named.combination_number,
    -- Project that pays; 'unattributed' where nothing names one
    named.project,
    -- Team that answers; 'unattributed' where nothing names one
    coalesce(named.team, owners.team, team_projects.team, 'unattributed') as team,
    -- Environment, as rules or tags name it: prod, dev and so on; 'unattributed' where nothing does
    coalesce(named.environment, 'unattributed') as environment,
    -- Kind of work, such as training or inference; 'unattributed' where nothing names one
    coalesce(named.workload, 'unattributed') as workload,
    -- Cost centre; 'unattributed' where nothing names one
    coalesce(named.cost_centre, owners.cost_centre, 'unattributed') as cost_centre,
    -- Account of the general ledger that the owner of the project gives; null without
    owners.gl_account,
    -- What named the project: `rule N`, `tag KEY`, `account tag KEY`, `cost category KEY`, `account` or `unattributed`
    named.project_rule,
    -- What named the team: as for the project, but `owner of project` or `team of project` for `account`
    coalesce(
        named.team_rule, case when owners.team is not null then 'owner of project' end,
        case when team_projects.team is not null then 'team of project' end, 'unattributed'
    ) as team_rule,
    -- What named the environment: `rule N`, `tag KEY`, `account tag KEY`, `cost category KEY` or `unattributed`
    coalesce(named.environment_rule, 'unattributed') as environment_rule,
    -- What named the workload: as for the environment
    coalesce(named.workload_rule, 'unattributed') as workload_rule,
    -- What named the cost centre: as for the environment, or `owner of project`
    coalesce(
        named.cost_centre_rule, case when owners.cost_centre is not null then 'owner of project' end, 'unattributed'
    ) as cost_centre_rule
from named
left join owners
    on named.project = owners.project and (owners.from_month is null or owners.from_month <= named.billing_month)
    and (owners.until_month is null or named.billing_month < owners.until_month)
left join team_projects on named.project = team_projects.project
