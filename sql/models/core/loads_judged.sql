-- How settled its month was when each load was made: open, estimated or final, and what was changed after it was final.
-- grain: one row per load, superseded ones too
-- key: load_id
-- materialized: full
with loads as (select * from ops.load),
load_totals as (select * from ops.load_total),
load_invoices as (select * from ops.load_invoice),
entities as (
    select
        load_invoices.load_id,
        load_invoices.invoicing_entity,
        sum(load_invoices.rows_delivered) as rows_delivered,
        sum(load_invoices.rows_invoiced) as rows_invoiced
    from load_invoices
    group by load_invoices.load_id, load_invoices.invoicing_entity
),
counts as (
    select
        entities.load_id,
        count(*) as invoicing_entities,
        count(case when entities.rows_invoiced = entities.rows_delivered then 1 end) as entities_invoiced
    from entities
    group by entities.load_id
),
judged as (
    select
        loads.*,
        coalesce(counts.invoicing_entities, 0) as invoicing_entities,
        coalesce(counts.entities_invoiced, 0) as entities_invoiced,
        case
            when cast(loads.loaded_at as date) < cast(loads.billing_month + interval '1' month as date) then 'open'
            when counts.entities_invoiced = counts.invoicing_entities then 'final'
            else 'estimated'
        end as status
    from loads
    left join counts on loads.load_id = counts.load_id
),
first_finals as (
    select judged.source, judged.billing_month, min(judged.sequence) as sequence
    from judged
    where judged.status = 'final'
    group by judged.source, judged.billing_month
),
later_loads as (
    select judged.load_id, finals.load_id as final_load_id
    from first_finals
    inner join judged as finals
        on first_finals.source = finals.source
        and first_finals.billing_month = finals.billing_month
        and first_finals.sequence = finals.sequence
    inner join judged
        on first_finals.source = judged.source
        and first_finals.billing_month = judged.billing_month
        and first_finals.sequence < judged.sequence
),
facts as (
    select load_id, billing_account_id, billing_currency as subject, 'cost' as detail, billed_cost as amount
    from load_totals
    union all
    select
        load_id,
        billing_account_id,
        invoicing_entity as subject,
        case when rows_invoiced = rows_delivered then invoice_digest end as detail,
        cast(1 as decimal(38, 12)) as amount
    from load_invoices
),
differences as (
    select later_loads.load_id, facts.billing_account_id, facts.subject, facts.detail, facts.amount
    from later_loads
    inner join facts on later_loads.load_id = facts.load_id
    union all
    select later_loads.load_id, facts.billing_account_id, facts.subject, facts.detail, -facts.amount as amount
    from later_loads
    inner join facts on later_loads.final_load_id = facts.load_id
),
changed_facts as (
    select differences.load_id
    from differences
    group by differences.load_id, differences.billing_account_id, differences.subject, differences.detail
    having sum(differences.amount) <> 0
),
changed_loads as (select distinct load_id from changed_facts)

select
    judged.load_id, judged.source, judged.billing_month, judged.sequence, judged.is_current, judged.loaded_at,
    -- Legal entities that invoice charges of the load
    judged.invoicing_entities,
    -- Those of them whose every delivered charge names its invoice
    judged.entities_invoiced,
    -- What the month was when the load was made: open (it had not ended), estimated or final
    judged.status,
    -- Whether the month was final in an earlier load
    later_loads.load_id is not null as is_after_final,
    -- Whether billed cost or invoices differ from those of the first load that was final
    changed_loads.load_id is not null as is_changed
from judged
left join later_loads on judged.load_id = later_loads.load_id
left join changed_loads on judged.load_id = changed_loads.load_id
