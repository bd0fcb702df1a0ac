-- What each machine that runs were on cost, shared among them; what nobody held is a row without an attempt.
-- grain: one row per machine, day, attempt and currency
-- key: bill_source, resource_id, charge_date, source?, attempt_id?, billing_currency
-- materialized: full
with charges as (select * from core.run_charge),
shares as (select * from core.machine_share),
billed as (
    select charges.source as bill_source, charges.bearer as resource_id, charges.starts_at, charges.ends_at,
        charges.billing_currency, cast(charges.starts_at as date) as charge_date,
        cast(sum(charges.cost_before_credits) as decimal(24, 12)) as cost_before_credits
    from charges
    where charges.evidence = 'machine'
    group by charges.source, charges.bearer, charges.starts_at, charges.ends_at, charges.billing_currency
),
bounded as (
    select billed.bill_source, billed.resource_id, billed.charge_date, billed.starts_at, billed.ends_at,
        billed.billing_currency, shares.source, shares.attempt_id, shares.share_until,
        cast(billed.cost_before_credits * shares.share_until as decimal(38, 12)) as cost_until
    from billed
    inner join shares
        on billed.bill_source = shares.bill_source and billed.resource_id = shares.resource_id
        and billed.starts_at = shares.starts_at and billed.ends_at = shares.ends_at
        and billed.billing_currency = shares.billing_currency
),
held as (
    select bounded.bill_source, bounded.resource_id, bounded.starts_at, bounded.ends_at, bounded.billing_currency,
        max(bounded.share_until) as share_until
    from bounded
    group by bounded.bill_source, bounded.resource_id, bounded.starts_at, bounded.ends_at, bounded.billing_currency
),
-- What lies between the bounds of a run is its own, so that rounded parts add up; what is behind the last is nobody's.
parted as (
    select bounded.bill_source, bounded.resource_id, bounded.charge_date, bounded.billing_currency, bounded.source,
        bounded.attempt_id, bounded.cost_until - coalesce(lag(bounded.cost_until) over (
            partition by bounded.bill_source, bounded.resource_id, bounded.starts_at, bounded.ends_at,
                bounded.billing_currency
            order by bounded.source, bounded.attempt_id
        ), 0) as cost_before_credits
    from bounded
    union all
    select billed.bill_source, billed.resource_id, billed.charge_date, billed.billing_currency,
        cast(null as varchar) as source, cast(null as varchar) as attempt_id, billed.cost_before_credits
        - coalesce(cast(billed.cost_before_credits * held.share_until as decimal(38, 12)), 0) as cost_before_credits
    from billed
    left join held
        on billed.bill_source = held.bill_source and billed.resource_id = held.resource_id
        and billed.starts_at = held.starts_at and billed.ends_at = held.ends_at
        and billed.billing_currency = held.billing_currency
)

select
    -- Source of the charges
    parted.bill_source,
    -- Machine
    parted.resource_id,
    -- Day on which what is charged for begins, UTC
    parted.charge_date,
    -- Source of the run; null for what nobody held
    parted.source,
    -- Attempt of core.run_attempt; null for what nobody held
    parted.attempt_id,
    -- ISO 4217 code of the cost
    parted.billing_currency,
    -- Effective cost before promotional credits
    cast(sum(parted.cost_before_credits) as decimal(38, 12)) as cost_before_credits
from parted
group by parted.bill_source, parted.resource_id, parted.charge_date, parted.source, parted.attempt_id,
    parted.billing_currency
