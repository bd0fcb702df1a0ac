-- What names project or team of a combination of tags and account where no rule does. The keys are tried from left to
-- right among the tags of the resource, then among those of its account, then among the names of cost categories; the
-- first that has a value is taken.
-- grain: one row per source, month, tag set, sub-account and dimension that a tag or cost category names
-- key: source, billing_month, tag_set_id?, sub_account_id?, dimension
with combinations as (select * from core.combination),
tag_sets as (select * from core.tag_set),
tag_keys as (select * from settings.attribution_tag),
account_tags as (select * from settings.sub_account_tag),
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
        on tag_sets.source = combinations.source
        and tag_sets.billing_month = combinations.billing_month
        and tag_sets.tag_set_id = combinations.tag_set_id
    where trim(tag_sets.tag_value) <> ''
    union all
    select combinations.source, combinations.billing_month, combinations.tag_set_id, combinations.sub_account_id,
        tag_keys.dimension, 1000001 + 2 * tag_keys.priority as preference,
        'account tag ' || tag_keys.tag_key as named_by, account_tags.tag_value
    from account_tags
    inner join tag_keys on account_tags.tag_key = tag_keys.tag_key
    inner join combinations
        on account_tags.source = combinations.source
        and account_tags.sub_account_id = combinations.sub_account_id
    where trim(account_tags.tag_value) <> ''
),
first_entries as (
    select entries_named.source, entries_named.billing_month, entries_named.tag_set_id, entries_named.sub_account_id,
        entries_named.dimension, min(entries_named.preference) as preference
    from entries_named
    group by entries_named.source, entries_named.billing_month, entries_named.tag_set_id,
        entries_named.sub_account_id, entries_named.dimension
)

select
    -- The [[source]] of the configuration that delivered the charges
    entries_named.source,
    -- First day of the invoice month
    entries_named.billing_month,
    -- Combination of tags and cost categories: core.tag_set lists them; null without any
    entries_named.tag_set_id,
    -- AWS usage account, GCP project
    entries_named.sub_account_id,
    -- project or team
    entries_named.dimension,
    -- `tag KEY`, `account tag KEY` or `cost category KEY`
    entries_named.named_by,
    -- Its value
    entries_named.tag_value
from entries_named
inner join first_entries
    on entries_named.source = first_entries.source
    and entries_named.billing_month = first_entries.billing_month
    and entries_named.tag_set_id is not distinct from first_entries.tag_set_id
    and entries_named.sub_account_id is not distinct from first_entries.sub_account_id
    and entries_named.dimension = first_entries.dimension
    and entries_named.preference = first_entries.preference
