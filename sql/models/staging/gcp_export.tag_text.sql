-- The JSON text of each combination of tags, for the view.
-- grain: one row per combination of tags
-- key: x_TagSetId
select
    tag_set_id as "x_TagSetId",
    -- The id is half an MD5: should two combinations ever share one, somebody would pay for the other.
    case
        when min(tags_text) = max(tags_text) then min(tags_text) else error('two combinations of tags have one id')
    end as tags_text,
from label_set
where tag_set_id is not null
group by 1
