-- How long each attempt ran on each day, split at midnight UTC.
-- grain: one row per attempt and day
-- key: source, attempt_id, charge_date
-- materialized: full
with attempts as (select * from core.run_attempt),
digits as (
    select 0 as digit
    union all select 1
    union all select 2
    union all select 3
    union all select 4
    union all select 5
    union all select 6
    union all select 7
    union all select 8
    union all select 9
),
-- Runs of up to 1,000 days; of what is longer the first 1,000.
day_numbers as (
    select 100 * hundreds.digit + 10 * tens.digit + ones.digit as day_number
    from digits as hundreds
    cross join digits as tens
    cross join digits as ones
),
timed as (
    select attempts.source, attempts.attempt_id, attempts.started_at, attempts.ended_at,
        cast(attempts.started_at as date) as first_day,
        date_diff('day', cast(attempts.started_at as date), cast(attempts.ended_at as date)) as midnights
    from attempts
    where attempts.started_at is not null and attempts.ended_at is not null
),
-- Most runs see no midnight: only the others are joined with numbers.
days as (
    select timed.*, 0 as day_number
    from timed
    where timed.midnights = 0
    union all
    select timed.*, day_numbers.day_number
    from timed
    inner join day_numbers on day_numbers.day_number <= timed.midnights
    where timed.midnights > 0
),
bounded as (
    select days.source, days.attempt_id,
        cast(days.first_day + days.day_number * interval '1' day as date) as charge_date,
        case when days.day_number = 0 then days.started_at
            else days.first_day + days.day_number * interval '1' day end as starts_at,
        case when days.day_number = days.midnights then days.ended_at
            else days.first_day + (days.day_number + 1) * interval '1' day end as ends_at,
        days.day_number
    from days
)

select
    -- Source of the run
    bounded.source,
    -- Attempt of core.run_attempt
    bounded.attempt_id,
    -- Day, UTC
    bounded.charge_date,
    -- First instant of the day at which it ran
    bounded.starts_at,
    -- First instant of the day at which it did no longer
    bounded.ends_at,
    -- Seconds between the two
    date_diff('second', bounded.starts_at, bounded.ends_at) as run_seconds
from bounded
where bounded.day_number = 0 or bounded.starts_at < bounded.ends_at
