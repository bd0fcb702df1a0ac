-- Facts about a FOCUS delivery, and control totals.
-- grain: one row per provider, billing account and currency
-- key: provider, billing_account_id, billing_currency
-- The loader adds to this SELECT one count per converted column of what did not convert.
select
    focus.provider_name("ProviderName") as provider,
    "BillingAccountId" as billing_account_id,
    coalesce("BillingCurrency", getvariable('default_currency')) as billing_currency,
    count(*) as rows_read,
    coalesce(sum("BilledCost"), 0) as delivered_cost,
    coalesce(sum("rest_BilledCost"), 0) as rounded_cost,
    count(*) filter (where "BilledCost" is null and "bad_BilledCost" is null) as "noted: empty cost read as 0",
    count(*) filter (
        where "ChargePeriodStart" is null and "bad_ChargePeriodStart" is null
    ) as "noted: empty usage start, the billing period's taken",
    count(*) filter (where "ChargePeriodEnd" is null) as "noted: empty usage end, the billing period's taken",
    count(*) filter (
        where date_trunc('month', coalesce("BillingPeriodStart", "ChargePeriodStart")) <> getvariable('billing_month')
    ) as "noted: billing period other than that of the delivery",
    histogram(
        case
            when lower("ChargeCategory") in ('usage', 'purchase', 'tax', 'credit', 'adjustment') then null
            else coalesce("ChargeCategory", '(none)')
        end
    ) as "noted: unknown charge category",
from landed
group by 1, 2, 3
