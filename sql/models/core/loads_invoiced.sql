-- Whether a load ties to the invoices that were entered while it was in force or before: to the cent, in every billing
-- account and currency.
-- grain: one row per load of a billing account with such invoices of its month
-- key: load_id
-- materialized: full
with loads as (select * from core.loads_stretched),
load_totals as (select * from ops.load_total),
invoices as (select * from settings.invoice),
totals as (
    select
        loads.load_id,
        loads.billing_month,
        loads.superseded_at,
        load_totals.billing_account_id,
        load_totals.billing_currency,
        sum(load_totals.billed_cost) as billed_cost
    from loads
    inner join load_totals on loads.load_id = load_totals.load_id
    group by
        loads.load_id,
        loads.billing_month,
        loads.superseded_at,
        load_totals.billing_account_id,
        load_totals.billing_currency
),
entered as (
    select
        totals.load_id,
        totals.billing_account_id,
        totals.billing_currency,
        sum(invoices.invoice_amount) as invoice_amount,
        max(invoices.entered_at) as entered_at
    from totals
    inner join invoices
        on totals.billing_month = invoices.billing_month
        and totals.billing_account_id = invoices.billing_account_id
        and totals.billing_currency = invoices.billing_currency
    where totals.superseded_at is null or invoices.entered_at < totals.superseded_at
    group by totals.load_id, totals.billing_account_id, totals.billing_currency
),
compared as (
    select
        totals.load_id,
        entered.entered_at,
        -- An account that costs nothing gets no invoice.
        totals.billed_cost - coalesce(entered.invoice_amount, 0) as difference_cost
    from totals
    left join entered
        on totals.load_id = entered.load_id
        and totals.billing_account_id = entered.billing_account_id
        and totals.billing_currency = entered.billing_currency
)

select
    -- Load
    compared.load_id,
    -- When the last of the invoices was entered, UTC
    max(compared.entered_at) as entered_at,
    -- Whether no billing account and currency differs by a cent or more
    max(compared.difference_cost) < 0.01 and min(compared.difference_cost) > -0.01 as is_tied
from compared
group by compared.load_id
having count(compared.entered_at) > 0
