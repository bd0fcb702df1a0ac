-- Costs of core.costs_shared with what they are worth in the reporting currency beside them. Rounded here, row by
-- row, so that every table that sums these rows comes to the same.
-- grain: one row per day, payer, who bears it, service, kind of charge, invoice, splits gone through and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, project, team, environment, workload,
-- key: cost_centre, gl_account?, service_name?, service_category?, charge_category?, credit_kind?,
-- key: commitment_discount_status?, invoice_id?, split_name?, is_own, billing_currency
with costs as (select * from core.costs_shared),
rates as (select * from core.exchange_rate)

select
    costs.*,
    -- ISO 4217 code of the converted costs; null where the configuration names no reporting currency
    rates.reporting_currency,
    -- billed_cost in reporting_currency, at the configured rate; null where the configuration names none
    case
        when costs.billing_currency = rates.reporting_currency then costs.billed_cost
        when rates.rate is not null
            then cast(cast(costs.billed_cost as decimal(24, 12)) * rates.rate as decimal(38, 12))
    end as converted_billed_cost,
    -- effective_cost in reporting_currency, at the configured rate; null where the configuration names none
    case
        when costs.billing_currency = rates.reporting_currency then costs.effective_cost
        when rates.rate is not null
            then cast(cast(costs.effective_cost as decimal(24, 12)) * rates.rate as decimal(38, 12))
    end as converted_effective_cost,
    -- cost_before_credits in reporting_currency, at the configured rate; null where the configuration names none
    case
        when costs.billing_currency = rates.reporting_currency then costs.cost_before_credits
        when rates.rate is not null
            then cast(cast(costs.cost_before_credits as decimal(24, 12)) * rates.rate as decimal(38, 12))
    end as converted_cost_before_credits,
    -- list_cost in reporting_currency, at the configured rate; null where the configuration names none
    case
        when costs.billing_currency = rates.reporting_currency then costs.list_cost
        when rates.rate is not null
            then cast(cast(costs.list_cost as decimal(24, 12)) * rates.rate as decimal(38, 12))
    end as converted_list_cost
from costs
left join rates
    on costs.billing_month = rates.billing_month
    and costs.charge_date = rates.charge_date
    and costs.billing_currency = rates.billing_currency
