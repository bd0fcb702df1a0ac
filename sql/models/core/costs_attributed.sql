-- Cost of each day by who pays for it, resources summed: what the marts without resources are built from.
-- grain: one row per day, billing account, all that is attributed, service, kind of charge, invoice and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, project, team, environment, workload,
-- key: cost_centre, service_name?, service_category?, charge_category?, credit_kind?, commitment_discount_status?,
-- key: invoice_id?, billing_currency
with charges as (select * from core.charge_cube)

select
    charges.source,
    charges.billing_month,
    charges.charge_date,
    charges.provider,
    charges.billing_account_id,
    charges.project,
    charges.team,
    charges.environment,
    charges.workload,
    charges.cost_centre,
    charges.gl_account,
    charges.service_name,
    charges.service_category,
    charges.charge_category,
    charges.credit_kind,
    charges.commitment_discount_status,
    charges.invoice_id,
    charges.billing_currency,
    sum(charges.billed_cost) as billed_cost,
    sum(charges.effective_cost) as effective_cost,
    sum(charges.cost_before_credits) as cost_before_credits,
    sum(charges.list_cost) as list_cost,
    sum(charges.promotional_credit) as promotional_credit,
    cast(sum(charges.charge_rows) as bigint) as charge_rows
from charges
group by
    charges.source,
    charges.billing_month,
    charges.charge_date,
    charges.provider,
    charges.billing_account_id,
    charges.project,
    charges.team,
    charges.environment,
    charges.workload,
    charges.cost_centre,
    charges.gl_account,
    charges.service_name,
    charges.service_category,
    charges.charge_category,
    charges.credit_kind,
    charges.commitment_discount_status,
    charges.invoice_id,
    charges.billing_currency
