-- What names a dimension of a combination of tags and account where no rule does. The keys are tried from left to
-- right among the tags of the resource, then among those of its account, then among the names of cost categories; the
-- first that has a value is taken.
-- grain: one row per source, month, tag set and sub-account of which a tag or cost category names any dimension
-- key: source, billing_month, tag_set_id?, sub_account_id?
with tag_sets as (select * from core.tag_set),
tag_keys as (select * from settings.attribution_tag),
account_tags as (select * from settings.sub_account_tag),
combinations as (
    select distinct source, billing_month, tag_set_id, sub_account_id
    from core.combination
),
-- The rank is odd where the tag comes from the list of accounts: a delivered one of the same key goes before it.
entries_wanted as (
    select tag_keys.dimension, 2 * tag_keys.priority as preference, tag_keys.tag_key as entry_key,
        'tag ' || tag_keys.tag_key as named_by
    from tag_keys
    union all
    select tag_keys.dimension, 1000000 + 2 * tag_keys.priority as preference,
        'accountTag/' || tag_keys.tag_key as entry_key, 'account tag ' || tag_keys.tag_key as named_by
    from tag_keys
    union all
    select tag_keys.dimension, 2000000 + 2 * tag_keys.priority as preference,
        'costCategory/' || tag_keys.tag_key as entry_key, 'cost category ' || tag_keys.tag_key as named_by
    from tag_keys
),
entries_named as (
    select combinations.source, combinations.billing_month, combinations.tag_set_id, combinations.sub_account_id,
        entries_wanted.dimension, entries_wanted.preference, entries_wanted.named_by, tag_sets.tag_value
    from tag_sets
    inner join entries_wanted on tag_sets.tag_key = entries_wanted.entry_key
    inner join combinations
        on tag_sets.source = combinations.source and tag_sets.billing_month = combinations.billing_month
        and tag_sets.tag_set_id = combinations.tag_set_id
    where trim(tag_sets.tag_value) <> ''
    union all
    select combinations.source, combinations.billing_month, combinations.tag_set_id, combinations.sub_account_id,
        tag_keys.dimension, 1000001 + 2 * tag_keys.priority as preference,
        'account tag ' || tag_keys.tag_key as named_by, account_tags.tag_value
    from account_tags
    inner join tag_keys on account_tags.tag_key = tag_keys.tag_key
    inner join combinations
        on account_tags.source = combinations.source and account_tags.sub_account_id = combinations.sub_account_id
    where trim(account_tags.tag_value) <> ''
),
-- A workload is one of five, and a tag that says anything else names none.
entries_understood as (
    select entries_named.source, entries_named.billing_month, entries_named.tag_set_id, entries_named.sub_account_id,
        entries_named.dimension, entries_named.preference, entries_named.named_by,
        case
            when entries_named.dimension <> 'workload' then entries_named.tag_value
            when lower(trim(entries_named.tag_value)) = 'evaluation' then 'monitoring'
            else lower(trim(entries_named.tag_value))
        end as tag_value
    from entries_named
    where entries_named.dimension <> 'workload' or lower(trim(entries_named.tag_value)) in
        ('training', 'inference', 'experiment', 'monitoring', 'platform', 'evaluation')
),
ranked as (
    select entries_understood.*, row_number() over (
            partition by entries_understood.source, entries_understood.billing_month, entries_understood.tag_set_id,
                entries_understood.sub_account_id, entries_understood.dimension
            order by entries_understood.preference
        ) as place
    from entries_understood
)

select
    -- The [[source]] of the configuration that delivered the charges
    ranked.source,
    -- First day of the invoice month
    ranked.billing_month,
    -- Combination of tags and cost categories: core.tag_set lists them; null without any
    ranked.tag_set_id,
    -- AWS usage account, GCP project
    ranked.sub_account_id,
    -- Value that names the project; null where none does
    max(case when ranked.dimension = 'project' then ranked.tag_value end) as project,
    -- What has it: `tag KEY`, `account tag KEY` or `cost category KEY`
    max(case when ranked.dimension = 'project' then ranked.named_by end) as project_rule,
    -- Value that names the team
    max(case when ranked.dimension = 'team' then ranked.tag_value end) as team,
    -- What has it
    max(case when ranked.dimension = 'team' then ranked.named_by end) as team_rule,
    -- Value that names the environment
    max(case when ranked.dimension = 'environment' then ranked.tag_value end) as environment,
    -- What has it
    max(case when ranked.dimension = 'environment' then ranked.named_by end) as environment_rule,
    -- Value that names the workload
    max(case when ranked.dimension = 'workload' then ranked.tag_value end) as workload,
    -- What has it
    max(case when ranked.dimension = 'workload' then ranked.named_by end) as workload_rule,
    -- Value that names the cost centre
    max(case when ranked.dimension = 'cost_centre' then ranked.tag_value end) as cost_centre,
    -- What has it
    max(case when ranked.dimension = 'cost_centre' then ranked.named_by end) as cost_centre_rule
from ranked
where ranked.place = 1
group by ranked.source, ranked.billing_month, ranked.tag_set_id, ranked.sub_account_id
