-- The attribution rule that decides a dimension of a combination: the first in written order that is in force in that
-- month and whose conditions hold; one that takes its value from a tag decides only where there is one.
-- grain: one row per combination and dimension that a rule decides
-- key: billing_month, combination_number, dimension
with combinations as (select * from core.combination),
tags as (select * from core.tags_consulted),
held as (select * from core.rules_held),
places_matched as (select * from core.places_matched),
rules as (select * from settings.attribution_rule),
conditions as (select * from settings.attribution_condition),
particular as (
    select distinct conditions.rule_number from conditions where conditions.subject in ('tag', 'resource')
),
-- Of the rules on places alone the first stands for all; those that take their value from a tag stand each for itself.
by_place as (
    select places_matched.source, places_matched.billing_month, places_matched.sub_account_id, places_matched.provider,
        places_matched.billing_account_id, places_matched.region_id, places_matched.service_name,
        places_matched.charge_category, rules.dimension, min(rules.rule_number) as rule_number
    from places_matched
    inner join rules on places_matched.rule_number = rules.rule_number
    left join particular on places_matched.rule_number = particular.rule_number
    where particular.rule_number is null
        and (rules.from_month is null or rules.from_month <= places_matched.billing_month)
        and (rules.until_month is null or places_matched.billing_month < rules.until_month)
    group by places_matched.source, places_matched.billing_month, places_matched.sub_account_id,
        places_matched.provider, places_matched.billing_account_id, places_matched.region_id,
        places_matched.service_name, places_matched.charge_category, rules.dimension,
        case when rules.value_key is not null then rules.rule_number end
),
candidates as (
    select held.billing_month, held.combination_number, rules.dimension, rules.rule_number
    from held
    inner join rules on held.rule_number = rules.rule_number
    where (rules.from_month is null or rules.from_month <= held.billing_month)
        and (rules.until_month is null or held.billing_month < rules.until_month)
    union all
    select combinations.billing_month, combinations.combination_number, by_place.dimension, by_place.rule_number
    from combinations
    inner join by_place
        on combinations.source = by_place.source and combinations.billing_month = by_place.billing_month
        and combinations.sub_account_id is not distinct from by_place.sub_account_id
        and combinations.provider is not distinct from by_place.provider
        and combinations.billing_account_id is not distinct from by_place.billing_account_id
        and combinations.region_id is not distinct from by_place.region_id
        and combinations.service_name is not distinct from by_place.service_name
        and combinations.charge_category is not distinct from by_place.charge_category
),
-- What a rule takes from a tag; a workload is one of five, whatever the tag says.
templated as (
    select candidates.billing_month, candidates.combination_number, candidates.dimension, candidates.rule_number,
        rules.value || case
            when rules.value_case = 'lower' or rules.dimension = 'workload' then lower(trim(tags.tag_value))
            when rules.value_case = 'upper' then upper(trim(tags.tag_value))
            else trim(tags.tag_value)
        end || rules.value_after as assigned
    from candidates
    inner join rules on candidates.rule_number = rules.rule_number and candidates.dimension = rules.dimension
    inner join combinations on candidates.combination_number = combinations.combination_number
        and candidates.billing_month = combinations.billing_month
    inner join tags
        on combinations.source = tags.source and combinations.billing_month = tags.billing_month
        and combinations.tag_set_id is not distinct from tags.tag_set_id
        and combinations.sub_account_id is not distinct from tags.sub_account_id and rules.value_key = tags.tag_key
    where rules.value_key is not null and trim(tags.tag_value) <> ''
),
assigned as (
    select candidates.*, rules.value
    from candidates
    inner join rules on candidates.rule_number = rules.rule_number and candidates.dimension = rules.dimension
    where rules.value_key is null
    union all
    select templated.billing_month, templated.combination_number, templated.dimension, templated.rule_number,
        case when templated.dimension <> 'workload' or templated.assigned <> 'evaluation' then templated.assigned
            else 'monitoring' end as value
    from templated
    where templated.dimension <> 'workload'
        or templated.assigned in ('training', 'inference', 'experiment', 'monitoring', 'platform', 'evaluation')
),
ranked as (
    select assigned.*,
        row_number() over (
            partition by assigned.billing_month, assigned.combination_number, assigned.dimension
            order by assigned.rule_number
        ) as place
    from assigned
)

select
    ranked.billing_month, ranked.combination_number,
    -- project, team, environment, workload or cost_centre
    ranked.dimension,
    -- Number of the rule in the configuration, from 1
    ranked.rule_number,
    -- The rule as people read it: `rule N`
    'rule ' || cast(ranked.rule_number as varchar) as named_by,
    -- What the rule sets
    ranked.value
from ranked
where ranked.place = 1
