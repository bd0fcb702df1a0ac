-- Tags and cost categories that rules look at, of each combination of tags and account. A tag of the account
-- stands under accountTag/: as the export delivers it, else as the provider's organisation lists it.
-- grain: one row per source, month, tag set, sub-account and key that a rule asks for or takes a value from
-- key: source, billing_month, tag_set_id?, sub_account_id?, tag_key
with combinations as (select * from core.combination),
tag_sets as (select * from core.tag_set),
rules as (select * from settings.attribution_rule),
conditions as (select * from settings.attribution_condition),
account_tags as (select * from settings.sub_account_tag),
keys_wanted as (
    select conditions.tag_key from conditions where conditions.subject = 'tag'
    union
    select rules.value_key as tag_key from rules where rules.value_key is not null
),
bearers as (
    select distinct combinations.source, combinations.billing_month, combinations.tag_set_id,
        combinations.sub_account_id
    from combinations
),
delivered as (
    select bearers.source, bearers.billing_month, bearers.tag_set_id, bearers.sub_account_id, tag_sets.tag_key,
        tag_sets.tag_value
    from tag_sets
    inner join keys_wanted on tag_sets.tag_key = keys_wanted.tag_key
    inner join bearers
        on tag_sets.source = bearers.source and tag_sets.billing_month = bearers.billing_month
        and tag_sets.tag_set_id = bearers.tag_set_id
    where tag_sets.tag_key not like 'accountTag/%' or trim(tag_sets.tag_value) <> ''
),
listed as (
    select account_tags.source, account_tags.sub_account_id, keys_wanted.tag_key, account_tags.tag_value
    from account_tags
    inner join keys_wanted on 'accountTag/' || account_tags.tag_key = keys_wanted.tag_key
    where trim(account_tags.tag_value) <> ''
)

select
    -- The [[source]] of the configuration that delivered the charges
    delivered.source,
    -- First day of the invoice month
    delivered.billing_month,
    -- Combination of tags and cost categories: core.tag_set lists them; null without any
    delivered.tag_set_id,
    -- AWS usage account, GCP project
    delivered.sub_account_id,
    -- Tag key; accountTag/KEY of the account, costCategory/NAME of a cost category
    delivered.tag_key,
    -- Its value
    delivered.tag_value
from delivered
union all
select bearers.source, bearers.billing_month, bearers.tag_set_id, bearers.sub_account_id, listed.tag_key,
    listed.tag_value
from bearers
inner join listed on bearers.source = listed.source and bearers.sub_account_id = listed.sub_account_id
left join delivered
    on bearers.source = delivered.source and bearers.billing_month = delivered.billing_month
    and bearers.tag_set_id = delivered.tag_set_id
    and bearers.sub_account_id = delivered.sub_account_id
    and listed.tag_key = delivered.tag_key
where delivered.tag_key is null
