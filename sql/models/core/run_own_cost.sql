-- Charges that name a run by their resource or by a tag, by attempt.
-- grain: one row per attempt, evidence and currency
-- key: source, attempt_id, evidence, billing_currency
-- materialized: full
with attempts as (select * from core.run_attempt),
charges as (select * from core.run_charge),
timed as (
    select attempts.*, coalesce(date_diff('second', attempts.started_at, attempts.ended_at), 0) as run_seconds
    from attempts
),
-- A run that two sources tell of bears its own charges once, in the first of them.
bearers as (
    select timed.run_id, min(timed.source) as source
    from timed
    group by timed.run_id
),
named as (
    select charges.bearer as run_id, charges.evidence, charges.billing_currency,
        cast(sum(charges.cost_before_credits) as decimal(24, 12)) as cost_before_credits
    from charges
    where charges.evidence <> 'machine'
    group by charges.bearer, charges.evidence, charges.billing_currency
),
-- Attempts of one run share its charges by their time; the last bears them alone where none has any.
cumulated as (
    select timed.source, timed.attempt_id, timed.run_id, timed.cluster, timed.attempt, timed.attempts,
        sum(timed.run_seconds) over (
            partition by timed.source, timed.run_id order by timed.cluster nulls first, timed.attempt nulls first
        ) as seconds_until,
        sum(timed.run_seconds) over (partition by timed.source, timed.run_id) as seconds_of_all,
        row_number() over (
            partition by timed.source, timed.run_id order by timed.cluster desc, timed.attempt desc
        ) as place_from_last
    from timed
    inner join bearers on timed.run_id = bearers.run_id and timed.source = bearers.source
),
bounded as (
    select cumulated.source, cumulated.attempt_id, cumulated.run_id, cumulated.cluster, cumulated.attempt,
        case when cumulated.place_from_last = 1 then cast(1 as decimal(13, 12))
            when cumulated.seconds_of_all = 0 then cast(0 as decimal(13, 12))
            else cast(cast(cumulated.seconds_until as double) / cumulated.seconds_of_all as decimal(13, 12))
        end as share_until
    from cumulated
)

select
    -- Source of the run
    bounded.source,
    -- Attempt of core.run_attempt
    bounded.attempt_id,
    -- resource or tag
    named.evidence,
    -- ISO 4217 code of the cost
    named.billing_currency,
    -- Effective cost before promotional credits
    cast(named.cost_before_credits * bounded.share_until as decimal(38, 12))
    - cast(named.cost_before_credits * coalesce(lag(bounded.share_until) over (
        partition by named.run_id, named.evidence, named.billing_currency order by bounded.cluster, bounded.attempt
    ), cast(0 as decimal(13, 12))) as decimal(38, 12)) as cost_before_credits
from bounded
inner join named on bounded.run_id = named.run_id
