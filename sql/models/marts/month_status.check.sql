-- check: every month in force is listed
select loads.source, loads.billing_month
from ops.load as loads
cross join settings.night as night
left join marts.month_status as months
    on loads.source = months.source and loads.billing_month = months.billing_month
where loads.is_current and coalesce(months.status, 'no data') = 'no data'

-- check: a month is final only where every entity that invoices has invoiced all of it
select source, billing_month, invoicing_entities, entities_invoiced
from marts.month_status
where entities_invoiced > invoicing_entities
    or status = 'final' and (invoicing_entities = 0 or entities_invoiced < invoicing_entities)

-- check: only a month that was final is restated
select source, billing_month, was_final_at
from marts.month_status
where status = 'restated' and was_final_at is null
