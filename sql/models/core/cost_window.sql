-- Charges whose effective cost belongs to more days than the one that they are charged on, and the time that it is for:
-- for what is unused of a commitment, the hours of its fee that have passed; for prepaid capacity, the time that it is
-- reserved for.
-- grain: one row per such charge
-- key: source, billing_month, load_id, charge_number
with charges as (select * from focus.cost_and_usage),
capacities as (select * from settings.prepaid_capacity),
split_costs as (select * from core.split_cost),
usage_types as (
    select distinct charges.x_UsageType as usage_type
    from charges
    where charges.x_UsageType is not null
),
prepaid_types as (
    select usage_types.usage_type, capacities.capacity_number, capacities.resource_pattern
    from usage_types
    inner join capacities on usage_types.usage_type like capacities.usage_type_pattern escape '\'
    union all
    -- A capacity block whose row spans the time that is reserved needs no setting.
    select usage_types.usage_type, 1000000 as capacity_number, cast(null as varchar) as resource_pattern
    from usage_types
    where usage_types.usage_type like '%CapacityBlockFee%'
),
machines as (
    select distinct split_costs.parent_resource_id
    from split_costs
),
prepaid_matches as (
    select charges.x_LoadId as load_id, charges.x_RowNumber as charge_number,
        min(prepaid_types.capacity_number) as capacity_number
    from charges
    inner join prepaid_types on charges.x_UsageType = prepaid_types.usage_type
    -- Costs of a machine that ran containers are shared among those, day by day as charged.
    left join machines on charges.ResourceId = machines.parent_resource_id
    where machines.parent_resource_id is null
        and (prepaid_types.resource_pattern is null
            or charges.ResourceId like prepaid_types.resource_pattern escape '\')
    group by charges.x_LoadId, charges.x_RowNumber
),
prepaid as (
    select charges.x_Source as source, charges.x_BillingMonth as billing_month, charges.x_LoadId as load_id,
        charges.x_RowNumber as charge_number,
        coalesce(capacities.starts_at, charges.ChargePeriodStart) as starts_at,
        coalesce(capacities.ends_at, charges.ChargePeriodEnd) as ends_at
    from charges
    inner join prepaid_matches
        on charges.x_LoadId = prepaid_matches.load_id and charges.x_RowNumber = prepaid_matches.charge_number
    left join capacities on prepaid_matches.capacity_number = capacities.capacity_number
),
last_usage as (
    select charges.x_LoadId as load_id, max(charges.ChargePeriodEnd) as usage_end
    from charges
    where charges.ChargeCategory = 'Usage' and charges.x_RowNumber > 0
        -- Longer rows say what time they are for, not how much of it has passed.
        and charges.ChargePeriodEnd <= charges.ChargePeriodStart + interval '1' day
    group by charges.x_LoadId
),
unused as (
    select charges.x_Source as source, charges.x_BillingMonth as billing_month, charges.x_LoadId as load_id,
        charges.x_RowNumber as charge_number, charges.ChargePeriodStart as starts_at,
        case
            when last_usage.usage_end < charges.ChargePeriodEnd then last_usage.usage_end
            else charges.ChargePeriodEnd
        end as ends_at
    from charges
    left join last_usage on charges.x_LoadId = last_usage.load_id
    left join machines on charges.ResourceId = machines.parent_resource_id
    where charges.ChargeCategory = 'Usage' and charges.x_RowNumber < 0
        and machines.parent_resource_id is null
),
windows as (
    select prepaid.* from prepaid
    union all
    select unused.* from unused
)

select
    -- Source that delivered the charge
    windows.source,
    -- First day of the invoice month
    windows.billing_month,
    -- Load that wrote the charge
    windows.load_id,
    -- Position of the charge in its load
    windows.charge_number,
    -- First instant that the cost is for
    windows.starts_at,
    -- First instant after
    windows.ends_at
from windows
where windows.ends_at > windows.starts_at
