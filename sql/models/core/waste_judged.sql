-- What checks for waste found, with its money and its owner. Of one resource the largest finding counts; what is seen
-- of all that a project has counts nowhere, since its cost may count with a resource.
-- grain: one row per check and resource, or sub-account, project and team
-- key: source, check_name, resource_id?, sub_account_id?, project, team, billing_currency
-- materialized: full
with found as (select * from core.waste_found),
windows as (select * from core.waste_window),
usage as (select * from core.waste_usage),
costs as (select * from core.charge_cube),
dated as (
    select found.*, windows.provider, windows.window_start, windows.window_end
    from found
    inner join windows on found.source = windows.source and found.check_name = windows.check_name
),
ranges as (
    select distinct dated.source, dated.resource_id, dated.window_start, dated.window_end
    from dated where dated.resource_id is not null
),
owners as (
    select usage.source, usage.resource_id, usage.sub_account_id, usage.region_id, usage.project, usage.team,
        row_number() over (
            partition by usage.source, usage.resource_id
            order by usage.charge_date desc, usage.cost_before_credits desc, usage.project, usage.team,
                usage.sub_account_id, usage.region_id
        ) as owner_number
    from usage
    inner join ranges
        on usage.source = ranges.source and usage.resource_id = ranges.resource_id
        and usage.charge_date >= ranges.window_start and usage.charge_date < ranges.window_end
),
-- What the resource cost in the window in all, parts that containers bear of it included.
own as (
    select ranges.source, ranges.resource_id, ranges.window_start, costs.billing_currency,
        max(costs.resource_name) as resource_name, sum(costs.cost_before_credits) as resource_cost
    from costs
    inner join ranges
        on costs.source = ranges.source and coalesce(costs.parent_resource_id, costs.resource_id) = ranges.resource_id
        and costs.charge_date >= ranges.window_start and costs.charge_date < ranges.window_end
    group by ranges.source, ranges.resource_id, ranges.window_start, costs.billing_currency
),
claimed as (
    select dated.*, own.resource_cost, own.resource_name,
        case when dated.outcome <> 'waste' or dated.usage_cost <= 0 then 0
            else cast(cast(dated.usage_cost as decimal(24, 12)) * dated.saving_share as decimal(38, 12))
        end as claimed_cost,
        case when dated.outcome <> 'waste' or dated.usage_cost <= dated.covered_cost then 0
            else cast(cast(dated.usage_cost - dated.covered_cost as decimal(24, 12)) * dated.saving_share
                as decimal(38, 12))
        end as claimed_cash
    from dated
    left join own
        on dated.source = own.source and dated.resource_id = own.resource_id
        and dated.window_start = own.window_start and dated.billing_currency = own.billing_currency
),
-- A refund may leave a resource with less than its usage; a commitment's unused part stands under no resource.
capped as (
    select claimed.*,
        case when claimed.resource_cost < 0 then 0
            when claimed.resource_cost < claimed.claimed_cost then claimed.resource_cost
            else claimed.claimed_cost end as wasted_cost,
        case when claimed.resource_cost < 0 then 0
            when claimed.resource_cost < claimed.claimed_cash then claimed.resource_cost
            else claimed.claimed_cash end as cash_saving
    from claimed
)

select capped.source, capped.check_name, capped.provider, capped.resource_id,
    coalesce(capped.sub_account_id, owners.sub_account_id) as sub_account_id, owners.region_id, capped.resource_name,
    coalesce(capped.project, owners.project, 'unattributed') as project,
    coalesce(capped.team, owners.team, 'unattributed') as team, capped.billing_currency, capped.outcome,
    -- Whether the finding counts: the largest of its resource by the day
    capped.outcome = 'waste' and capped.resource_id is not null and capped.wasted_cost > 0
        and row_number() over (
            partition by capped.source, capped.resource_id, capped.billing_currency
            order by cast(capped.wasted_cost as double) / capped.charged_days desc, capped.check_name
        ) = 1 as is_counted,
    capped.usage_cost,
    -- What the resource cost in the window for nothing; 0 unless the outcome is waste
    cast(capped.wasted_cost as decimal(38, 12)) as wasted_cost,
    -- Part of that which is not paid by a commitment
    cast(capped.cash_saving as decimal(38, 12)) as cash_saving,
    capped.charged_days, capped.evidence, capped.window_start, capped.window_end
from capped
left join owners
    on capped.source = owners.source and capped.resource_id = owners.resource_id and owners.owner_number = 1
