-- A unit of AWS's reports in the FOCUS unit format. Source: FOCUS 1.2, attribute Unit Format.
create or replace macro focus.aws_unit(unit) as
    case lower(unit)
        when 'hrs' then 'Hours'
        when 'hr' then 'Hours'
        when 'hours' then 'Hours'
        when 'hour' then 'Hours'
        when 'gb-mo' then 'GB-Months'
        when 'gb-month' then 'GB-Months'
        when 'gb-hours' then 'GB-Hours'
        when 'lambda-gb-second' then 'GB-Seconds'
        when 'vcpu-hours' then 'vCPU-Hours'
        when 'request' then 'Requests'
        when 'requests' then 'Requests'
        when '1m requests' then '1000000 Requests'
        when '1k tokens' then '1000 Tokens'
        when '1m tokens' then '1000000 Tokens'
        when 'obj-month' then 'Object-Months'
        when 'mo' then 'Months'
        when 'month' then 'Months'
        when 'seconds' then 'Seconds'
        when 'second' then 'Seconds'
        else unit
    end
