-- Attribution rules with conditions on tags or resources that hold for a combination, whatever it is that they set.
-- grain: one row per combination and such rule whose every condition holds
-- key: source, billing_month, combination_number, rule_number
with combinations as (select * from core.combination),
met as (select * from core.condition_met),
tags_matched as (select * from core.tags_matched),
places_matched as (select * from core.places_matched),
conditions as (select * from settings.attribution_condition),
wanted as (
    select conditions.rule_number, max(case when conditions.subject = 'tag' then 1 else 0 end) as tags,
        max(case when conditions.subject = 'resource' then 1 else 0 end) as resource,
        max(case when conditions.subject not in ('tag', 'resource') then 1 else 0 end) as place
    from conditions
    group by conditions.rule_number
),
by_tags as (
    select combinations.*, tags_matched.rule_number, wanted.place
    from combinations
    inner join tags_matched
        on combinations.source = tags_matched.source
        and combinations.billing_month = tags_matched.billing_month
        and combinations.tag_set_id is not distinct from tags_matched.tag_set_id
        and combinations.sub_account_id is not distinct from tags_matched.sub_account_id
    inner join wanted on tags_matched.rule_number = wanted.rule_number
    where wanted.resource = 0
),
by_resource as (
    select combinations.*, met.rule_number, wanted.place
    from combinations
    inner join met
        on met.subject = 'resource'
        and combinations.source = met.source
        and combinations.billing_month = met.billing_month
        and combinations.resource_id = met.input_value
    inner join wanted on met.rule_number = wanted.rule_number
    left join tags_matched
        on combinations.source = tags_matched.source
        and combinations.billing_month = tags_matched.billing_month
        and combinations.tag_set_id is not distinct from tags_matched.tag_set_id
        and combinations.sub_account_id is not distinct from tags_matched.sub_account_id
        and met.rule_number = tags_matched.rule_number
    where wanted.tags = 0 or tags_matched.rule_number is not null
),
begun as (
    select by_tags.* from by_tags
    union all
    select by_resource.* from by_resource
)

select
    -- The [[source]] of the configuration that delivered the charges
    begun.source,
    -- First day of the invoice month
    begun.billing_month,
    -- Number of the combination within the month
    begun.combination_number,
    -- Number of the rule in the configuration, from 1
    begun.rule_number
from begun
left join places_matched
    on begun.source = places_matched.source
    and begun.billing_month = places_matched.billing_month
    and begun.rule_number = places_matched.rule_number
    and begun.sub_account_id is not distinct from places_matched.sub_account_id
    and begun.provider is not distinct from places_matched.provider
    and begun.billing_account_id is not distinct from places_matched.billing_account_id
    and begun.region_id is not distinct from places_matched.region_id
    and begun.service_name is not distinct from places_matched.service_name
    and begun.charge_category is not distinct from places_matched.charge_category
where begun.place = 0 or places_matched.rule_number is not null
