-- What the view of a part of AWS's Cost and Usage Report makes of the texts of tags.
-- grain: one row per source, month and combination of tags; grouped by what it is joined on, it is left out of many a
-- plan that reads none of its columns
-- key: x_Source, x_BillingMonth, x_TagSetId
select
    "x_Source", "x_BillingMonth", "x_TagSetId",
    any_value(tags_text) as "Tags",
    any_value(cost_categories_text) as "x_CostCategories",
    any_value(json_extract_string(tags_text, '$.Name')) as "ResourceName",
from tag_text
group by "x_Source", "x_BillingMonth", "x_TagSetId"
