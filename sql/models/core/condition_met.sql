-- Conditions of attribution rules that a value meets, each pattern tried once per distinct value.
-- grain: one row per source, month, subject, tag key, value and condition that it meets
-- key: source, billing_month, subject, tag_key, input_value, rule_number, condition_number
with combinations as (select * from core.combination),
tags as (select * from core.tags_consulted),
conditions as (select * from settings.attribution_condition),
inputs as (
    select tags.source, tags.billing_month, 'tag' as subject, tags.tag_key, tags.tag_value as input_value
    from tags
    union
    select combinations.source, combinations.billing_month, 'account', '', combinations.sub_account_id
    from combinations
    union
    select combinations.source, combinations.billing_month, 'account_name', '', combinations.sub_account_name
    from combinations
    union
    select combinations.source, combinations.billing_month, 'provider', '', combinations.provider
    from combinations
    union
    select combinations.source, combinations.billing_month, 'billing_account', '', combinations.billing_account_id
    from combinations
    union
    select combinations.source, combinations.billing_month, 'region', '', combinations.region_id
    from combinations
    union
    select combinations.source, combinations.billing_month, 'service', '', combinations.service_name
    from combinations
    union
    select combinations.source, combinations.billing_month, 'charge_category', '', combinations.charge_category
    from combinations
    union
    select combinations.source, combinations.billing_month, 'resource', '', combinations.resource_id
    from combinations
),
-- A pattern without a wildcard is looked up; only globs are tried against every value.
met as (
    select inputs.*, conditions.rule_number, conditions.condition_number
    from inputs
    inner join conditions
        on inputs.subject = conditions.subject
        and inputs.tag_key = conditions.tag_key
        and inputs.input_value = conditions.exact_value
    union
    select inputs.*, conditions.rule_number, conditions.condition_number
    from inputs
    inner join conditions
        on inputs.subject = conditions.subject
        and inputs.tag_key = conditions.tag_key
        and inputs.input_value like conditions.pattern escape '\'
    where conditions.exact_value is null
)

select
    -- The [[source]] of the configuration that delivered the charges
    met.source,
    -- First day of the invoice month
    met.billing_month,
    -- What the condition looks at: tag, account, account_name, service and so on
    met.subject,
    -- Tag key where the subject is tag, else empty
    met.tag_key,
    -- The value that meets the condition
    met.input_value,
    -- Number of the rule in the configuration, from 1
    met.rule_number,
    -- Condition within the rule, from 1
    met.condition_number
from met
