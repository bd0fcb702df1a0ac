-- What makes the month final with a load, where anything does: its invoices' ids, or, for an export that names none, an
-- invoice that people entered, or days without a change from the 5th of the next month on. Where an entered invoice
-- differs, days prove nothing.
-- grain: one row per load with which the month was final
-- key: load_id
-- materialized: full
with loads as (select * from core.loads_stretched),
invoiced_loads as (select * from core.loads_invoiced),
numbered_loads as (select * from core.loads_numbered),
quiet_sources as (select * from settings.quiet_source),
quiet_loads as (
    select
        loads.*,
        invoiced_loads.is_tied,
        invoiced_loads.entered_at,
        quiet_sources.quiet_days,
        case
            when loads.unchanged_from > cast(loads.next_month + interval '4' day as date) then loads.unchanged_from
            else cast(loads.next_month + interval '4' day as date)
        end as quiet_from
    from loads
    inner join quiet_sources on loads.source = quiet_sources.source
    left join numbered_loads on loads.load_id = numbered_loads.load_id
    left join invoiced_loads on loads.load_id = invoiced_loads.load_id
    where coalesce(numbered_loads.rows_invoiced, 0) = 0 and loads.last_day >= loads.next_month
),
proofs as (
    select loads.load_id, 1 as preference, 'invoice ids' as final_by, loads.loaded_on as proven_on
    from loads
    inner join numbered_loads on loads.load_id = numbered_loads.load_id
    -- A load from before the month's end can be no final bill, whatever it says.
    where
        numbered_loads.entities_invoiced = numbered_loads.invoicing_entities
        and loads.loaded_on >= loads.next_month
    union all
    select
        quiet_loads.load_id,
        2 as preference,
        'entered invoice' as final_by,
        cast(quiet_loads.entered_at as date) as proven_on
    from quiet_loads
    where quiet_loads.is_tied
    union all
    select
        quiet_loads.load_id,
        3 as preference,
        'quiet days' as final_by,
        cast(quiet_loads.quiet_from + quiet_loads.quiet_days * interval '1' day as date) as proven_on
    from quiet_loads
    where coalesce(quiet_loads.is_tied, true)
        and quiet_loads.last_day >= cast(quiet_loads.quiet_from + quiet_loads.quiet_days * interval '1' day as date)
),
preferences as (
    select proofs.load_id, min(proofs.preference) as preference, min(proofs.proven_on) as proven_on
    from proofs
    group by proofs.load_id
)

select
    -- Load
    proofs.load_id,
    -- invoice ids, entered invoice or quiet days: the first of them that holds
    proofs.final_by,
    -- First day on which any of them did with this load
    case when preferences.proven_on > loads.loaded_on then preferences.proven_on else loads.loaded_on end as final_on
from proofs
inner join preferences on proofs.load_id = preferences.load_id and proofs.preference = preferences.preference
inner join loads on proofs.load_id = loads.load_id
