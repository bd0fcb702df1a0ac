-- How settled its month was with each load: open, estimated or final, and whether it had been final before.
-- grain: one row per load, superseded ones too
-- key: load_id
-- materialized: full
with loads as (select * from ops.load),
numbered_loads as (select * from core.loads_numbered),
final_loads as (select * from core.loads_final),
judged as (
    select
        loads.*,
        coalesce(numbered_loads.invoicing_entities, 0) as invoicing_entities,
        coalesce(numbered_loads.entities_invoiced, 0) as entities_invoiced,
        final_loads.final_by,
        case
            -- What became final on the day that it was loaded was so from then on.
            when final_loads.final_on > cast(loads.loaded_at as date) then final_loads.final_on
            when final_loads.final_on is not null then loads.loaded_at
        end as final_at,
        case
            when final_loads.load_id is not null then 'final'
            when cast(loads.loaded_at as date) < cast(loads.billing_month + interval '1' month as date) then 'open'
            else 'estimated'
        end as status
    from loads
    left join final_loads on loads.load_id = final_loads.load_id
    left join numbered_loads on loads.load_id = numbered_loads.load_id
),
first_finals as (
    select judged.source, judged.billing_month, min(judged.sequence) as sequence
    from judged
    where judged.status = 'final'
    group by judged.source, judged.billing_month
),
finals as (
    select judged.load_id, judged.source, judged.billing_month, judged.sequence
    from judged
    inner join first_finals
        on judged.source = first_finals.source
        and judged.billing_month = first_finals.billing_month
        and judged.sequence = first_finals.sequence
)

select
    -- Hash of source, month and version
    judged.load_id,
    -- Source
    judged.source,
    -- First day of the invoice month
    judged.billing_month,
    -- Order of the loads of this source and month, from 1
    judged.sequence,
    -- Whether the part now holds this load
    judged.is_current,
    -- When it was loaded, UTC
    judged.loaded_at,
    -- Legal entities that invoice charges of the load
    judged.invoicing_entities,
    -- Those of them whose every delivered charge names its invoice
    judged.entities_invoiced,
    -- What the month was with the load: open (it had not ended when it was loaded), estimated or final
    judged.status,
    -- invoice ids, entered invoice or quiet days; null where it was not final with the load
    judged.final_by,
    -- Since when it was final with the load, UTC; null where it was not
    judged.final_at,
    -- First load with which the month was final, where it is an earlier one; else null
    finals.load_id as final_load_id
from judged
left join finals
    on judged.source = finals.source
    and judged.billing_month = finals.billing_month
    and judged.sequence > finals.sequence
