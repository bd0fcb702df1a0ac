-- Effective costs on the days that they belong to: each charge of core.cost_window has a row for every day of its
-- window, with the cost of that day, and one for its own day, without any.
-- grain: one row per such charge and day of its window, and one per charge for its own day
-- key: source, billing_month, load_id, charge_number, charge_date, is_day
with charges as (select * from focus.cost_and_usage),
windows as (select * from core.cost_window),
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
-- Windows of up to 1,000 days; what is longer falls to the last of them.
day_numbers as (
    select 100 * hundreds.digit + 10 * tens.digit + ones.digit as day_number
    from digits as hundreds
    cross join digits as tens
    cross join digits as ones
),
timed as (
    select
        windows.load_id,
        windows.charge_number,
        day_numbers.day_number,
        cast(windows.starts_at as date) + day_numbers.day_number * interval '1' day as day_start,
        cast(windows.starts_at as date) + (day_numbers.day_number + 1) * interval '1' day as day_end,
        windows.starts_at,
        windows.ends_at
    from windows
    cross join day_numbers
    where cast(windows.starts_at as date) + day_numbers.day_number * interval '1' day < windows.ends_at
),
-- Shares of the window that have passed at the end of a day and at its beginning: what is between them is the day's,
-- and all days come to 1 exactly.
shares as (
    select
        timed.load_id,
        timed.charge_number,
        cast(timed.day_start as date) as charge_date,
        case
            when timed.day_end >= timed.ends_at or timed.day_number = 999 then cast(1 as decimal(13, 12))
            else cast(
                cast(date_diff('second', timed.starts_at, timed.day_end) as double)
                / date_diff('second', timed.starts_at, timed.ends_at) as decimal(13, 12)
            )
        end as share_after,
        case
            when timed.day_number = 0 then cast(0 as decimal(13, 12))
            else cast(
                cast(date_diff('second', timed.starts_at, timed.day_start) as double)
                / date_diff('second', timed.starts_at, timed.ends_at) as decimal(13, 12)
            )
        end as share_before
    from timed
)

select
    -- Source that delivered the charge
    windows.source,
    -- First day of the invoice month
    windows.billing_month,
    -- Load that wrote the charge
    windows.load_id,
    -- Position of the charge in its load
    windows.charge_number,
    -- Day of the window, or the day on which the charge stands
    shares.charge_date,
    -- Whether the row is a day of the window; false where it stands for the charge itself
    true as is_day,
    -- Effective cost of the day; zero on the row that stands for the charge itself
    cast(cast(charges.EffectiveCost as decimal(24, 12)) * shares.share_after as decimal(38, 12))
    - cast(cast(charges.EffectiveCost as decimal(24, 12)) * shares.share_before as decimal(38, 12)) as effective_cost
from shares
inner join windows on shares.load_id = windows.load_id and shares.charge_number = windows.charge_number
inner join charges on shares.load_id = charges.x_LoadId and shares.charge_number = charges.x_RowNumber
union all
select
    windows.source,
    windows.billing_month,
    windows.load_id,
    windows.charge_number,
    cast(charges.ChargePeriodStart as date) as charge_date,
    false as is_day,
    cast(0 as decimal(38, 12)) as effective_cost
from windows
inner join charges on windows.load_id = charges.x_LoadId and windows.charge_number = charges.x_RowNumber
