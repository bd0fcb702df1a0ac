-- The tags of a part of a Cloud Billing export, one row per entry of each distinct combination; a key without value is true.
-- grain: one row per combination and tag key
-- key: tag_set_id, tag_key
select tag_set_id, entry.key as tag_key, coalesce(entry.value, 'true') as tag_value, 1 as tag_values,
from (
    select tag_set_id, unnest(any_value(entries)) as entry,
    from label_set
    where tag_set_id is not null
    group by 1
)
