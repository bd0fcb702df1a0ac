-- Project and team of each combination of tags and account, and which setting said so.
-- grain: one row per source, month, tag set and sub-account that charges or shares of them have
-- key: source, billing_month, tag_set_id?, sub_account_id?
with combinations as (select * from core.combination),
matches as (select * from core.rules_matched),
rules as (select * from settings.attribution_rule),
organisation as (select * from settings.sub_account),
by_tag as (select * from core.tags_preferred),
accounts as (select * from settings.attribution_account),
team_projects as (select * from settings.team_project),
first_rules as (
    select matches.source, matches.billing_month, matches.tag_set_id, matches.sub_account_id, rules.dimension,
        min(rules.rule_number) as rule_number
    from matches
    inner join rules on matches.rule_number = rules.rule_number
    group by matches.source, matches.billing_month, matches.tag_set_id, matches.sub_account_id, rules.dimension
),
by_rule as (
    select first_rules.*, rules.value
    from first_rules
    inner join rules on first_rules.rule_number = rules.rule_number and first_rules.dimension = rules.dimension
),
projects as (
    select combinations.*,
        coalesce(by_rule.value, by_tag.tag_value, accounts.project, 'unattributed') as project,
        case
            when by_rule.value is not null then 'rule ' || cast(by_rule.rule_number as varchar)
            when by_tag.tag_value is not null then by_tag.named_by
            when accounts.project is not null then 'account'
            else 'unattributed'
        end as project_rule
    from combinations
    left join by_rule
        on by_rule.dimension = 'project'
        and combinations.source = by_rule.source
        and combinations.billing_month = by_rule.billing_month
        and combinations.tag_set_id is not distinct from by_rule.tag_set_id
        and combinations.sub_account_id is not distinct from by_rule.sub_account_id
    left join by_tag
        on by_tag.dimension = 'project'
        and combinations.source = by_tag.source
        and combinations.billing_month = by_tag.billing_month
        and combinations.tag_set_id is not distinct from by_tag.tag_set_id
        and combinations.sub_account_id is not distinct from by_tag.sub_account_id
    left join accounts on combinations.sub_account_id = accounts.sub_account_id
)

select
    -- The [[source]] of the configuration that delivered the charges
    projects.source,
    -- First day of the invoice month
    projects.billing_month,
    -- Combination of tags and cost categories: core.tag_set lists them; null without any
    projects.tag_set_id,
    -- AWS usage account, GCP project
    projects.sub_account_id,
    -- Name of the sub-account, the last in the alphabet where a month has several; without any, the one listed last
    coalesce(projects.sub_account_name, organisation.sub_account_name) as sub_account_name,
    -- Project that pays; 'unattributed' where nothing names one
    projects.project,
    -- Team that answers; 'unattributed' where nothing names one
    coalesce(by_rule.value, by_tag.tag_value, team_projects.team, 'unattributed') as team,
    -- What named the project: `rule N`, `tag KEY`, `account tag KEY`, `cost category KEY`, `account` or `unattributed`
    projects.project_rule,
    -- What named the team: as for the project, but `team of project` for `account`
    case
        when by_rule.value is not null then 'rule ' || cast(by_rule.rule_number as varchar)
        when by_tag.tag_value is not null then by_tag.named_by
        when team_projects.team is not null then 'team of project'
        else 'unattributed'
    end as team_rule
from projects
left join organisation
    on projects.source = organisation.source
    and projects.sub_account_id = organisation.sub_account_id
left join by_rule
    on by_rule.dimension = 'team'
    and projects.source = by_rule.source
    and projects.billing_month = by_rule.billing_month
    and projects.tag_set_id is not distinct from by_rule.tag_set_id
    and projects.sub_account_id is not distinct from by_rule.sub_account_id
left join by_tag
    on by_tag.dimension = 'team'
    and projects.source = by_tag.source
    and projects.billing_month = by_tag.billing_month
    and projects.tag_set_id is not distinct from by_tag.tag_set_id
    and projects.sub_account_id is not distinct from by_tag.sub_account_id
left join team_projects on projects.project = team_projects.project
