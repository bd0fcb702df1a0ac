-- Attribution rules that match a combination of tags and account, each pattern tried once per distinct value.
-- grain: one row per source, month, tag set, sub-account and rule whose every condition is met
-- key: source, billing_month, tag_set_id?, sub_account_id?, rule_number
with combinations_found as (select * from core.combination),
tag_sets as (select * from core.tag_set),
rules as (select * from settings.attribution_rule),
conditions as (select * from settings.attribution_condition),
combinations as (
    select
        combinations_found.source,
        combinations_found.billing_month,
        combinations_found.tag_set_id,
        combinations_found.sub_account_id
    from combinations_found
),
tag_values as (
    select distinct tag_sets.tag_key, tag_sets.tag_value
    from tag_sets
),
tag_values_matched as (
    select tag_values.tag_key, tag_values.tag_value, conditions.rule_number, conditions.condition_number
    from tag_values
    inner join conditions
        on conditions.subject = 'tag'
        and tag_values.tag_key = conditions.tag_key
        and tag_values.tag_value like conditions.pattern escape '\'
),
tag_sets_matched as (
    select distinct
        tag_sets.source,
        tag_sets.billing_month,
        tag_sets.tag_set_id,
        tag_values_matched.rule_number,
        tag_values_matched.condition_number
    from tag_sets
    inner join tag_values_matched
        on tag_sets.tag_key = tag_values_matched.tag_key
        and tag_sets.tag_value = tag_values_matched.tag_value
),
accounts_matched as (
    select distinct combinations.sub_account_id, conditions.rule_number, conditions.condition_number
    from combinations
    inner join conditions
        on conditions.subject = 'account'
        and combinations.sub_account_id like conditions.pattern escape '\'
),
conditions_met as (
    select combinations.*, tag_sets_matched.rule_number, tag_sets_matched.condition_number
    from combinations
    inner join tag_sets_matched
        on combinations.source = tag_sets_matched.source
        and combinations.billing_month = tag_sets_matched.billing_month
        and combinations.tag_set_id = tag_sets_matched.tag_set_id
    union all
    select combinations.*, accounts_matched.rule_number, accounts_matched.condition_number
    from combinations
    inner join accounts_matched on combinations.sub_account_id = accounts_matched.sub_account_id
),
conditions_of_rules as (
    select rules.rule_number, count(distinct conditions.condition_number) as condition_count
    from rules
    left join conditions on rules.rule_number = conditions.rule_number
    group by rules.rule_number
),
met_counted as (
    select source, billing_month, tag_set_id, sub_account_id, rule_number, count(*) as condition_count
    from conditions_met
    group by source, billing_month, tag_set_id, sub_account_id, rule_number
),
matches as (
    select met_counted.source, met_counted.billing_month, met_counted.tag_set_id, met_counted.sub_account_id,
        met_counted.rule_number
    from met_counted
    inner join conditions_of_rules
        on met_counted.rule_number = conditions_of_rules.rule_number
        and met_counted.condition_count = conditions_of_rules.condition_count
    union all
    select combinations.*, conditions_of_rules.rule_number
    from combinations
    cross join conditions_of_rules
    where conditions_of_rules.condition_count = 0
)

select
    -- The [[source]] of the configuration that delivered the charges
    matches.source,
    -- First day of the invoice month
    matches.billing_month,
    -- Combination of tags: core.tag_set lists them; null without tags
    matches.tag_set_id,
    -- AWS usage account, GCP project
    matches.sub_account_id,
    -- Number of the rule in the configuration, from 1
    matches.rule_number
from matches
