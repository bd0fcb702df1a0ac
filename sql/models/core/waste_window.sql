-- The closed window of complete days that each check for waste looks at in each source, or why it cannot.
-- grain: one row per check and source that is configured
-- key: source, check_name
-- materialized: full
with checks as (select * from settings.waste_check),
providers as (select * from settings.waste_provider),
sources as (select * from settings.source),
night as (select * from settings.night),
costs as (select * from core.costs_attributed),
usage as (select * from core.waste_usage),
days as (
    select distinct costs.source, costs.provider, costs.charge_date
    from costs
    cross join night
    where costs.charge_category = 'Usage' and costs.charge_rows > 0 and costs.charge_date < night.as_of
),
ended as (
    select sources.source, max(days.provider) as provider,
        -- The first day that is not complete; the day of the night itself is never.
        cast(max(days.charge_date) + interval '1' day - max(sources.settle_days) * interval '1' day as date)
            as window_end
    from sources
    left join days on sources.source = days.source
    where not sources.is_retired
    group by sources.source
),
windows as (
    select checks.check_name, ended.source, ended.provider, checks.is_enabled, checks.meaning, checks.window_days,
        checks.minimum_days, checks.saving_share, checks.limit_number, checks.needs_resources,
        cast(ended.window_end - checks.window_days * interval '1' day as date) as window_start, ended.window_end
    from ended
    cross join checks
),
loaded as (
    select windows.check_name, windows.source, count(days.charge_date) as days_loaded
    from windows
    inner join days
        on windows.source = days.source and days.charge_date >= windows.window_start
        and days.charge_date < windows.window_end
    group by windows.check_name, windows.source
),
named as (
    select windows.check_name, windows.source, count(usage.resource_id) as named_rows, count(*) as all_rows
    from windows
    inner join usage
        on windows.source = usage.source and windows.meaning = usage.meaning
        and usage.charge_date >= windows.window_start and usage.charge_date < windows.window_end
    where windows.is_enabled and windows.needs_resources
    group by windows.check_name, windows.source
)

select
    -- Source that is looked at
    windows.source,
    -- Name of the check
    windows.check_name,
    -- Cloud provider of the source; null where nothing is loaded
    windows.provider,
    -- First day of the window; null where no day is complete
    windows.window_start,
    -- First day after the window; null where no day is complete
    windows.window_end,
    -- Complete days that the check looks at
    windows.window_days,
    -- Days with charges before anything is claimed of a resource
    windows.minimum_days,
    -- Part of the cost that is saved; 0 where it is not known
    windows.saving_share,
    -- The check's own threshold; null where it has none
    windows.limit_number,
    -- Days of the window on which the source has usage
    coalesce(loaded.days_loaded, 0) as days_loaded,
    -- Why the check is not evaluated; null where it is
    case
        when not windows.is_enabled then 'it is off in the configuration'
        when windows.window_end is null then 'no complete day is loaded'
        when providers.check_name is null then 'nothing is known of it on ' || windows.provider
        when coalesce(loaded.days_loaded, 0) < windows.window_days
            then 'only ' || cast(coalesce(loaded.days_loaded, 0) as varchar) || ' of '
                || cast(windows.window_days as varchar) || ' days are loaded'
        when named.named_rows = 0 then 'the export names no resources for it'
    end as reason
from windows
left join providers on windows.check_name = providers.check_name and windows.provider = providers.provider
left join loaded on windows.check_name = loaded.check_name and windows.source = loaded.source
left join named on windows.check_name = named.check_name and windows.source = named.source
