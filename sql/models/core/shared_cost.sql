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
taken as (
    select costs.*, groups.group_number, row_number() over (
            order by groups.group_number, costs.source, costs.charge_date, costs.credit_kind, costs.invoice_id
        ) as cost_number
    from groups
    inner join (select distinct paths.billing_month, paths.group_number from paths) as starts
        on groups.billing_month = starts.billing_month and groups.group_number = starts.group_number
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
-- A path is known by its group and its place there.
parts as (
    select taken.cost_number, ranked.billed_place, ranked.effective_place,
        cast(cast(taken.billed_cost as decimal(24, 12)) * ranked.billed_share as decimal(38, 12)) as billed_cost,
        cast(cast(taken.effective_cost as decimal(24, 12)) * ranked.effective_share as decimal(38, 12))
            as effective_cost,
        cast(cast(taken.list_cost as decimal(24, 12)) * ranked.effective_share as decimal(38, 12)) as list_cost,
        cast(cast(taken.promotional_credit as decimal(24, 12)) * ranked.effective_share as decimal(38, 12))
            as promotional_credit
    from taken
    inner join ranked on taken.billing_month = ranked.billing_month and taken.group_number = ranked.group_number
),
rests as (
    select taken.cost_number, max(taken.billed_cost) - sum(parts.billed_cost) as billed_cost,
        max(taken.effective_cost) - sum(parts.effective_cost) as effective_cost,
        max(taken.list_cost) - sum(parts.list_cost) as list_cost,
        max(taken.promotional_credit) - sum(parts.promotional_credit) as promotional_credit
    from taken
    inner join parts on taken.cost_number = parts.cost_number
    group by taken.cost_number
),
whole as (
    select parts.cost_number, parts.billed_place,
        parts.billed_cost + case when parts.billed_place = 1 then rests.billed_cost else 0 end as billed_cost,
        parts.effective_cost + case when parts.effective_place = 1 then rests.effective_cost else 0 end
            as effective_cost,
        parts.list_cost + case when parts.effective_place = 1 then rests.list_cost else 0 end as list_cost,
        parts.promotional_credit + case when parts.effective_place = 1 then rests.promotional_credit else 0 end
            as promotional_credit
    from parts
    inner join rests on parts.cost_number = rests.cost_number
)

select taken.source, taken.billing_month, taken.charge_date, taken.provider, taken.billing_account_id,
    ranked.project, ranked.team, taken.environment, taken.workload, ranked.cost_centre, ranked.gl_account,
    taken.service_name, taken.service_category, taken.charge_category, taken.credit_kind,
    taken.commitment_discount_status, taken.invoice_id,
    -- Split that gave the cost, the last where it went through several; null for what no split takes
    ranked.split_name,
    -- Project that the cost is attributed to
    taken.project as from_project,
    -- Its team
    taken.team as from_team,
    -- Its cost centre
    taken.cost_centre as from_cost_centre,
    -- Its account of the general ledger; null without
    taken.gl_account as from_gl_account,
    taken.billing_currency, whole.billed_cost, whole.effective_cost,
    whole.effective_cost - whole.promotional_credit as cost_before_credits, whole.list_cost,
    whole.promotional_credit,
    case when ranked.effective_place = 1 then taken.charge_rows else cast(0 as bigint) end as charge_rows
from whole
inner join taken on whole.cost_number = taken.cost_number
inner join ranked
    on taken.billing_month = ranked.billing_month and taken.group_number = ranked.group_number
    and whole.billed_place = ranked.billed_place
