-- The 1,000 days before that of the night, so that a day on which nothing happened can be told.
-- grain: one row per day
-- key: calendar_date
-- materialized: full
with nights as (select * from settings.night),
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
)

select
    -- Day
    cast(nights.as_of - (100 * hundreds.digit + 10 * tens.digit + ones.digit + 1) * interval '1' day as date)
    as calendar_date
from nights
cross join digits as hundreds
cross join digits as tens
cross join digits as ones
