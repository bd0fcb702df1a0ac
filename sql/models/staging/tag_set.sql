-- The tags of a part, one row per tag of each distinct combination.
-- grain: one row per combination and tag key
-- key: tag_set_id, tag_key
with
    combinations as (
        select
            "x_TagSetId" as tag_set_id,
            -- The id is half an MD5 (DuckDB's own hash is faster, but gave two combinations in 42,000 one id): should two
            -- ever share one, somebody would pay for the other.
            case when min("Tags") = max("Tags") then min("Tags") else error('two combinations of tags have one id') end
            as tags,
        from part
        where "x_TagSetId" is not null
        group by 1
    )

select
    combinations.tag_set_id,
    entry.key as tag_key,
    min(json_extract_string(entry.value, '$')) as tag_value,
from combinations, json_each(cast(combinations.tags as json)) as entry
group by 1, 2
