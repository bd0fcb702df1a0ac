-- How far the charges of a load name their invoices. An entity is invoiced when it is in every billing account.
-- grain: one row per load with delivered rows
-- key: load_id
-- materialized: full
with load_invoices as (select * from ops.load_invoice),
entities as (
    select
        load_invoices.load_id,
        load_invoices.invoicing_entity,
        sum(load_invoices.rows_delivered) as rows_delivered,
        sum(load_invoices.rows_invoiced) as rows_invoiced
    from load_invoices
    group by load_invoices.load_id, load_invoices.invoicing_entity
)

select
    -- Load
    entities.load_id,
    -- Legal entities that invoice charges of the load
    count(*) as invoicing_entities,
    -- Those of them whose every delivered charge names its invoice
    count(case when entities.rows_invoiced = entities.rows_delivered then 1 end) as entities_invoiced,
    -- Delivered rows that name their invoice
    cast(sum(entities.rows_invoiced) as bigint) as rows_invoiced
from entities
group by entities.load_id
