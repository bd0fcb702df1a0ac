-- The JSON texts of each combination of tags and cost categories that charges or containers have, for the view.
-- grain: one row per combination
-- key: x_TagSetId
select
    "x_TagSetId",
    -- The id is half an MD5 (DuckDB's own hash is faster, but gave two combinations in 42,000 one id): should two ever share
    -- one, somebody would pay for the other.
    case
        when min("Tags") is not distinct from max("Tags")
            and min("x_CostCategories") is not distinct from max("x_CostCategories")
            and count("Tags") in (0, count(*))
            and count("x_CostCategories") in (0, count(*))
        then min("Tags")
        else error('two combinations of tags have one id')
    end as tags_text,
    min("x_CostCategories") as cost_categories_text,
from part
where "x_TagSetId" is not null
group by 1
