-- The tags and cost categories of a part, one row per entry of each distinct combination; the name of a cost category
-- stands under costCategory/, as AWS's `tags` map has it.
-- grain: one row per combination and tag key
-- key: tag_set_id, tag_key
with
    combinations as (
        select
            "x_TagSetId" as tag_set_id,
            -- The id is half an MD5 (DuckDB's own hash is faster, but gave two combinations in 42,000 one id): should two
            -- ever share one, somebody would pay for the other.
            case
                when min("Tags") is not distinct from max("Tags")
                    and min("x_CostCategories") is not distinct from max("x_CostCategories")
                    and count("Tags") in (0, count(*))
                    and count("x_CostCategories") in (0, count(*))
                then min("Tags")
                else error('two combinations of tags have one id')
            end as tags,
            min("x_CostCategories") as cost_categories,
        from part
        where "x_TagSetId" is not null
        group by 1
    ),

    entries as (
        select combinations.tag_set_id, entry.key as tag_key, entry.value
        from combinations, json_each(cast(combinations.tags as json)) as entry
        union all
        select combinations.tag_set_id, 'costCategory/' || entry.key as tag_key, entry.value
        from combinations, json_each(cast(combinations.cost_categories as json)) as entry
    )

select tag_set_id, tag_key, min(json_extract_string(value, '$')) as tag_value, count(distinct value) as tag_values,
from entries
group by 1, 2
