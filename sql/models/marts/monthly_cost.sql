-- The table that ties: billed_cost summed by billing account and month is what the provider billed.
-- grain: one row per source, month, provider, billing account, invoice, project, team, service, category, currency
-- key: source, billing_month, provider?, billing_account_id?, invoice_id?, project, team, service_name?,
-- key: service_category?, charge_category?, billing_currency
with costs as (select * from core.costs_attributed)

select
    costs.source,
    costs.billing_month,
    costs.provider,
    costs.billing_account_id,
    costs.invoice_id,
    costs.project,
    costs.team,
    costs.service_name,
    costs.service_category,
    costs.charge_category,
    costs.billing_currency,
    sum(costs.billed_cost) as billed_cost,
    sum(costs.effective_cost) as effective_cost,
    sum(costs.cost_before_credits) as cost_before_credits,
    sum(costs.list_cost) as list_cost,
    cast(sum(costs.charge_rows) as bigint) as charge_rows
from costs
group by
    costs.source,
    costs.billing_month,
    costs.provider,
    costs.billing_account_id,
    costs.invoice_id,
    costs.project,
    costs.team,
    costs.service_name,
    costs.service_category,
    costs.charge_category,
    costs.billing_currency
