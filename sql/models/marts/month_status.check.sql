-- check: every month in force is listed
select loads.source, loads.billing_month
from ops.load as loads
cross join settings.night as night
left join marts.month_status as months
    on loads.source = months.source and loads.billing_month = months.billing_month
where loads.is_current and coalesce(months.status, 'no data') = 'no data'

-- check: a month is final by invoice ids only where every entity that invoices has invoiced all of it
select source, billing_month, invoicing_entities, entities_invoiced
from marts.month_status
where entities_invoiced > invoicing_entities
    or final_by = 'invoice ids' and (invoicing_entities = 0 or entities_invoiced < invoicing_entities)

-- check: a month that is final says by what, and one that is not does not
select source, billing_month, status, final_by
from marts.month_status
where (status = 'final' and final_by is null) or (status in ('no data', 'open', 'estimated') and final_by is not null)

-- check: a month is final by an entered invoice only where one was entered
select months.source, months.billing_month
from marts.month_status as months
left join settings.invoice as invoices on months.billing_month = invoices.billing_month
where months.final_by = 'entered invoice' and invoices.invoice_id is null

-- check: only a month that was final is restated
select source, billing_month, was_final_at
from marts.month_status
where status = 'restated' and was_final_at is null
