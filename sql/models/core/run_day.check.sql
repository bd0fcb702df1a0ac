-- check: days come to what attempts came to, up to 1,000 days
select attempts.source, attempts.seconds, days.seconds
from (
    select source, sum(date_diff('second', started_at, ended_at)) as seconds
    from core.run_attempt
    where started_at is not null and ended_at is not null
        and date_diff('day', cast(started_at as date), cast(ended_at as date)) < 1000
    group by source
) as attempts
left join (
    select run_day.source, sum(run_day.run_seconds) as seconds
    from core.run_day
    inner join core.run_attempt
        on run_day.source = run_attempt.source and run_day.attempt_id = run_attempt.attempt_id
    where date_diff('day', cast(run_attempt.started_at as date), cast(run_attempt.ended_at as date)) < 1000
    group by run_day.source
) as days on attempts.source = days.source
where attempts.seconds is distinct from days.seconds
