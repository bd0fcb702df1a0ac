-- Allocations of Slurm as rows of usage.run. `sacct` has its columns as text; `sacct_gpus` counts what a request is.
with allocations as (
    select
        sacct.*,
        -- CANCELLED by 123, COMPLETED+
        upper(rtrim(split_part(state, ' ', 1), '+')) as state_word,
        lower(concat_ws(' ', partition, qos)) as queue,
        lower(trim(jobname)) as lower_name,
        array_to_string(regexp_extract_all(coalesce(nullif(alloctres, ''), reqtres), 'gres/[^,]+'), ',') as request,
        case when start in ('', 'Unknown', 'None', 'N/A', 'NONE') or nodelist in ('None assigned', 'None', '(null)')
            then null else cast(start as timestamp) end as started_at,
        case when "end" in ('', 'Unknown', 'None', 'N/A', 'NONE') then null
            else cast("end" as timestamp) end as ended_at
    from sacct
    -- 123.batch, 123.extern, 123.0 are steps of 123.
    where not contains(jobid, '.')
),
timed as (
    select
        allocations.*,
        regexp_extract(elapsed, '^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?$', ['days', 'hours', 'minutes', 'seconds'])
            as passed
    from allocations
)
select
    timed.row_number,
    coalesce(nullif(timed.cluster, ''), getvariable('source_cluster'), '') as cluster,
    timed.jobid as run_id,
    case
        when contains(timed.jobid, '_') then split_part(timed.jobid, '_', 1)
        when contains(timed.jobid, '+') then split_part(timed.jobid, '+', 1)
    end as sweep_id,
    case
        when contains(timed.jobid, '_') then split_part(timed.jobid, '_', 2)
        when contains(timed.jobid, '+') then split_part(timed.jobid, '+', 2)
    end as trial,
    case
        when contains(timed.queue, 'notebook') or contains(timed.lower_name, 'jupyter')
            or contains(timed.lower_name, 'notebook') then 'notebook'
        when contains(timed.queue, 'interactive')
            or timed.lower_name in ('interactive', 'bash', 'sh', 'zsh', 'tcsh', 'csh', 'fish', 'salloc') then 'interactive'
        when contains(timed.jobid, '_') then 'array_task'
        else 'batch'
    end as kind,
    nullif(timed.jobname, '') as run_name,
    nullif(timed.user, '') as user_name,
    nullif(timed.account, '') as account,
    nullif(timed.partition, '') as partition_name,
    nullif(timed.qos, '') as qos,
    case
        when timed.state_word in ('COMPLETED') then 'completed'
        when timed.state_word in ('FAILED', 'LAUNCH_FAILED', 'RECONFIG_FAIL') then 'failed'
        when timed.state_word in ('CANCELLED', 'REVOKED') then 'cancelled'
        when timed.state_word in ('TIMEOUT', 'DEADLINE') then 'timeout'
        when timed.state_word in ('OUT_OF_MEMORY', 'OUT_OF_ME') then 'oom'
        when timed.state_word in ('NODE_FAIL', 'BOOT_FAIL') then 'node_fail'
        when timed.state_word = 'PREEMPTED' then 'preempted'
        when timed.state_word in ('REQUEUED', 'REQUEUE_HOLD', 'SPECIAL_EXIT') then 'requeued'
        when timed.state_word in ('RESIZING', 'RESIZED') then 'resized'
        when timed.state_word in ('RUNNING', 'COMPLETING', 'SUSPENDED', 'STOPPED', 'SIGNALING', 'STAGE_OUT')
            then 'running'
        when timed.state_word in ('PENDING', 'CONFIGURING', 'RESV_DEL_HOLD', 'REQUEUE_FED') then 'pending'
        else 'unknown'
    end as state,
    nullif(timed.state, '') as state_raw,
    nullif(nullif(timed.reason, ''), 'None') as reason,
    nullif(timed.exitcode, '') as exit_code,
    case when timed.submit in ('', 'Unknown', 'None', 'N/A', 'NONE') then null
        else cast(timed.submit as timestamp) end as submitted_at,
    timed.started_at,
    timed.ended_at,
    case when timed.ended_at is null and timed.passed.seconds <> '' then timed.started_at + to_seconds(
        86400 * coalesce(try_cast(timed.passed.days as bigint), 0) + 3600 * coalesce(try_cast(timed.passed.hours as bigint), 0)
        + 60 * cast(timed.passed.minutes as bigint) + cast(timed.passed.seconds as bigint)) end as seen_at,
    try_cast(timed.nnodes as bigint) as node_count,
    try_cast(timed.ncpus as double) as cpu_count,
    gpus.gpu_count,
    gpus.gpu_shards,
    gpus.accelerator,
    case when timed.nodelist in ('', 'None assigned', 'None', '(null)') then null else timed.nodelist end as node_list,
    nullif(timed.workdir, '') as work_dir,
    nullif(nullif(timed.dependency, ''), '(null)') as dependency
from timed
inner join sacct_gpus as gpus on timed.request is not distinct from gpus.request
