-- Costs that splits have shared out, with who bears them: each amount times the share, the rest of rounding on the
-- largest share, which counts the charges, too.
-- grain: one row per day, payer, who bears it, whose it was, service, kind of charge, invoice, splits and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, project, team, environment, workload,
-- key: cost_centre, gl_account?, service_name?, service_category?, charge_category?, credit_kind?,
-- key: commitment_discount_status?, invoice_id?, split_name, from_project, from_team, from_cost_centre,
-- key: billing_currency
with costs as (select * from core.costs_attributed),
groups as (select * from core.cost_group),
paths as (select * from core.sharing_path),
ranked as (
    select paths.*,
        row_number() over (
            partition by paths.billing_month, paths.group_number
            order by paths.billed_share desc, paths.split_name, paths.project, paths.team, paths.cost_centre,
                paths.gl_account
        ) as billed_place,
        row_number() over (
            partition by paths.billing_month, paths.group_number
            order by paths.effective_share desc, paths.split_name, paths.project, paths.team, paths.cost_centre,
                paths.gl_account
        ) as effective_place
    from paths
),
borne as (
    select costs.source, costs.billing_month, costs.charge_date, costs.provider, costs.billing_account_id,
        ranked.project, ranked.team, costs.environment, costs.workload, ranked.cost_centre, ranked.gl_account,
        costs.service_name, costs.service_category, costs.charge_category, costs.credit_kind,
        costs.commitment_discount_status, costs.invoice_id, ranked.split_name, costs.project as from_project,
        costs.team as from_team, costs.cost_centre as from_cost_centre, costs.billing_currency, groups.group_number,
        ranked.billed_place, ranked.effective_place, costs.charge_rows, costs.billed_cost, costs.effective_cost,
        costs.list_cost, costs.promotional_credit,
        cast(cast(costs.billed_cost as decimal(24, 12)) * ranked.billed_share as decimal(38, 12)) as billed_part,
        cast(cast(costs.effective_cost as decimal(24, 12)) * ranked.effective_share as decimal(38, 12))
            as effective_part,
        cast(cast(costs.list_cost as decimal(24, 12)) * ranked.effective_share as decimal(38, 12)) as list_part,
        cast(cast(costs.promotional_credit as decimal(24, 12)) * ranked.effective_share as decimal(38, 12))
            as credit_part
    from groups
    inner join ranked on groups.billing_month = ranked.billing_month and groups.group_number = ranked.group_number
    inner join costs
        on costs.billing_month = groups.billing_month and costs.billing_currency = groups.billing_currency
        and (groups.charge_date is null or costs.charge_date = groups.charge_date)
        and costs.provider is not distinct from groups.provider
        and costs.billing_account_id is not distinct from groups.billing_account_id and costs.project = groups.project
        and costs.team = groups.team and costs.environment = groups.environment and costs.workload = groups.workload
        and costs.cost_centre = groups.cost_centre and costs.gl_account is not distinct from groups.gl_account
        and costs.service_name is not distinct from groups.service_name
        and costs.service_category is not distinct from groups.service_category
        and costs.charge_category is not distinct from groups.charge_category
        and costs.commitment_discount_status is not distinct from groups.commitment_discount_status
),
summed as (
    select borne.*,
        sum(borne.billed_part) over cost as billed_sum, sum(borne.effective_part) over cost as effective_sum,
        sum(borne.list_part) over cost as list_sum, sum(borne.credit_part) over cost as credit_sum
    from borne
    window cost as (
        partition by borne.billing_month, borne.group_number, borne.source, borne.charge_date, borne.credit_kind,
            borne.invoice_id
    )
),
rounded as (
    select summed.*,
        summed.billed_part + case when summed.billed_place = 1 then summed.billed_cost - summed.billed_sum else 0 end
            as billed_whole,
        summed.effective_part
        + case when summed.effective_place = 1 then summed.effective_cost - summed.effective_sum else 0 end
            as effective_whole,
        summed.list_part + case when summed.effective_place = 1 then summed.list_cost - summed.list_sum else 0 end
            as list_whole,
        summed.credit_part
        + case when summed.effective_place = 1 then summed.promotional_credit - summed.credit_sum else 0 end
            as credit_whole
    from summed
)

select rounded.source, rounded.billing_month, rounded.charge_date, rounded.provider, rounded.billing_account_id,
    rounded.project, rounded.team, rounded.environment, rounded.workload, rounded.cost_centre, rounded.gl_account,
    rounded.service_name, rounded.service_category, rounded.charge_category, rounded.credit_kind,
    rounded.commitment_discount_status, rounded.invoice_id,
    -- Split that gave the cost, the last where it went through several; null for what no split takes
    rounded.split_name,
    -- Project that the cost is attributed to
    rounded.from_project,
    -- Its team
    rounded.from_team,
    -- Its cost centre
    rounded.from_cost_centre,
    rounded.billing_currency, sum(rounded.billed_whole) as billed_cost,
    sum(rounded.effective_whole) as effective_cost,
    sum(rounded.effective_whole) - sum(rounded.credit_whole) as cost_before_credits,
    sum(rounded.list_whole) as list_cost, sum(rounded.credit_whole) as promotional_credit,
    cast(sum(case when rounded.effective_place = 1 then rounded.charge_rows else 0 end) as bigint) as charge_rows
from rounded
group by rounded.source, rounded.billing_month, rounded.charge_date, rounded.provider, rounded.billing_account_id,
    rounded.project, rounded.team, rounded.environment, rounded.workload, rounded.cost_centre, rounded.gl_account,
    rounded.service_name, rounded.service_category, rounded.charge_category, rounded.credit_kind,
    rounded.commitment_discount_status, rounded.invoice_id, rounded.split_name, rounded.from_project,
    rounded.from_team, rounded.from_cost_centre, rounded.billing_currency
