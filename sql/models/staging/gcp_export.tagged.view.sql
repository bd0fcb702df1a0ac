-- What the view of a part of a Cloud Billing export makes of the texts of tags.
-- grain: one row per source, month and combination of tags; grouped by what it is joined on, it is left out of many a
-- plan that reads none of its columns
-- key: x_Source, x_BillingMonth, x_TagSetId
select
    "x_Source", "x_BillingMonth", "x_TagSetId",
    any_value(tags_text) as "Tags",
    any_value(json_extract_string(tags_text, '$."goog-system/compute.googleapis.com/machine_spec"')) as machine_type,
    any_value(json_extract_string(tags_text, '$."goog-system/compute.googleapis.com/cores"')) as cores,
    any_value(json_extract_string(tags_text, '$."goog-system/compute.googleapis.com/memory"')) as megabytes,
    any_value(json_extract_string(tags_text, '$."goog-system/compute.googleapis.com/reservation_name"'))
    as reservation_name,
    any_value(json_extract_string(tags_text, '$."goog-system/compute.googleapis.com/reservation_project_id"'))
    as reservation_project,
    any_value(json_extract_string(tags_text, '$."goog-system/compute.googleapis.com/is_unused_reservation"'))
    as is_unused_reservation,
from tag_text
group by "x_Source", "x_BillingMonth", "x_TagSetId"
