-- Costs of each day by who bears them once splits have shared out what is shared: what no split takes stays where it is
-- attributed. What the marts without resources are built from.
-- grain: one row per day, payer, who bears it, service, kind of charge, invoice, splits gone through and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, project, team, environment, workload,
-- key: cost_centre, gl_account?, service_name?, service_category?, charge_category?, credit_kind?,
-- key: commitment_discount_status?, invoice_id?, split_name?, is_own, billing_currency
-- materialized: view
with costs as (select * from core.costs_attributed),
groups as (select * from core.cost_group),
paths as (select * from core.sharing_path),
shared as (select * from core.shared_cost),
taken as (
    select distinct groups.*
    from groups
    inner join paths on groups.billing_month = paths.billing_month and groups.group_number = paths.group_number
)

select costs.source, costs.billing_month, costs.charge_date, costs.provider, costs.billing_account_id, costs.project,
    costs.team, costs.environment, costs.workload, costs.cost_centre, costs.gl_account, costs.service_name,
    costs.service_category, costs.charge_category, costs.credit_kind, costs.commitment_discount_status,
    costs.invoice_id, cast(null as varchar) as split_name,
    -- 1 where those who bear the cost are those whom it is attributed to: no split took it, or one that left it there
    1 as is_own,
    costs.billing_currency, costs.billed_cost, costs.effective_cost, costs.cost_before_credits,
    costs.list_cost, costs.promotional_credit, costs.charge_rows
from costs
left join taken
    on costs.billing_month = taken.billing_month and costs.billing_currency = taken.billing_currency
    and (taken.charge_date is null or costs.charge_date = taken.charge_date)
    and costs.provider is not distinct from taken.provider
    and costs.billing_account_id is not distinct from taken.billing_account_id and costs.project = taken.project
    and costs.team = taken.team and costs.environment = taken.environment and costs.workload = taken.workload
    and costs.cost_centre = taken.cost_centre and costs.gl_account is not distinct from taken.gl_account
    and costs.service_name is not distinct from taken.service_name
    and costs.service_category is not distinct from taken.service_category
    and costs.charge_category is not distinct from taken.charge_category
    and costs.commitment_discount_status is not distinct from taken.commitment_discount_status
where taken.group_number is null
union all
select shared.source, shared.billing_month, shared.charge_date, shared.provider, shared.billing_account_id,
    shared.project, shared.team, shared.environment, shared.workload, shared.cost_centre, shared.gl_account,
    shared.service_name, shared.service_category, shared.charge_category, shared.credit_kind,
    shared.commitment_discount_status, shared.invoice_id, shared.split_name,
    case when shared.project = shared.from_project and shared.team = shared.from_team then 1 else 0 end as is_own,
    shared.billing_currency, sum(shared.billed_cost) as billed_cost, sum(shared.effective_cost) as effective_cost,
    sum(shared.cost_before_credits) as cost_before_credits, sum(shared.list_cost) as list_cost,
    sum(shared.promotional_credit) as promotional_credit, cast(sum(shared.charge_rows) as bigint) as charge_rows
from shared
group by shared.source, shared.billing_month, shared.charge_date, shared.provider, shared.billing_account_id,
    shared.project, shared.team, shared.environment, shared.workload, shared.cost_centre, shared.gl_account,
    shared.service_name, shared.service_category, shared.charge_category, shared.credit_kind,
    shared.commitment_discount_status, shared.invoice_id, shared.split_name,
    case when shared.project = shared.from_project and shared.team = shared.from_team then 1 else 0 end,
    shared.billing_currency
