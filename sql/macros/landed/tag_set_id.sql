-- The id of a combination of tags and cost categories, each as JSON text, null where there is none: half an MD5. JSON text
-- holds no bare control character, so no two pairs give one text.
create or replace temporary macro tag_set_id(tags, cost_categories) as
    md5_number_lower(
        case when cost_categories is null then tags else coalesce(tags, '') || chr(31) || cost_categories end
    )
