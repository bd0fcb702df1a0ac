-- Names that splits may give to, and what they cost of what each split measures. Costs that this or an earlier split
-- takes do not count, and a split gives nothing to a name that it takes from.
-- grain: one row per split in force, day where it goes by days, currency and name with costs
-- key: billing_month, split_number, charge_date?, billing_currency, recipient
with groups as (select * from core.cost_group),
matched as (select * from core.sharing_matched),
met as (select * from core.sharing_value),
splits as (select * from settings.split),
recipients as (select * from settings.split_recipient),
taken as (
    select matched.billing_month, matched.group_number, min(matched.split_number) as first_split
    from matched
    where matched.part = 'share' and matched.is_met = 1
    group by matched.billing_month, matched.group_number
),
named as (
    select groups.billing_month, splits.split_number, splits.recipient_dimension, splits.of_conditions,
        splits.has_recipients, case when splits.is_daily then groups.charge_date end as charge_date,
        groups.billing_currency, groups.group_number, groups.billed_cost, groups.effective_cost,
        case when splits.recipient_dimension = 'team' then groups.team else groups.project end as recipient
    from groups
    inner join splits
        on (splits.from_month is null or splits.from_month <= groups.billing_month)
        and (splits.until_month is null or groups.billing_month < splits.until_month)
    left join taken on groups.billing_month = taken.billing_month and groups.group_number = taken.group_number
    where taken.first_split is null or taken.first_split > splits.split_number
),
names_given as (
    select distinct named.split_number, named.recipient
    from named
    inner join recipients
        on named.split_number = recipients.split_number and named.recipient like recipients.pattern escape '\'
),
eligible as (
    select named.*
    from named
    left join names_given on named.split_number = names_given.split_number and named.recipient = names_given.recipient
    left join met
        on named.billing_month = met.billing_month and named.split_number = met.split_number and met.part = 'share'
        and named.recipient_dimension = met.dimension and named.recipient = met.value
    where named.recipient <> 'unattributed' and met.value is null
        and (names_given.recipient is not null or not named.has_recipients)
)

select
    eligible.billing_month, eligible.split_number,
    -- Day, UTC; null where the split goes by the whole month
    eligible.charge_date, eligible.billing_currency,
    -- Project or team, whichever the split gives to
    eligible.recipient,
    -- Billed cost of what the split measures
    sum(case when eligible.of_conditions = 0 or matched.is_met = 1 then eligible.billed_cost else 0 end) as billed_cost,
    -- Effective cost of what the split measures
    sum(case when eligible.of_conditions = 0 or matched.is_met = 1 then eligible.effective_cost else 0 end)
        as effective_cost
from eligible
left join matched
    on eligible.billing_month = matched.billing_month and eligible.split_number = matched.split_number
    and matched.part = 'of' and eligible.group_number = matched.group_number
group by eligible.billing_month, eligible.split_number, eligible.charge_date, eligible.billing_currency,
    eligible.recipient
