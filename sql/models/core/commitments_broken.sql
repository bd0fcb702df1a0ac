-- Commitments whose costs are not conserved: over a month that has ended, and over a term that has ended and is loaded
-- whole. A cent a month is none, since providers round each line.
-- Source: FOCUS 1.2, EffectiveCost: over the term of a commitment, its usage is charged what its purchase was billed.
-- grain: one row per source, month (the last one of a term) and rule that is broken
-- key: source, billing_month, rule
-- materialized: full
with night as (select * from settings.night),
loads as (select * from core.loads_judged),
load_commitments as (select * from ops.load_commitment),
used as (select * from core.commitments_used),
in_force as (
    select loads.source, loads.billing_month, loads.status, load_commitments.billing_account_id,
        load_commitments.commitment_discount_id, load_commitments.billing_currency, load_commitments.gap_cost,
        load_commitments.starts_at, load_commitments.ends_at
    from load_commitments
    inner join loads on load_commitments.load_id = loads.load_id
    where loads.is_current
),
terms as (
    select in_force.source, in_force.billing_account_id, in_force.commitment_discount_id, in_force.billing_currency,
        min(in_force.starts_at) as starts_at, max(in_force.ends_at) as ends_at
    from in_force
    where in_force.starts_at is not null and in_force.ends_at is not null and in_force.commitment_discount_id <> ''
    group by in_force.source, in_force.billing_account_id, in_force.commitment_discount_id, in_force.billing_currency
),
closed as (
    select terms.source, terms.billing_account_id, terms.commitment_discount_id, terms.billing_currency,
        max(used.billing_month) as billing_month, cast(count(*) as decimal(9, 0)) as months_loaded,
        date_diff('month', min(terms.starts_at), min(terms.ends_at) - interval '1' second) + 1 as months,
        min(used.billing_month) as first_month, min(terms.starts_at) as starts_at,
        sum(used.purchase_cost) - sum(used.used_cost) - sum(used.unused_cost) as gap_cost
    from terms
    cross join night
    inner join used
        on terms.source = used.source and terms.billing_account_id = used.billing_account_id
        and terms.commitment_discount_id = used.commitment_discount_id
        and terms.billing_currency = used.billing_currency
    where terms.ends_at <= night.as_of
    group by terms.source, terms.billing_account_id, terms.commitment_discount_id, terms.billing_currency
),
broken as (
    select in_force.source, in_force.billing_month, 'commitment_month_conserved' as rule,
        'usage under a commitment is charged what the commitment cost, in a month that has ended' as requirement
    from in_force
    where in_force.status <> 'open' and (in_force.gap_cost > 0.01 or in_force.gap_cost < -0.01)
    union all
    select closed.source, closed.billing_month, 'commitment_term_conserved',
        'usage under a commitment is charged what its purchases were billed, over a term that has ended'
    from closed
    where closed.first_month <= closed.starts_at and closed.months_loaded >= closed.months
        and (closed.gap_cost > 0.01 * closed.months_loaded or closed.gap_cost < -0.01 * closed.months_loaded)
)

select
    -- Source that delivered the charges
    broken.source,
    -- First day of the invoice month
    broken.billing_month,
    -- Short name of the rule
    broken.rule,
    -- What it asks of each commitment
    broken.requirement,
    -- Commitments that break it
    cast(count(*) as bigint) as violating_rows
from broken
group by broken.source, broken.billing_month, broken.rule, broken.requirement
