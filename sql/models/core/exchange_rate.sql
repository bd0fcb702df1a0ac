-- The rate that converts the costs of a day to the reporting currency. Without a reporting currency it is empty.
-- grain: one row per month, day and currency with costs
-- key: billing_month, charge_date, billing_currency
with costs as (select * from core.costs_attributed),
currency as (select * from settings.currency),
rates as (select * from settings.exchange_rate),
days as (
    select distinct costs.billing_month, costs.charge_date, costs.billing_currency
    from costs
),
dated as (
    select
        days.billing_month,
        days.charge_date,
        days.billing_currency,
        currency.reporting_currency,
        case
            when currency.rate_rule <> 'charge-day' then days.billing_month
            -- Prepaid costs are spread over later days, but a month is worth what it was by its end.
            when days.charge_date >= days.billing_month + interval '1' month
                then cast(days.billing_month + interval '1' month - interval '1' day as date)
            else days.charge_date
        end as rate_day
    from days
    cross join currency
)

select
    dated.billing_month,
    dated.charge_date,
    dated.billing_currency,
    -- ISO 4217 code of what is converted to
    dated.reporting_currency,
    -- Units of the reporting currency that one unit is worth; null where the file of rates does not say
    case
        when dated.billing_currency = dated.reporting_currency then cast(1 as decimal(18, 12))
        else rates.rate
    end as rate,
    -- Day on which the rate was published, the last of them for a mean; null for the reporting currency itself
    rates.rate_date,
    -- Who says so, as the file has it; null for the reporting currency itself
    rates.source as rate_source
from dated
left join rates
    on dated.billing_currency = rates.billing_currency
    and dated.rate_day >= rates.from_date
    and (rates.until_date is null or dated.rate_day < rates.until_date)
