-- How far the effective costs of commitments tie to what the commitments cost: FOCUS asks that a commitment's usage is
-- charged what its purchase was billed.
-- grain: one row per load, billing account and currency with commitments
-- key: load_id, billing_account_id, billing_currency
-- materialized: full
with load_commitments as (select * from ops.load_commitment)

select
    -- Load
    load_commitments.load_id,
    -- Payer
    load_commitments.billing_account_id,
    -- ISO 4217 code of every amount on the row
    load_commitments.billing_currency,
    -- Savings Plans and reservations with charges; ops.load_commitment has each
    cast(count(*) as bigint) as commitment_count,
    -- Recurring fees, and what of upfront payments falls to the month
    sum(load_commitments.fee_cost + load_commitments.amortised_upfront_cost) as commitment_cost,
    -- What covered usage is charged of it
    sum(load_commitments.used_cost) as used_cost,
    -- What no usage took
    sum(load_commitments.unused_cost) as unused_cost,
    -- What effective costs miss, or have too much, against what each commitment cost: absolute amounts added up
    sum(case when load_commitments.gap_cost < 0 then -load_commitments.gap_cost else load_commitments.gap_cost end)
        as gap_cost
from load_commitments
group by load_commitments.load_id, load_commitments.billing_account_id, load_commitments.billing_currency
