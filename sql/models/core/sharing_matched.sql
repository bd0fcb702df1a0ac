-- What of a split's conditions each group of costs meets.
-- grain: one row per split in force, part of it and group of costs that meets any of its conditions
-- key: billing_month, split_number, part, group_number
with groups as (select * from core.cost_group),
met as (select * from core.sharing_value),
splits as (select * from settings.split),
looked_at as (
    select groups.billing_month, groups.group_number, 'provider' as dimension, groups.provider as value from groups
    union all
    select groups.billing_month, groups.group_number, 'billing_account' as dimension, groups.billing_account_id as value
    from groups
    union all
    select groups.billing_month, groups.group_number, 'project' as dimension, groups.project as value from groups
    union all
    select groups.billing_month, groups.group_number, 'team' as dimension, groups.team as value from groups
    union all
    select groups.billing_month, groups.group_number, 'environment' as dimension, groups.environment as value
    from groups
    union all
    select groups.billing_month, groups.group_number, 'workload' as dimension, groups.workload as value from groups
    union all
    select groups.billing_month, groups.group_number, 'cost_centre' as dimension, groups.cost_centre as value
    from groups
    union all
    select groups.billing_month, groups.group_number, 'service' as dimension, groups.service_name as value from groups
    union all
    select groups.billing_month, groups.group_number, 'service_category' as dimension, groups.service_category as value
    from groups
    union all
    select groups.billing_month, groups.group_number, 'charge_category' as dimension, groups.charge_category as value
    from groups
    union all
    select groups.billing_month, groups.group_number, 'commitment_status' as dimension,
        groups.commitment_discount_status as value
    from groups
),
counted as (
    select looked_at.billing_month, met.split_number, met.part, looked_at.group_number,
        sum(case when looked_at.dimension in ('project', 'team', 'cost_centre') then 1 else 0 end) as names_met,
        sum(case when looked_at.dimension in ('project', 'team', 'cost_centre') then 0 else 1 end) as others_met
    from looked_at
    inner join met
        on looked_at.billing_month = met.billing_month and looked_at.dimension = met.dimension
        and looked_at.value = met.value
    group by looked_at.billing_month, met.split_number, met.part, looked_at.group_number
)

select
    counted.billing_month, counted.split_number, counted.part,
    -- Group of core.cost_group
    counted.group_number,
    -- Conditions that its project, team and cost centre meet
    cast(counted.names_met as bigint) as names_met,
    -- Conditions that all else of it meets, which sharing does not change
    cast(counted.others_met as bigint) as others_met,
    -- 1 where all conditions of the part are met, else 0
    case
        when counted.part = 'share' and counted.names_met = splits.share_names
            and counted.others_met = splits.share_others then 1
        when counted.part = 'of' and counted.names_met + counted.others_met = splits.of_conditions then 1
        else 0
    end as is_met
from counted
inner join splits on counted.split_number = splits.split_number
where (splits.from_month is null or splits.from_month <= counted.billing_month)
    and (splits.until_month is null or counted.billing_month < splits.until_month)
