-- A unit of the Cloud Billing export in the FOCUS unit format. Source: FOCUS 1.2, attribute Unit Format.
create or replace macro focus.gcp_unit(unit) as
    case lower(unit)
        when 'hour' then 'Hours'
        when 'hours' then 'Hours'
        when 'seconds' then 'Seconds'
        when 'second' then 'Seconds'
        when 'gibibyte month' then 'GiB-Months'
        when 'gibibyte hour' then 'GiB-Hours'
        when 'gibibyte' then 'GiB'
        when 'tebibyte' then 'TiB'
        when 'byte-seconds' then 'B-Seconds'
        when 'bytes' then 'B'
        when 'count' then 'Count'
        when 'request' then 'Requests'
        when 'requests' then 'Requests'
        when 'month' then 'Months'
        when 'day' then 'Days'
        else unit
    end
