-- An instant in UTC from any ISO 8601 form: extended or basic, with offset, Z or none (then UTC), date alone, ordinal or
-- week date. A cast to TIMESTAMP would drop the offset, so the cast goes through TIMESTAMPTZ. Null where it is no date.
create or replace temporary macro instant(value) as coalesce(
    try_cast(value as timestamptz) at time zone 'UTC',
    try_strptime(
        value,
        [
            '%Y%m%dT%H%M%SZ', '%Y%m%dT%H%M%S.%gZ', '%Y%m%dT%H%M%S.%fZ', '%Y%m%dT%H%M%S', '%Y%m%dT%H%MZ', '%Y%m%d',
            '%Y-%m-%dT%H', '%Y-%m-%dT%HZ', '%Y-%m', '%G-W%V-%u', '%GW%V%u', '%Y-%j'
        ]
    ),
    case when length(value) = 7 then try_strptime(value, '%Y%j') end
)
