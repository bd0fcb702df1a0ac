-- An instant in the month of the invoice that a GCP row is on; where the row does not say, in the month of its usage as
-- Google counts it: Pacific time, daylight saving included. Null where neither is known.
-- Source: Cloud Billing documentation, "Structure of the standard usage cost data": invoice.month.
create or replace temporary macro gcp_invoice_month(invoice_month, usage_start) as
    coalesce(try_strptime(invoice_month, '%Y%m'), (usage_start at time zone 'UTC') at time zone 'America/Los_Angeles')
