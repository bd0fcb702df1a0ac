-- Disks of machines that ran before the window and not in it: the machine costs nothing any more, its disks do.
-- grain: one row per disk whose machine is stopped, or may be
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
tags as (select * from core.tag_set),
costs as (select * from core.charge_cube),
named as (select distinct tags.source, tags.tag_set_id from tags where tags.tag_key = 'Name'),
machines as (
    select windows.source, usage.sub_account_id, usage.tag_set_id, usage.resource_id, windows.window_start,
        max(usage.charge_date) as last_day
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date < windows.window_end
        -- Long before the window, so that a machine is known while its disk is paid for.
        and usage.charge_date >= cast(windows.window_start - 12 * windows.window_days * interval '1' day as date)
    where windows.check_name = 'stopped_machine_disk' and windows.reason is null
        and usage.meaning in ('machine', 'spot_machine') and usage.resource_id is not null
    group by windows.source, usage.sub_account_id, usage.tag_set_id, usage.resource_id, windows.window_start
),
disks as (
    select windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        usage.sub_account_id, usage.tag_set_id, usage.resource_id, usage.billing_currency,
        count(distinct usage.charge_date) as days_seen, sum(usage.cost_before_credits) as disk_cost,
        sum(usage.covered_cost) as disk_covered_cost
    from windows
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    where windows.check_name = 'stopped_machine_disk' and windows.reason is null and usage.resource_id is not null
        and usage.meaning = 'disk'
    group by windows.source, windows.check_name, windows.minimum_days, windows.window_days, windows.saving_share,
        usage.sub_account_id, usage.tag_set_id, usage.resource_id, usage.billing_currency
),
-- A disk belongs to the machine of its name on Google Cloud. On AWS all tags alike, a name among them, make it so;
-- without a name nothing is claimed.
pairs as (
    select disks.source, disks.resource_id, machines.resource_id as machine_id, machines.last_day,
        machines.window_start, true as is_named
    from disks
    inner join machines
        on disks.source = machines.source
        and replace(disks.resource_id, '/disks/', '/instances/') = machines.resource_id
    union
    select disks.source, disks.resource_id, machines.resource_id as machine_id, machines.last_day,
        machines.window_start, named.source is not null as is_named
    from disks
    left join named on disks.source = named.source and disks.tag_set_id = named.tag_set_id
    inner join machines
        on disks.source = machines.source and disks.sub_account_id = machines.sub_account_id
        and disks.tag_set_id = machines.tag_set_id
    where disks.resource_id not like '%/disks/%'
),
-- Whatever a machine is charged for in the window, it is there.
alive as (
    select distinct pairs.source, pairs.resource_id from pairs inner join costs
        on pairs.source = costs.source and pairs.machine_id = costs.resource_id
        and costs.charge_date >= pairs.window_start and costs.charge_category = 'Usage'
),
linked as (
    select pairs.source, pairs.resource_id, count(distinct pairs.machine_id) as machine_count,
        min(case when pairs.is_named then 1 else 0 end) as is_named, max(pairs.machine_id) as machine_id,
        max(pairs.last_day) as last_day
    from pairs
    left join alive on pairs.source = alive.source and pairs.resource_id = alive.resource_id
    where alive.resource_id is null
    group by pairs.source, pairs.resource_id
    having max(pairs.last_day) < max(pairs.window_start)
),
resources as (
    select disks.source, disks.check_name, disks.minimum_days, disks.window_days, disks.saving_share,
        disks.resource_id, disks.billing_currency, linked.machine_count, linked.is_named, linked.machine_id,
        linked.last_day, max(disks.days_seen) as days_seen,
        sum(disks.disk_cost) as usage_cost, sum(disks.disk_covered_cost) as covered_cost
    from disks
    inner join linked on disks.source = linked.source and disks.resource_id = linked.resource_id
    group by disks.source, disks.check_name, disks.minimum_days, disks.window_days, disks.saving_share,
        disks.resource_id, disks.billing_currency, linked.machine_count, linked.is_named, linked.machine_id,
        linked.last_day
)

select
    resources.source, resources.check_name, resources.resource_id, resources.billing_currency,
    -- waste, or unknown: too few days, several machines have its tags, or no name is among them
    case when resources.days_seen >= resources.minimum_days and resources.machine_count = 1 and resources.is_named = 1
        then 'waste' else 'unknown' end as outcome,
    -- Cost in the window of what would be stopped
    resources.usage_cost,
    -- Part of it that a commitment pays
    resources.covered_cost,
    -- Part of the cost that is saved, between 0 and 1
    resources.saving_share,
    -- Days that the cost is of
    resources.window_days as charged_days,
    -- What was seen, in numbers
    cast(resources.days_seen as varchar) || ' of ' || cast(resources.window_days as varchar)
        || ' days charged; its machine ' || resources.machine_id
        || ' last ran on ' || cast(resources.last_day as varchar) as evidence
from resources
