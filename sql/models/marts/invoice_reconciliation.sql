-- What invoices were found to come to against their charges, each time that a file of them was compared.
-- grain: one row per invoice, or group of them, and comparison; one per charges without an invoice and comparison
-- key: check_id
-- materialized: full
with checks as (select * from settings.invoice_check),
loads as (select * from ops.load),
latest as (
    select checks.source, checks.billing_month, checks.billing_account_id, checks.billing_currency,
        max(checks.checked_at) as checked_at
    from checks
    group by checks.source, checks.billing_month, checks.billing_account_id, checks.billing_currency
)

select
    -- Order in which they were found, from 1
    checks.check_id,
    -- When the file was compared, UTC
    checks.checked_at,
    -- Whether no later file was compared for this billing account, month and currency
    checks.checked_at = latest.checked_at as is_latest,
    -- Whether the load that was compared is still in force: false where the provider has delivered the month again
    coalesce(loads.is_current, false) as is_load_in_force,
    -- Source of the charges
    checks.source,
    -- First day of the invoice month
    checks.billing_month,
    -- Load that was in force then
    checks.load_id,
    -- Payer: AWS management account, GCP billing account
    checks.billing_account_id,
    -- Legal entity that invoices, several joined by commas
    checks.issuer,
    -- Number of the invoice, several joined by commas; null without any
    checks.invoice_id,
    -- ISO 4217 code of every amount on the row
    checks.billing_currency,
    -- Lines of the file that were added up; 0 where it had none for these charges
    checks.invoice_lines,
    -- Sum of BilledCost of the charges then
    checks.billed_cost,
    -- Total of the invoices, tax included
    checks.invoiced_cost,
    -- Billed less invoiced
    checks.billed_cost - checks.invoiced_cost as difference_cost,
    -- Tax within billed_cost
    checks.billed_tax,
    -- Tax within invoiced_cost; null where the file did not say
    checks.invoiced_tax,
    -- How far both were allowed to differ: 0.01, and 0.005 for each line of the file
    checks.tolerance,
    -- ties (equal), rounding (within the tolerance), differs, or no invoice (the file had none for these charges)
    checks.outcome
from checks
inner join latest
    on checks.source = latest.source
    and checks.billing_month = latest.billing_month
    and checks.billing_account_id = latest.billing_account_id
    and checks.billing_currency = latest.billing_currency
left join loads on checks.load_id = loads.load_id
