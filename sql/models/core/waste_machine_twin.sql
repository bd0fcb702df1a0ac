-- Machines of which a newer family, or one with ARM processors, has the same size, and the prices on demand that the
-- bill has of both for the same operating system and region.
-- grain: one row per check and machine whose family has such a twin, unless that is known to cost as much or more
-- key: source, check_name, resource_id, billing_currency
-- materialized: full
with usage as (select * from core.waste_usage),
windows as (select * from core.waste_window),
twins as (select * from settings.machine_twin),
machines as (
    select windows.source, windows.check_name, windows.minimum_days, windows.window_days, usage.resource_id,
        usage.billing_currency, usage.service_code, usage.usage_type, usage.region_id, usage.operation,
        replace(usage.usage_type, twins.family, twins.twin_family) as twin_usage_type,
        count(distinct usage.charge_date) as days_seen, sum(usage.cost_before_credits) as usage_cost,
        sum(usage.covered_cost) as covered_cost
    from windows
    inner join twins on windows.check_name = twins.check_name and windows.provider = twins.provider
    inner join usage
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
        and usage.usage_type like '%' || twins.family || '%'
    where windows.reason is null and usage.meaning in ('machine', 'database') and usage.resource_id is not null
    group by windows.source, windows.check_name, windows.minimum_days, windows.window_days, usage.resource_id,
        usage.billing_currency, usage.service_code, usage.usage_type, usage.region_id, usage.operation,
        replace(usage.usage_type, twins.family, twins.twin_family)
),
prices as (
    select usage.source, usage.service_code, usage.usage_type, usage.region_id, usage.operation, usage.billing_currency,
        cast(sum(usage.list_cost) as double) / nullif(cast(sum(usage.quantity) as double), 0) as list_price
    from usage
    inner join windows
        on windows.source = usage.source and usage.charge_date >= windows.window_start
        and usage.charge_date < windows.window_end
    where windows.reason is null and windows.check_name in ('previous_generation', 'arm_twin')
        and usage.meaning in ('machine', 'database') and usage.demand_cost > 0 and usage.covered_cost = 0
        and usage.list_cost > 0 and usage.quantity > 0
    group by usage.source, usage.service_code, usage.usage_type, usage.region_id, usage.operation,
        usage.billing_currency
),
priced as (
    select machines.*, prices.list_price as own_price, twin_prices.list_price as twin_price,
        row_number() over (
            partition by machines.source, machines.check_name, machines.resource_id, machines.billing_currency
            order by machines.usage_cost desc, machines.usage_type, machines.operation, machines.region_id
        ) as usage_number
    from machines
    left join prices
        on machines.source = prices.source and machines.usage_type = prices.usage_type
        and machines.service_code = prices.service_code and machines.region_id is not distinct from prices.region_id
        and machines.operation is not distinct from prices.operation
        and machines.billing_currency = prices.billing_currency
    left join prices as twin_prices
        on machines.source = twin_prices.source and machines.twin_usage_type = twin_prices.usage_type
        and machines.service_code = twin_prices.service_code
        and machines.region_id is not distinct from twin_prices.region_id
        and machines.operation is not distinct from twin_prices.operation
        and machines.billing_currency = twin_prices.billing_currency
),
saved as (
    select priced.*, cast(1 - priced.twin_price / nullif(priced.own_price, 0) as decimal(13, 12)) as part
    from priced
    where priced.usage_number = 1
)

select saved.source, saved.check_name, saved.resource_id, saved.billing_currency,
    -- waste, advice where a price is not in the bill, or unknown where too few days are charged
    case when saved.days_seen < saved.minimum_days then 'unknown' when saved.part is null then 'advice' else 'waste'
    end as outcome,
    -- Cost in the window of what would be stopped
    saved.usage_cost,
    -- Part of it that a commitment pays
    saved.covered_cost,
    -- Part of the cost that is saved, between 0 and 1
    coalesce(saved.part, 0) as saving_share,
    -- Days that the cost is of
    saved.window_days as charged_days,
    -- What was seen, in numbers
    cast(saved.days_seen as varchar) || ' of ' || cast(saved.window_days as varchar) || ' days as ' || saved.usage_type
        || coalesce(
            ' at ' || cast(cast(saved.own_price as decimal(18, 6)) as varchar) || ' an hour; '
            || saved.twin_usage_type || ' is ' || cast(cast(saved.twin_price as decimal(18, 6)) as varchar),
            '; the price of ' || saved.twin_usage_type || ' is not in the bill'
        ) as evidence
from saved
where saved.part is null or saved.part > 0
