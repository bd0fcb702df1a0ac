-- What each recipient of a split weighs: in billed and in effective cost, each by its own; a quantity in both alike.
-- grain: one row per split in force, day where it goes by days, currency of what is shared and recipient
-- key: billing_month, split_number, charge_date?, billing_currency, recipient
with candidates as (select * from core.sharing_candidate),
groups as (select * from core.cost_group),
splits as (select * from settings.split),
recipients as (select * from settings.split_recipient),
quantities as (select * from settings.split_usage),
currencies as (
    select distinct groups.billing_month, groups.billing_currency
    from groups
),
in_force as (
    select currencies.billing_month, currencies.billing_currency, splits.split_number, splits.method, splits.is_daily
    from currencies
    inner join splits
        on (splits.from_month is null or splits.from_month <= currencies.billing_month)
        and (splits.until_month is null or currencies.billing_month < splits.until_month)
),
names as (
    select candidates.billing_month, candidates.split_number, candidates.recipient
    from candidates
    union
    select in_force.billing_month, in_force.split_number, recipients.exact_name as recipient
    from in_force
    inner join recipients on in_force.split_number = recipients.split_number
    where recipients.exact_name is not null
),
weighed as (
    select candidates.billing_month, candidates.split_number, candidates.charge_date, candidates.billing_currency,
        candidates.recipient, candidates.billed_cost as billed_weight, candidates.effective_cost as effective_weight
    from candidates
    inner join splits on candidates.split_number = splits.split_number
    where splits.method = 'cost'
    union all
    select in_force.billing_month, in_force.split_number, cast(null as date) as charge_date, in_force.billing_currency,
        names.recipient, cast(1 as decimal(38, 12)) as billed_weight, cast(1 as decimal(38, 12)) as effective_weight
    from in_force
    inner join names on in_force.billing_month = names.billing_month and in_force.split_number = names.split_number
    where in_force.method = 'even'
    union all
    select in_force.billing_month, in_force.split_number, cast(null as date) as charge_date, in_force.billing_currency,
        recipients.exact_name as recipient, recipients.weight as billed_weight, recipients.weight as effective_weight
    from in_force
    inner join recipients on in_force.split_number = recipients.split_number
    where in_force.method = 'weights'
    union all
    select in_force.billing_month, in_force.split_number,
        case when in_force.is_daily then quantities.usage_date end as charge_date, in_force.billing_currency,
        quantities.recipient, sum(quantities.quantity) as billed_weight, sum(quantities.quantity) as effective_weight
    from in_force
    inner join quantities
        on in_force.split_number = quantities.split_number and in_force.billing_month = quantities.billing_month
    where in_force.method = 'usage'
    group by in_force.billing_month, in_force.split_number,
        case when in_force.is_daily then quantities.usage_date end, in_force.billing_currency, quantities.recipient
)

select
    weighed.billing_month, weighed.split_number, weighed.charge_date, weighed.billing_currency, weighed.recipient,
    -- Weight for billed cost; 0 where it would be below
    case when weighed.billed_weight > 0 then weighed.billed_weight else cast(0 as decimal(38, 12)) end as billed_weight,
    -- Weight for effective cost and all that goes with it; 0 where it would be below
    case when weighed.effective_weight > 0 then weighed.effective_weight else cast(0 as decimal(38, 12)) end
        as effective_weight
from weighed
