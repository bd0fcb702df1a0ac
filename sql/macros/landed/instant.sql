-- An instant in UTC from any ISO 8601 form: extended or basic, with offset, Z or none (then UTC), date alone, ordinal or
-- week date. A cast to TIMESTAMP would drop the offset, so the cast goes through TIMESTAMPTZ. Null where it is no date.
create or replace temporary macro instant(value) as
    case
        when value >= '0' and value < ':'
        then coalesce(
            make_timestamp(epoch_us(try_cast(value as timestamptz))),
            try_cast(upper(replace(value, ',', '.')) as timestamptz) at time zone 'UTC',
            case
                when regexp_matches(value, '^\d{8}[Tt]\d{2}')
                then
                    try_cast(
                        regexp_replace(
                            upper(replace(value, ',', '.')),
                            '^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})?(\d{2})?(\.\d+)?(Z|[+-]\d{2}(?::?\d{2})?)?$',
                            '\1-\2-\3 \4:'
                            || case when regexp_matches(value, '^\d{8}[Tt]\d{4}') then '\5' else '00' end || ':'
                            || case when regexp_matches(value, '^\d{8}[Tt]\d{6}') then '\6\7' else '00' end || '\8'
                        ) as timestamptz
                    ) at time zone 'UTC'
            end,
            try_strptime(
                value,
                [
                    '%Y%m%d', '%Y-%m-%dT%H', '%Y-%m-%dT%HZ', '%Y-%m', '%G-W%V-%u', '%GW%V%u', '%Y-%j', '%Y-%jT%H:%M:%SZ',
                    '%G-W%V-%uT%H:%M:%SZ'
                ]
            ),
            case when length(value) = 7 then try_strptime(value, '%Y%j') end
        )
    end
