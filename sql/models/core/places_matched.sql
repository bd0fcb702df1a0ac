-- Attribution rules whose every condition on provider, accounts, region, service and kind of charge holds for a place:
-- a combination of those, tags and resources apart. A rule without any condition holds everywhere.
-- grain: one row per place and rule with such conditions
-- key: source, billing_month, sub_account_id?, provider?, billing_account_id?, region_id?, service_name?,
-- key: charge_category?, rule_number
with combinations as (select * from core.combination),
met as (select * from core.condition_met),
rules as (select * from settings.attribution_rule),
conditions as (select * from settings.attribution_condition),
places as (
    select distinct combinations.source, combinations.billing_month, combinations.sub_account_id,
        combinations.sub_account_name, combinations.provider, combinations.billing_account_id, combinations.region_id,
        combinations.service_name, combinations.charge_category
    from combinations
),
inputs as (
    select places.*, 'account' as subject, places.sub_account_id as input_value from places
    union all
    select places.*, 'account_name' as subject, places.sub_account_name as input_value from places
    union all
    select places.*, 'provider' as subject, places.provider as input_value from places
    union all
    select places.*, 'billing_account' as subject, places.billing_account_id as input_value from places
    union all
    select places.*, 'region' as subject, places.region_id as input_value from places
    union all
    select places.*, 'service' as subject, places.service_name as input_value from places
    union all
    select places.*, 'charge_category' as subject, places.charge_category as input_value from places
),
wanted as (
    select rules.rule_number, count(conditions.rule_number) as pattern_count,
        count(distinct case when conditions.subject not in ('tag', 'resource') then conditions.condition_number end)
            as condition_count
    from rules
    left join conditions on rules.rule_number = conditions.rule_number
    group by rules.rule_number
),
counted as (
    select inputs.source, inputs.billing_month, inputs.sub_account_id, inputs.provider, inputs.billing_account_id,
        inputs.region_id, inputs.service_name, inputs.charge_category, met.rule_number, count(*) as condition_count
    from inputs
    inner join met
        on inputs.source = met.source
        and inputs.billing_month = met.billing_month
        and inputs.subject = met.subject
        and inputs.input_value = met.input_value
    group by inputs.source, inputs.billing_month, inputs.sub_account_id, inputs.provider, inputs.billing_account_id,
        inputs.region_id, inputs.service_name, inputs.charge_category, met.rule_number
)

select
    -- The [[source]] of the configuration that delivered the charges
    counted.source,
    -- First day of the invoice month
    counted.billing_month,
    -- AWS usage account, GCP project
    counted.sub_account_id,
    counted.provider, counted.billing_account_id, counted.region_id, counted.service_name, counted.charge_category,
    -- Number of the rule in the configuration, from 1
    counted.rule_number
from counted
inner join wanted
    on counted.rule_number = wanted.rule_number and counted.condition_count = wanted.condition_count
union all
select places.source, places.billing_month, places.sub_account_id, places.provider, places.billing_account_id,
    places.region_id, places.service_name, places.charge_category, wanted.rule_number
from places
cross join wanted
where wanted.pattern_count = 0
