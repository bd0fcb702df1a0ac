-- The tag that names project or team of a combination of tags: the first key by preference that has a value.
-- grain: one row per source, month, tag set and dimension that a tag names
-- key: source, billing_month, tag_set_id, dimension
with tag_sets as (select * from core.tag_set),
tag_keys as (select * from settings.attribution_tag),
tags_named as (
    select
        tag_sets.source,
        tag_sets.billing_month,
        tag_sets.tag_set_id,
        tag_keys.dimension,
        tag_keys.priority,
        tag_sets.tag_key,
        tag_sets.tag_value
    from tag_sets
    inner join tag_keys on tag_sets.tag_key = tag_keys.tag_key
    where trim(tag_sets.tag_value) <> ''
),
first_tags as (
    select
        tags_named.source,
        tags_named.billing_month,
        tags_named.tag_set_id,
        tags_named.dimension,
        min(tags_named.priority) as priority
    from tags_named
    group by tags_named.source, tags_named.billing_month, tags_named.tag_set_id, tags_named.dimension
)

select
    -- The [[source]] of the configuration that delivered the charges
    tags_named.source,
    -- First day of the invoice month
    tags_named.billing_month,
    -- Combination of tags: core.tag_set lists them
    tags_named.tag_set_id,
    -- project or team
    tags_named.dimension,
    -- Tag key, exact case
    tags_named.tag_key,
    -- Its value
    tags_named.tag_value
from tags_named
inner join first_tags
    on tags_named.source = first_tags.source
    and tags_named.billing_month = first_tags.billing_month
    and tags_named.tag_set_id = first_tags.tag_set_id
    and tags_named.dimension = first_tags.dimension
    and tags_named.priority = first_tags.priority
