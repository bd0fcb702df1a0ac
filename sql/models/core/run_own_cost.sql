-- Charges that name a run by their resource or by a tag, by attempt.
-- grain: one row per attempt, evidence and currency
-- key: source, attempt_id, evidence, billing_currency
-- materialized: full
with attempts as (select * from core.run_attempt),
charges as (select * from core.run_charge),
run_sources as (select * from settings.run_source),
timed as (
    select attempts.*, coalesce(date_diff('second', attempts.started_at, attempts.ended_at), 0) as run_seconds
    from attempts
),
charged as (
    select charges.bearer as run_id, charges.evidence, charges.tag_key, charges.billing_currency,
        sum(charges.cost_before_credits) as cost_before_credits
    from charges
    where charges.evidence <> 'machine'
    group by charges.bearer, charges.evidence, charges.tag_key, charges.billing_currency
),
-- A tag names runs of the sources that look at its key. A run that two of them tell of bears its charges once.
bearers as (
    select charged.run_id, charged.evidence, charged.tag_key, min(timed.source) as source
    from charged
    inner join timed on charged.run_id = timed.run_id
    left join run_sources on timed.source = run_sources.source
    where charged.tag_key is null or charged.tag_key = run_sources.run_tag
    group by charged.run_id, charged.evidence, charged.tag_key
),
named as (
    select bearers.source, charged.run_id, charged.evidence, charged.billing_currency,
        cast(sum(charged.cost_before_credits) as decimal(24, 12)) as cost_before_credits
    from charged
    inner join bearers
        on charged.run_id = bearers.run_id and charged.evidence = bearers.evidence
        and charged.tag_key is not distinct from bearers.tag_key
    group by bearers.source, charged.run_id, charged.evidence, charged.billing_currency
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
        partition by named.source, named.run_id, named.evidence, named.billing_currency
        order by bounded.cluster, bounded.attempt
    ), cast(0 as decimal(13, 12))) as decimal(38, 12)) as cost_before_credits
from bounded
inner join named on bounded.source = named.source and bounded.run_id = named.run_id
