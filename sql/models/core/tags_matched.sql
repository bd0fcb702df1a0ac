-- Attribution rules whose every condition on tags holds for a combination of tags and account.
-- grain: one row per source, month, tag set, sub-account and rule with conditions on tags
-- key: source, billing_month, tag_set_id?, sub_account_id?, rule_number
with tags as (select * from core.tags_consulted),
met as (select * from core.condition_met),
conditions as (select * from settings.attribution_condition),
wanted as (
    select conditions.rule_number, count(distinct conditions.condition_number) as condition_count
    from conditions
    where conditions.subject = 'tag'
    group by conditions.rule_number
),
bearers_of_values as (
    select tags.source, tags.billing_month, tags.tag_key, tags.tag_value, count(*) as bearer_count
    from tags
    group by tags.source, tags.billing_month, tags.tag_key, tags.tag_value
),
met_by_tags as (
    select met.rule_number, met.condition_number, sum(bearers_of_values.bearer_count) as bearer_count
    from met
    inner join bearers_of_values
        on met.source = bearers_of_values.source
        and met.billing_month = bearers_of_values.billing_month
        and met.tag_key = bearers_of_values.tag_key
        and met.input_value = bearers_of_values.tag_value
    where met.subject = 'tag'
    group by met.rule_number, met.condition_number
),
ranked as (
    select met_by_tags.rule_number, met_by_tags.condition_number,
        row_number() over (
            partition by met_by_tags.rule_number
            order by met_by_tags.bearer_count, met_by_tags.condition_number
        ) as place
    from met_by_tags
),
-- What meets the condition of a rule that the fewest meet: of a rule with one condition, all that it holds for.
begun as (
    select tags.source, tags.billing_month, tags.tag_set_id, tags.sub_account_id, met.rule_number,
        wanted.condition_count
    from tags
    inner join met
        on met.subject = 'tag'
        and tags.source = met.source
        and tags.billing_month = met.billing_month
        and tags.tag_key = met.tag_key
        and tags.tag_value = met.input_value
    inner join ranked
        on met.rule_number = ranked.rule_number
        and met.condition_number = ranked.condition_number
        and ranked.place = 1
    inner join wanted on met.rule_number = wanted.rule_number
),
counted as (
    select begun.source, begun.billing_month, begun.tag_set_id, begun.sub_account_id, begun.rule_number,
        begun.condition_count, count(*) as met_count
    from begun
    inner join tags
        on begun.source = tags.source
        and begun.billing_month = tags.billing_month
        and begun.tag_set_id is not distinct from tags.tag_set_id
        and begun.sub_account_id is not distinct from tags.sub_account_id
    inner join met
        on met.subject = 'tag'
        and begun.rule_number = met.rule_number
        and tags.source = met.source
        and tags.billing_month = met.billing_month
        and tags.tag_key = met.tag_key
        and tags.tag_value = met.input_value
    where begun.condition_count > 1
    group by begun.source, begun.billing_month, begun.tag_set_id, begun.sub_account_id, begun.rule_number,
        begun.condition_count
)

select
    -- The [[source]] of the configuration that delivered the charges
    begun.source,
    -- First day of the invoice month
    begun.billing_month,
    -- Combination of tags and cost categories: core.tag_set lists them; null without any
    begun.tag_set_id,
    -- AWS usage account, GCP project
    begun.sub_account_id,
    -- Number of the rule in the configuration, from 1
    begun.rule_number
from begun
where begun.condition_count = 1
union all
select counted.source, counted.billing_month, counted.tag_set_id, counted.sub_account_id, counted.rule_number
from counted
where counted.met_count = counted.condition_count
