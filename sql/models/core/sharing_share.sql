-- Which share of what a split takes goes to whom. Where all weights are 0 the cost stays where it is, seen as shared: a
-- row without a recipient has that share.
-- grain: one row per split in force, day where it goes by days, currency of what is shared and recipient
-- key: billing_month, split_number, charge_date?, billing_currency, recipient?
with weights as (select * from core.sharing_weight),
groups as (select * from core.cost_group),
splits as (select * from settings.split),
owners as (select * from settings.owner),
team_projects as (select * from settings.team_project),
totals as (
    select weights.billing_month, weights.split_number, weights.charge_date, weights.billing_currency,
        sum(weights.billed_weight) as billed_total, sum(weights.effective_weight) as effective_total
    from weights
    group by weights.billing_month, weights.split_number, weights.charge_date, weights.billing_currency
),
shares as (
    select weights.billing_month, weights.split_number, weights.charge_date, weights.billing_currency,
        weights.recipient,
        coalesce(cast(weights.billed_weight as double) / nullif(cast(totals.billed_total as double), 0), 0)
            as billed_share,
        coalesce(cast(weights.effective_weight as double) / nullif(cast(totals.effective_total as double), 0), 0)
            as effective_share
    from weights
    inner join totals
        on weights.billing_month = totals.billing_month and weights.split_number = totals.split_number
        and weights.charge_date is not distinct from totals.charge_date
        and weights.billing_currency = totals.billing_currency
    union all
    select totals.billing_month, totals.split_number, totals.charge_date, totals.billing_currency,
        cast(null as varchar) as recipient, case when totals.billed_total > 0 then 0 else 1 end as billed_share,
        case when totals.effective_total > 0 then 0 else 1 end as effective_share
    from totals
    where totals.billed_total <= 0 or totals.effective_total <= 0
),
-- A project's own team and cost centre: those under which it costs most, in the currency in which it costs most.
owned as (
    select groups.billing_month, groups.project, groups.team, groups.cost_centre, groups.gl_account,
        row_number() over (
            partition by groups.billing_month, groups.project
            order by sum(groups.effective_cost) desc, groups.billing_currency, groups.team, groups.cost_centre,
                groups.gl_account
        ) as place
    from groups
    group by groups.billing_month, groups.billing_currency, groups.project, groups.team, groups.cost_centre,
        groups.gl_account
)

select
    shares.billing_month, shares.split_number, shares.charge_date, shares.billing_currency, shares.recipient,
    -- Project that the share goes to; null where the cost keeps its own
    case when splits.recipient_dimension = 'project' then shares.recipient end as project,
    -- Team that the share goes to; null where the cost keeps its own
    case
        when splits.recipient_dimension = 'team' or shares.recipient is null then shares.recipient
        else coalesce(owned.team, owners.team, team_projects.team, 'unattributed')
    end as team,
    -- Cost centre of the project that the share goes to; null where the cost keeps its own
    case
        when splits.recipient_dimension = 'project' and shares.recipient is not null
            then coalesce(owned.cost_centre, owners.cost_centre, 'unattributed')
    end as cost_centre,
    -- Account of the general ledger of the project that the share goes to; null without
    case when splits.recipient_dimension = 'project' then coalesce(owned.gl_account, owners.gl_account) end
        as gl_account,
    -- Share of billed cost, from 0 to 1
    cast(shares.billed_share as decimal(13, 12)) as billed_share,
    -- Share of effective cost and all that goes with it, from 0 to 1
    cast(shares.effective_share as decimal(13, 12)) as effective_share
from shares
inner join splits on shares.split_number = splits.split_number
left join owned
    on shares.billing_month = owned.billing_month and shares.recipient = owned.project and owned.place = 1
left join owners
    on shares.recipient = owners.project and (owners.from_month is null or owners.from_month <= shares.billing_month)
    and (owners.until_month is null or shares.billing_month < owners.until_month)
left join team_projects on shares.recipient = team_projects.project
where shares.billed_share > 0 or shares.effective_share > 0
