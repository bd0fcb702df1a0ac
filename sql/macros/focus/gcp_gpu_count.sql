-- GPUs of an accelerator-optimised machine type; null for one that GPUs are attached to, which does not tell.
-- Source: Google Cloud documentation, "GPU machine types".
create or replace macro focus.gcp_gpu_count(machine_type) as
    coalesce(
        try_cast(nullif(regexp_extract(machine_type, '^a\d\w*-\w+-(\d+)g\b', 1), '') as integer),
        case
            when not starts_with(machine_type, 'g2-standard-') then null
            when machine_type = 'g2-standard-96' then 8
            when machine_type = 'g2-standard-48' then 4
            when machine_type = 'g2-standard-24' then 2
            else 1
        end
    )
