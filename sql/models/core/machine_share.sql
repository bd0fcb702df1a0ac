-- Up to which part of a machine's charge the runs on it bear it, one after the other, by the time and the part of the
-- machine that they held while it was charged for.
-- grain: one row per charged time of a machine, currency and attempt on it
-- key: bill_source, resource_id, starts_at, ends_at, billing_currency, source, attempt_id
-- materialized: full
with charges as (select * from core.run_charge),
machines as (select * from core.run_machine),
days as (select * from core.run_day),
calendar_days as (select * from core.calendar_day),
billed as (
    select distinct charges.source, charges.bearer as resource_id, charges.starts_at, charges.ends_at,
        charges.billing_currency
    from charges
    where charges.evidence = 'machine'
),
-- Most charges are of one day, and are looked for among the runs of that day; longer ones on each of theirs.
charged_days as (
    select billed.*, cast(billed.starts_at as date) as charge_date
    from billed
    union all
    select billed.*, calendar_days.calendar_date as charge_date
    from billed
    inner join calendar_days
        on calendar_days.calendar_date > cast(billed.starts_at as date) and calendar_days.calendar_date < billed.ends_at
),
on_machine as (
    select machines.resource_id, machines.source, machines.attempt_id, machines.held_share, days.charge_date,
        days.starts_at, days.ends_at
    from machines
    inner join days on machines.source = days.source and machines.attempt_id = days.attempt_id
),
overlapping as (
    select charged_days.source as bill_source, charged_days.resource_id, charged_days.starts_at, charged_days.ends_at,
        charged_days.billing_currency, on_machine.source, on_machine.attempt_id,
        cast(sum(date_diff('second', case when on_machine.starts_at > charged_days.starts_at then on_machine.starts_at
            else charged_days.starts_at end,
        case when on_machine.ends_at < charged_days.ends_at then on_machine.ends_at else charged_days.ends_at end))
        * cast(max(on_machine.held_share) as double) as decimal(24, 9)) as held_seconds
    from charged_days
    inner join on_machine
        on charged_days.resource_id = on_machine.resource_id and charged_days.charge_date = on_machine.charge_date
        and on_machine.starts_at < charged_days.ends_at and on_machine.ends_at > charged_days.starts_at
    group by charged_days.source, charged_days.resource_id, charged_days.starts_at, charged_days.ends_at,
        charged_days.billing_currency, on_machine.source, on_machine.attempt_id
),
cumulated as (
    select overlapping.*,
        sum(overlapping.held_seconds) over (
            partition by overlapping.bill_source, overlapping.resource_id, overlapping.starts_at, overlapping.ends_at,
                overlapping.billing_currency
            order by overlapping.source nulls first, overlapping.attempt_id nulls first
        ) as held_until,
        sum(overlapping.held_seconds) over (
            partition by overlapping.bill_source, overlapping.resource_id, overlapping.starts_at, overlapping.ends_at,
                overlapping.billing_currency
        ) as held_by_all
    from overlapping
)

select
    -- Source of the charges
    cumulated.bill_source,
    -- Machine
    cumulated.resource_id,
    -- First instant charged for, UTC
    cumulated.starts_at,
    -- First instant after that
    cumulated.ends_at,
    -- ISO 4217 code of the charge
    cumulated.billing_currency,
    -- Source of the run
    cumulated.source,
    -- Attempt of core.run_attempt
    cumulated.attempt_id,
    -- Part of the charge that this attempt and those before it bear; what runs held together may be more than there is:
    -- then they bear all of it
    cast(cast(cumulated.held_until as double) / case
        when date_diff('second', cumulated.starts_at, cumulated.ends_at) > cumulated.held_by_all
        then cast(date_diff('second', cumulated.starts_at, cumulated.ends_at) as double)
        else cast(cumulated.held_by_all as double) end as decimal(13, 12)) as share_until
from cumulated
where cumulated.held_by_all > 0
