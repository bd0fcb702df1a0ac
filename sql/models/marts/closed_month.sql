-- The figures of closed months as they were closed, and what was accrued for missing days; no later night changes them.
-- grain: one row per closed month, source, kind, provider, billing account, invoice, project, team, cost centre,
-- grain: ledger account, service, category and currency
-- key: billing_month, source, kind, provider?, billing_account_id?, invoice_id?, project, team, cost_centre?,
-- key: gl_account?, service_name?, service_category?, charge_category?, billing_currency
-- materialized: full
with closed_months as (select * from settings.closed_month),
figures as (select * from settings.closed_figure)

select
    -- First day of the invoice month
    figures.billing_month,
    -- Source of the charges
    figures.source,
    -- actual: loaded when the month was closed; shared: what splits moved then, which sums to nothing; accrual:
    -- estimated for days that were missing
    figures.kind,
    -- Cloud provider
    figures.provider,
    -- Payer: AWS management account, GCP billing account
    figures.billing_account_id,
    -- Invoice that carries the charges; null where none was issued when the month was closed
    figures.invoice_id,
    -- Project as it was when the month was closed
    figures.project,
    -- Team as it was when the month was closed
    figures.team,
    -- Cost centre as it was when the month was closed; null where none is known
    figures.cost_centre,
    -- Account of the general ledger as it was when the month was closed; null without
    figures.gl_account,
    -- The provider's name of the service
    figures.service_name,
    -- FOCUS category of the service
    figures.service_category,
    -- Usage, Purchase, Tax, Credit or Adjustment
    figures.charge_category,
    -- ISO 4217 code of every amount on the row
    figures.billing_currency,
    -- What the provider had billed
    sum(figures.billed_cost) as billed_cost,
    -- Cost with commitments spread over the usage that they cover
    sum(figures.effective_cost) as effective_cost,
    -- Effective cost before promotional credits
    sum(figures.cost_before_credits) as cost_before_credits,
    -- Cost at public prices; null where a charge has none
    sum(figures.list_cost) as list_cost,
    -- Charges; 0 for an accrual
    cast(sum(figures.charge_rows) as bigint) as charge_rows,
    -- Whether the month was closed with an estimate of missing days
    closed_months.is_estimate,
    -- When it was closed, UTC
    closed_months.closed_at
from figures
inner join closed_months on figures.billing_month = closed_months.billing_month
group by
    figures.billing_month, figures.source, figures.kind, figures.provider, figures.billing_account_id,
    figures.invoice_id, figures.project, figures.team, figures.cost_centre, figures.gl_account,
    figures.service_name, figures.service_category, figures.charge_category, figures.billing_currency,
    closed_months.is_estimate, closed_months.closed_at
