-- check: hours equal those of core.run_day, per source and day
select built.source, built.charge_date, built.wall_hours, given.run_seconds
from (
    select source, charge_date, sum(wall_hours) as wall_hours
    from marts.run_daily_use
    group by source, charge_date
) as built
full join (
    select source, charge_date, sum(run_seconds) as run_seconds from core.run_day group by source, charge_date
) as given on built.source = given.source and built.charge_date = given.charge_date
where abs(built.wall_hours - cast(coalesce(given.run_seconds, 0) as double) / 3600) > 0.001
    or (built.source is null and given.run_seconds > 0)
