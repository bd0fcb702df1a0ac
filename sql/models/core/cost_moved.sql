-- What splits move in a month: what each bears more, and what it bears less than it is attributed. Sums to nothing.
-- grain: one row per payer, invoice, project, team, cost centre, ledger account, service, category and currency
-- key: source, billing_month, provider?, billing_account_id?, invoice_id?, project, team, cost_centre, gl_account?,
-- key: service_name?, service_category?, charge_category?, billing_currency
-- materialized: view
with shared as (select * from core.shared_cost),
moved as (
    select shared.source, shared.billing_month, shared.provider, shared.billing_account_id, shared.invoice_id,
        shared.project, shared.team, shared.cost_centre, shared.gl_account, shared.service_name,
        shared.service_category, shared.charge_category, shared.billing_currency, shared.billed_cost,
        shared.effective_cost, shared.cost_before_credits, shared.list_cost, shared.charge_rows
    from shared
    union all
    select shared.source, shared.billing_month, shared.provider, shared.billing_account_id, shared.invoice_id,
        shared.from_project as project, shared.from_team as team, shared.from_cost_centre as cost_centre,
        shared.from_gl_account as gl_account, shared.service_name, shared.service_category, shared.charge_category,
        shared.billing_currency,
        -shared.billed_cost as billed_cost, -shared.effective_cost as effective_cost,
        -shared.cost_before_credits as cost_before_credits, -shared.list_cost as list_cost,
        -shared.charge_rows as charge_rows
    from shared
)

select moved.source, moved.billing_month, moved.provider, moved.billing_account_id, moved.invoice_id, moved.project,
    moved.team, moved.cost_centre, moved.gl_account, moved.service_name, moved.service_category,
    moved.charge_category, moved.billing_currency, sum(moved.billed_cost) as billed_cost,
    sum(moved.effective_cost) as effective_cost,
    sum(moved.cost_before_credits) as cost_before_credits, sum(moved.list_cost) as list_cost,
    cast(sum(moved.charge_rows) as bigint) as charge_rows
from moved
group by moved.source, moved.billing_month, moved.provider, moved.billing_account_id, moved.invoice_id, moved.project,
    moved.team, moved.cost_centre, moved.gl_account, moved.service_name, moved.service_category,
    moved.charge_category, moved.billing_currency
having sum(moved.billed_cost) <> 0 or sum(moved.effective_cost) <> 0 or sum(moved.cost_before_credits) <> 0
    or sum(moved.list_cost) <> 0 or sum(moved.charge_rows) <> 0
