-- Each check for waste in each source: what it found, or why it was not evaluated.
-- grain: one row per check and source that is configured
-- key: source, check_name
-- materialized: full
with windows as (select * from core.waste_window),
checks as (select * from settings.waste_check),
judged as (select * from core.waste_judged),
counted as (
    select judged.source, judged.check_name,
        count(case when judged.outcome = 'waste' then 1 end) as waste_findings,
        count(case when judged.outcome = 'advice' then 1 end) as advice_findings,
        count(case when judged.outcome = 'unknown' then 1 end) as unknown_findings,
        count(case when judged.is_counted then 1 end) as counted_findings,
        count(distinct judged.billing_currency) as currency_count,
        max(judged.billing_currency) as billing_currency,
        sum(case when judged.is_counted then judged.wasted_cost else 0 end) as wasted_cost
    from judged
    group by judged.source, judged.check_name
)

select windows.source, windows.check_name,
    -- What the check looks for
    checks.title,
    windows.provider,
    -- evaluated or not evaluated
    case when windows.reason is null then 'evaluated' else 'not evaluated' end as state,
    -- Why it was not evaluated; null where it was
    windows.reason,
    -- First day of the window, UTC; null where no day is complete
    windows.window_start,
    -- First day after the window, UTC; null where no day is complete
    windows.window_end,
    -- Findings that claim money; null where the check was not evaluated
    case when windows.reason is null then coalesce(counted.waste_findings, 0) end as waste_findings,
    -- Findings whose saving is not known
    case when windows.reason is null then coalesce(counted.advice_findings, 0) end as advice_findings,
    -- Resources of which it is not known whether they are wasted
    case when windows.reason is null then coalesce(counted.unknown_findings, 0) end as unknown_findings,
    -- Findings that count: of one resource only the largest, of whichever check
    case when windows.reason is null then coalesce(counted.counted_findings, 0) end as counted_findings,
    -- Cost in the window of what counts; null where the check was not evaluated or findings have several currencies
    case when windows.reason is null and coalesce(counted.currency_count, 0) <= 1 then coalesce(counted.wasted_cost, 0)
    end as wasted_cost,
    -- Currency of the amount; null without findings
    case when counted.currency_count = 1 then counted.billing_currency end as billing_currency
from windows
inner join checks on windows.check_name = checks.check_name
left join counted on windows.source = counted.source and windows.check_name = counted.check_name
