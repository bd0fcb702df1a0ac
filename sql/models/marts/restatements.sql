-- Months that a provider delivered again: what each later delivery changed, and how settled the month was before it.
-- grain: one row per load of a source and month after the first, and currency
-- key: source, billing_month, load_number, billing_currency
-- materialized: full
with loads as (select * from core.loads_judged),
load_totals as (select * from ops.load_total),
ordered_loads as (
    select
        loads.*,
        lag(loads.load_id) over (partition by loads.source, loads.billing_month order by loads.sequence)
            as previous_load_id,
        lag(loads.status) over (partition by loads.source, loads.billing_month order by loads.sequence)
            as previous_status
    from loads
),
later_loads as (
    select ordered_loads.*
    from ordered_loads
    where ordered_loads.previous_load_id is not null
),
totals as (
    select load_totals.load_id, load_totals.billing_currency, sum(load_totals.billed_cost) as billed_cost
    from load_totals
    group by load_totals.load_id, load_totals.billing_currency
),
currencies as (
    select later_loads.source, later_loads.billing_month, later_loads.sequence, totals.billing_currency
    from later_loads
    inner join totals on later_loads.load_id = totals.load_id
    union
    select later_loads.source, later_loads.billing_month, later_loads.sequence, totals.billing_currency
    from later_loads
    inner join totals on later_loads.previous_load_id = totals.load_id
)

select
    -- Source that delivered the month again
    later_loads.source,
    -- First day of the invoice month
    later_loads.billing_month,
    -- Which load of this source and month it is, from 2
    later_loads.sequence as load_number,
    -- Load that replaced the one before
    later_loads.load_id,
    -- Load that it replaced
    later_loads.previous_load_id,
    -- What the month was with that load: open (loaded before the month ended), estimated or final
    later_loads.previous_status,
    -- Whether the month was final in an earlier load, so that this one restates it and is no ordinary growth
    later_loads.final_load_id is not null as is_after_final,
    -- ISO 4217 code of every amount on the row
    currencies.billing_currency,
    -- Billed cost of the month before this load
    coalesce(previous_totals.billed_cost, 0) as previous_billed_cost,
    -- Billed cost of the month with this load
    coalesce(new_totals.billed_cost, 0) as new_billed_cost,
    -- New less previous
    coalesce(new_totals.billed_cost, 0) - coalesce(previous_totals.billed_cost, 0) as change_cost,
    -- When it was loaded, UTC
    later_loads.loaded_at
from later_loads
inner join currencies
    on later_loads.source = currencies.source
    and later_loads.billing_month = currencies.billing_month
    and later_loads.sequence = currencies.sequence
left join totals as new_totals
    on later_loads.load_id = new_totals.load_id
    and currencies.billing_currency = new_totals.billing_currency
left join totals as previous_totals
    on later_loads.previous_load_id = previous_totals.load_id
    and currencies.billing_currency = previous_totals.billing_currency
