-- Which part of each attempt is lost, whether that is certain, and which attempt saved the rest.
-- grain: one row per attempt
-- key: source, attempt_id
-- materialized: full
with attempts as (select * from core.run_attempt),
timed as (
    select attempts.*, coalesce(date_diff('second', attempts.started_at, attempts.ended_at), 0) as run_seconds
    from attempts
),
-- What another attempt resumed: one of another run that names this one's, or the next attempt of the run itself.
resumed as (
    select earlier.source, earlier.attempt_id, later.attempt_id as resumed_by,
        coalesce(later.restart_seconds, 0) as restart_seconds, row_number() over (
            partition by earlier.source, earlier.attempt_id order by later.started_at, later.attempt_id
        ) as place
    from timed as earlier
    inner join timed as later
        on earlier.source = later.source and earlier.run_id = later.resumed_from
        and earlier.attempt_id <> later.attempt_id and earlier.started_at < later.started_at
        and (earlier.run_id <> later.run_id or earlier.attempt + 1 = later.attempt)
    where earlier.state not in ('completed', 'running', 'pending', 'resized')
),
restarted as (
    select resumed.source, resumed.resumed_by, max(resumed.restart_seconds) as restart_seconds
    from resumed
    where resumed.place = 1
    group by resumed.source, resumed.resumed_by
),
-- What a run waited for, as ids between commas: afterany:123_4(unfulfilled) is ,afterany,123_4,unfulfilled,
waiting as (
    select timed.*, ',' || translate(timed.dependency, ':()? ', ',,,,,') || ',' as waited_for,
        replace(replace(replace(timed.run_id, '\', '\\'), '%', '\%'), '_', '\_') as run_pattern
    from timed
),
-- A run that goes on where this one stopped: same user, name and directory, or it waited for this one. Parts of one
-- array stand beside each other.
chained as (
    select distinct earlier.source, earlier.attempt_id
    from waiting as earlier
    inner join waiting as later
        on earlier.source = later.source and earlier.cluster = later.cluster
        and earlier.user_name = later.user_name and earlier.run_name = later.run_name
        and earlier.run_id <> later.run_id and earlier.state in ('failed', 'timeout')
        and earlier.submitted_at <= later.submitted_at
    where later.submitted_at <= earlier.ended_at + interval '24' hour
        and (later.started_at is null or later.started_at >= earlier.ended_at)
        and (earlier.sweep_id is null or later.sweep_id is null or earlier.sweep_id <> later.sweep_id)
        and (earlier.work_dir = later.work_dir
            or later.waited_for like '%,' || earlier.run_pattern || ',%' escape '\')
),
judged as (
    select timed.source, timed.attempt_id, timed.run_seconds, resumed.resumed_by,
        case
            when timed.started_at is null or timed.run_seconds = 0 then 'none'
            when timed.state in ('completed', 'running', 'pending', 'resized', 'unknown') then 'none'
            when timed.kind in ('interactive', 'notebook', 'service') then 'possible'
            when timed.state in ('oom', 'node_fail') then 'certain'
            when timed.state = 'failed' and chained.attempt_id is null and resumed.resumed_by is null then 'certain'
            when timed.state = 'preempted' and timed.checkpoint_at is not null then 'certain'
            else 'possible'
        end as certainty,
        -- Of an attempt that nobody resumed all is lost, whatever checkpoint it wrote.
        case
            when resumed.resumed_by is null or timed.checkpoint_at is null
                or timed.checkpoint_at <= timed.started_at then timed.run_seconds
            when timed.checkpoint_at >= timed.ended_at then resumed.restart_seconds
            else date_diff('second', timed.checkpoint_at, timed.ended_at) + resumed.restart_seconds
        end as lost_seconds,
        -- What it took to restart is lost with the attempt before, and not once more.
        coalesce(restarted.restart_seconds, 0) as counted_seconds
    from timed
    left join resumed
        on timed.source = resumed.source and timed.attempt_id = resumed.attempt_id and resumed.place = 1
    left join restarted on timed.source = restarted.source and timed.attempt_id = restarted.resumed_by
    left join chained on timed.source = chained.source and timed.attempt_id = chained.attempt_id
),
bounded as (
    select judged.*, case
            when judged.lost_seconds + judged.counted_seconds > judged.run_seconds
            then judged.run_seconds - case when judged.counted_seconds > judged.run_seconds then judged.run_seconds
                else judged.counted_seconds end
            else judged.lost_seconds end as lost
    from judged
)

select bounded.source, bounded.attempt_id,
    -- certain: out of memory, failed node, failed batch run that nobody resumed; possible: what may have been wanted,
    -- or been saved without a word of it; none
    bounded.certainty,
    -- Attempt that began with its checkpoint; null where none did
    bounded.resumed_by,
    -- Part of the attempt that is lost, 0 to 1
    case when bounded.certainty = 'none' then cast(0 as decimal(13, 12))
        else cast(cast(bounded.lost as double) / bounded.run_seconds as decimal(13, 12)) end as lost_share
from bounded
