-- Loads that changed what was final: billed cost or invoices differ from those of the first load that was final.
-- grain: one row per such load
-- key: load_id
-- materialized: full
with loads as (select * from core.loads_judged),
load_totals as (select * from ops.load_total),
load_invoices as (select * from ops.load_invoice),
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
    select loads.load_id, facts.billing_account_id, facts.subject, facts.detail, facts.amount
    from loads
    inner join facts on loads.load_id = facts.load_id
    where loads.final_load_id is not null
    union all
    select loads.load_id, facts.billing_account_id, facts.subject, facts.detail, -facts.amount as amount
    from loads
    inner join facts on loads.final_load_id = facts.load_id
),
changed_facts as (
    select differences.load_id
    from differences
    group by differences.load_id, differences.billing_account_id, differences.subject, differences.detail
    having sum(differences.amount) <> 0
),
changed_loads as (select distinct load_id from changed_facts)

select
    loads.load_id,
    loads.source,
    loads.billing_month,
    -- First load with which the month was final
    loads.final_load_id
from loads
inner join changed_loads on loads.load_id = changed_loads.load_id
