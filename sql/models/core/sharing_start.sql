-- Groups of costs that some split takes, as they are before the first: all of each with whom it is attributed to.
-- grain: one row per group of costs that meets all conditions of a split in force
-- key: billing_month, group_number
with groups as (select * from core.cost_group),
matched as (select * from core.sharing_matched),
taken as (
    select distinct matched.billing_month, matched.group_number
    from matched
    where matched.part = 'share' and matched.is_met = 1
)

select groups.billing_month, groups.group_number, groups.charge_date, groups.billing_currency,
    -- Split that has had its turn, 0 before the first
    0 as last_split,
    -- Split that gave the share last; null where none has taken it
    cast(null as varchar) as split_name,
    -- Project that bears the share
    groups.project,
    -- Team that answers for it
    groups.team,
    -- Cost centre of the project
    groups.cost_centre,
    -- Account of the general ledger; null without
    groups.gl_account,
    -- Share of the group's billed cost, from 0 to 1
    cast(1 as decimal(13, 12)) as billed_share,
    -- Share of its effective cost and all that goes with it, from 0 to 1
    cast(1 as decimal(13, 12)) as effective_share
from groups
inner join taken on groups.billing_month = taken.billing_month and groups.group_number = taken.group_number
