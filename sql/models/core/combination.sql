-- Combinations of what attribution looks at: tags and account of each charge, and of the rest what some rule asks for.
-- A column that no rule asks for is null throughout, so that it parts nothing. Containers bear their machine's charges.
-- grain: one row per source, month, tag set, sub-account and value of each other input that rules ask for
-- key: source, billing_month, tag_set_id?, sub_account_id?, provider?, billing_account_id?, region_id?, service_name?,
-- key: charge_category?, resource_id?
with sums as (select * from core.charge_sum),
kinds as (select * from core.charge_kind),
shared as (select * from core.split_charge),
splits as (select * from core.split_cost),
used as (select * from core.inputs_used),
organisation as (select * from settings.sub_account),
asked as (
    select kinds.source, kinds.billing_month, sums.tag_set_id, sums.sub_account_id, sums.sub_account_name,
        case when used.uses_provider then kinds.provider end as provider,
        case when used.uses_payer then kinds.billing_account_id end as billing_account_id,
        case when used.uses_region then kinds.region_id end as region_id,
        case when used.uses_service then kinds.service_name end as service_name,
        case when used.uses_category then kinds.charge_category end as charge_category,
        case when used.uses_resource then sums.resource_id end as resource_id
    from sums
    inner join kinds on sums.billing_month = kinds.billing_month and sums.kind_number = kinds.kind_number
    inner join used on sums.billing_month = used.billing_month
    union all
    select shared.source, shared.billing_month, shared.tag_set_id, shared.sub_account_id, null as sub_account_name,
        case when used.uses_provider then shared.provider end as provider,
        case when used.uses_payer then shared.billing_account_id end as billing_account_id,
        case when used.uses_region then shared.region_id end as region_id,
        case when used.uses_service then shared.service_name end as service_name,
        case when used.uses_category then shared.charge_category end as charge_category,
        case when used.uses_resource then shared.resource_id end as resource_id
    from shared
    inner join used on shared.billing_month = used.billing_month
),
found as (
    select asked.source, asked.billing_month, asked.tag_set_id, asked.sub_account_id, asked.provider,
        asked.billing_account_id, asked.region_id, asked.service_name, asked.charge_category, asked.resource_id,
        max(asked.sub_account_name) as sub_account_name
    from asked
    group by asked.source, asked.billing_month, asked.tag_set_id, asked.sub_account_id, asked.provider,
        asked.billing_account_id, asked.region_id, asked.service_name, asked.charge_category, asked.resource_id
),
names as (
    select found.source, found.billing_month, found.sub_account_id, found.sub_account_name
    from found
    union all
    select splits.source, splits.billing_month, splits.sub_account_id, splits.sub_account_name
    from splits
),
last_names as (
    select names.source, names.billing_month, names.sub_account_id, max(names.sub_account_name) as sub_account_name
    from names
    group by names.source, names.billing_month, names.sub_account_id
)

select
    -- The [[source]] of the configuration that delivered the charges
    found.source,
    -- First day of the invoice month
    found.billing_month,
    -- Combination of tags and cost categories: core.tag_set lists them; null without any
    found.tag_set_id,
    -- AWS usage account, GCP project
    found.sub_account_id,
    -- Name of the sub-account, the last in the alphabet where a month has several; without any, the one listed last
    coalesce(last_names.sub_account_name, organisation.sub_account_name) as sub_account_name,
    -- Cloud provider, where a rule asks for it
    found.provider,
    -- Payer, where a rule asks for it
    found.billing_account_id,
    -- Region, where a rule asks for it
    found.region_id,
    -- Service, where a rule asks for it
    found.service_name,
    -- Kind of charge, where a rule asks for it
    found.charge_category,
    -- Resource, where a rule asks for it
    found.resource_id,
    -- Number of the combination within the month
    row_number() over (
        order by found.source, found.tag_set_id, found.sub_account_id, found.provider, found.billing_account_id,
            found.region_id, found.service_name, found.charge_category, found.resource_id
    ) as combination_number
from found
left join last_names
    on found.source = last_names.source and found.billing_month = last_names.billing_month
    and found.sub_account_id = last_names.sub_account_id
left join organisation on found.source = organisation.source and found.sub_account_id = organisation.sub_account_id
