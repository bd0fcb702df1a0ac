-- How settled each month of each source is, as of the night's day.
-- grain: one row per source and month that is loaded, and per configured source and the night's month
-- key: source, billing_month
-- materialized: full
with night as (select * from settings.night),
sources as (select * from settings.source),
loads as (select * from core.loads_judged),
restating_loads as (select * from core.loads_restating),
current_month as (
    select cast(date_trunc('month', night.as_of) as date) as billing_month
    from night
),
in_force as (select * from loads where is_current),
months as (
    select in_force.source, in_force.billing_month
    from in_force
    union
    select sources.source, current_month.billing_month
    from sources
    cross join current_month
    where not sources.is_retired
),
histories as (
    select
        loads.source,
        loads.billing_month,
        min(loads.loaded_at) as first_loaded_at,
        max(loads.loaded_at) as last_loaded_at,
        count(*) as loads,
        min(loads.final_at) as was_final_at,
        count(restating_loads.load_id) as restating_loads
    from loads
    left join restating_loads on loads.load_id = restating_loads.load_id
    group by loads.source, loads.billing_month
)

select
    -- The [[source]] of the configuration that delivers the month
    months.source,
    months.billing_month,
    -- no data, open (the month has not ended), estimated (ended, but not every charge names its invoice), final (each
    -- does, or see final_by) or restated (it was final, and a later load changed its billed cost or its invoices)
    case
        when in_force.load_id is null then 'no data'
        when night.as_of < cast(months.billing_month + interval '1' month as date) then 'open'
        when histories.restating_loads > 0 then 'restated'
        -- A load from before the month's end can be no final bill, whatever it says.
        when in_force.status = 'final' then 'final'
        else 'estimated'
    end as status,
    -- What makes the load in force final: invoice ids (every charge names its invoice), entered invoice (it ties to
    -- what was entered), quiet days (nothing has changed for long enough); null where nothing does
    case
        when night.as_of >= cast(months.billing_month + interval '1' month as date) then in_force.final_by
    end as final_by,
    -- Legal entities that invoice charges of the month
    coalesce(in_force.invoicing_entities, 0) as invoicing_entities,
    -- Those of them whose every charge names its invoice
    coalesce(in_force.entities_invoiced, 0) as entities_invoiced,
    -- When the month was first loaded, UTC
    histories.first_loaded_at,
    -- When the month was last loaded, UTC
    histories.last_loaded_at,
    -- Number of loads of the month, superseded ones too
    coalesce(histories.loads, 0) as loads,
    -- Since when the month was final for the first time, UTC; null where it never was
    histories.was_final_at
from months
cross join night
left join in_force on months.source = in_force.source and months.billing_month = in_force.billing_month
left join histories on months.source = histories.source and months.billing_month = histories.billing_month
