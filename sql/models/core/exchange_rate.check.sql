-- check: every currency and day with costs has an exchange rate
select
    billing_currency,
    reporting_currency,
    billing_month,
    min(charge_date) as charge_date,
    count(*) as days
from core.exchange_rate
where rate is null
group by billing_currency, reporting_currency, billing_month
order by billing_currency

-- check: one unit of the reporting currency is worth one unit of it
select * from core.exchange_rate where billing_currency = reporting_currency and rate <> 1

-- check: a cost to be converted is below 1,000,000,000,000 a day, payer and service (source, month, day, service, amount)
select costs.source, costs.billing_month, costs.charge_date, costs.service_name, costs.effective_cost
from core.costs_attributed as costs
inner join settings.currency as currency on costs.billing_currency <> currency.reporting_currency
where abs(costs.billed_cost) >= 1000000000000 or abs(costs.effective_cost) >= 1000000000000
    or abs(coalesce(costs.list_cost, 0)) >= 1000000000000 or abs(costs.promotional_credit) >= 1000000000000
