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
-- Groups by all that names are found by, before each split looks at them.
borne as (
    select groups.billing_month, groups.charge_date, groups.billing_currency, groups.project, groups.team,
        coalesce(taken.first_split, 1000000) as first_split, sum(groups.billed_cost) as billed_cost,
        sum(groups.effective_cost) as effective_cost
    from groups
    left join taken on groups.billing_month = taken.billing_month and groups.group_number = taken.group_number
    group by groups.billing_month, groups.charge_date, groups.billing_currency, groups.project, groups.team,
        coalesce(taken.first_split, 1000000)
),
named as (
    select borne.billing_month, splits.split_number, splits.recipient_dimension, splits.has_recipients,
        case when splits.is_daily then borne.charge_date end as charge_date, borne.billing_currency,
        case when splits.recipient_dimension = 'team' then borne.team else borne.project end as recipient,
        sum(case when splits.of_conditions = 0 then borne.billed_cost else 0 end) as billed_cost,
        sum(case when splits.of_conditions = 0 then borne.effective_cost else 0 end) as effective_cost
    from borne
    inner join splits
        on (splits.from_month is null or splits.from_month <= borne.billing_month)
        and (splits.until_month is null or borne.billing_month < splits.until_month)
        and borne.first_split > splits.split_number
    group by borne.billing_month, splits.split_number, splits.recipient_dimension, splits.has_recipients,
        case when splits.is_daily then borne.charge_date end, borne.billing_currency,
        case when splits.recipient_dimension = 'team' then borne.team else borne.project end
),
-- Where a split measures some costs only, what of them each name has.
measured as (
    select groups.billing_month, splits.split_number, case when splits.is_daily then groups.charge_date end
            as charge_date, groups.billing_currency,
        case when splits.recipient_dimension = 'team' then groups.team else groups.project end as recipient,
        sum(groups.billed_cost) as billed_cost, sum(groups.effective_cost) as effective_cost
    from matched
    inner join groups on matched.billing_month = groups.billing_month and matched.group_number = groups.group_number
    inner join splits on matched.split_number = splits.split_number and splits.of_conditions > 0
    left join taken on groups.billing_month = taken.billing_month and groups.group_number = taken.group_number
    where matched.part = 'of' and matched.is_met = 1
        and (taken.first_split is null or taken.first_split > splits.split_number)
    group by groups.billing_month, splits.split_number, case when splits.is_daily then groups.charge_date end,
        groups.billing_currency,
        case when splits.recipient_dimension = 'team' then groups.team else groups.project end
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
    eligible.billed_cost + coalesce(measured.billed_cost, 0) as billed_cost,
    -- Effective cost of what the split measures
    eligible.effective_cost + coalesce(measured.effective_cost, 0) as effective_cost
from eligible
left join measured
    on eligible.billing_month = measured.billing_month and eligible.split_number = measured.split_number
    and eligible.charge_date is not distinct from measured.charge_date
    and eligible.billing_currency = measured.billing_currency and eligible.recipient = measured.recipient
