-- Facts about a FOCUS delivery, and control totals.
-- grain: one row per provider, billing account, currency, sub-account and charge category
-- key: provider, billing_account_id, billing_currency, sub_account_id, line_item_type
-- The loader adds to this SELECT one count per converted column of what did not convert, and sums the rows up to billing
-- account and currency. Columns named `raw: METRIC` are kept as they are, for the check against Cost Explorer.
select
    focus.provider_name("ProviderName") as provider,
    "BillingAccountId" as billing_account_id,
    coalesce("BillingCurrency", getvariable('default_currency')) as billing_currency,
    "SubAccountId" as sub_account_id,
    "ChargeCategory" as line_item_type,
    count(*) as rows_read,
    coalesce(sum("BilledCost"), 0) as delivered_cost,
    coalesce(sum("BilledCost"), 0) as "raw: BilledCost",
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
group by 1, 2, 3, 4, 5
