-- The combinations of labels in a Cloud Billing export. They repeat from row to row: their texts are worked out and stored
-- once, and a row has the id of its own.
-- grain: one row per combination as delivered; combinations that come to the same tags have one id
-- key: tags?, labels?, project.labels?, system_labels?
select *, case when tags_text is not null then md5_number_lower(tags_text) end as tag_set_id,
from (
    select
        *,
        gcp_tags_text(entries) as tags_text,
        gcp_inherited_tags(tags, labels, "project.labels") as inherited_text,
    from (
        select *, private_entries(gcp_tag_entries(tags, labels, "project.labels", system_labels)) as entries,
        from (select distinct tags, labels, "project.labels", system_labels from landed)
    )
)
