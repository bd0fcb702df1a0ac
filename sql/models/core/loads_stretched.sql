-- How long each load was in force, and since when the month had come to the same billed cost.
-- grain: one row per load, superseded ones too
-- key: load_id
-- materialized: full
with loads as (select * from ops.load),
load_totals as (select * from ops.load_total),
night as (select * from settings.night),
nights as (select max(night.as_of) as as_of from night),
ordered_loads as (
    select
        loads.*,
        lag(loads.load_id) over (partition by loads.source, loads.billing_month order by loads.sequence)
            as previous_load_id,
        lag(loads.loaded_at) over (partition by loads.source, loads.billing_month order by loads.sequence desc)
            as superseded_at,
        cast(loads.loaded_at as date) as loaded_on
    from loads
),
differences as (
    select
        ordered_loads.load_id, load_totals.billing_account_id, load_totals.billing_currency, load_totals.billed_cost
    from ordered_loads
    inner join load_totals on ordered_loads.load_id = load_totals.load_id
    union all
    select
        ordered_loads.load_id,
        load_totals.billing_account_id,
        load_totals.billing_currency,
        -load_totals.billed_cost as billed_cost
    from ordered_loads
    inner join load_totals on ordered_loads.previous_load_id = load_totals.load_id
),
changes as (
    select differences.load_id
    from differences
    group by differences.load_id, differences.billing_account_id, differences.billing_currency
    having sum(differences.billed_cost) <> 0
),
changing_loads as (select distinct changes.load_id from changes),
numbered_loads as (
    select
        ordered_loads.*,
        nights.as_of,
        -- A load that changes no billed cost belongs to the stretch of the one before it.
        sum(case when ordered_loads.previous_load_id is null or changing_loads.load_id is not null then 1 else 0 end)
            over (
                partition by ordered_loads.source, ordered_loads.billing_month
                order by ordered_loads.sequence nulls first
            ) as stretch
    from ordered_loads
    cross join nights
    left join changing_loads on ordered_loads.load_id = changing_loads.load_id
)

select
    -- Load
    numbered_loads.load_id,
    -- Source
    numbered_loads.source,
    -- First day of the invoice month
    numbered_loads.billing_month,
    -- First day after that month
    cast(numbered_loads.billing_month + interval '1' month as date) as next_month,
    -- When it was loaded, UTC
    numbered_loads.loaded_at,
    -- Day of that
    numbered_loads.loaded_on,
    -- When the next load of the month took its place, UTC; null where none did
    numbered_loads.superseded_at,
    -- Last day on which it was what the month was: the day before the next load, or the night's day
    case
        when numbered_loads.superseded_at is null then numbered_loads.as_of
        else cast(cast(numbered_loads.superseded_at as date) - interval '1' day as date)
    end as last_day,
    -- Day of the load that changed the month's billed cost last, of an account in a currency
    min(numbered_loads.loaded_on)
        over (partition by numbered_loads.source, numbered_loads.billing_month, numbered_loads.stretch)
        as unchanged_from
from numbered_loads
