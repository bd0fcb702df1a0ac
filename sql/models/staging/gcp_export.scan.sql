-- Facts about a delivery of a Cloud Billing export, and control totals.
-- grain: one row per billing account, currency, project and cost type
-- key: billing_account_id, billing_currency, sub_account_id?, line_item_type
-- The loader adds to this SELECT one count per converted column of what did not convert, and sums the rows up to billing
-- account and currency. Columns named `raw: METRIC` are kept as they are, for the check against invoices.
with
    lines as (select *, gcp_credits(credits) as credit_list from landed)

select
    'Google Cloud' as provider,
    billing_account_id,
    coalesce(currency, getvariable('default_currency')) as billing_currency,
    "project.id" as sub_account_id,
    coalesce(cost_type, 'regular') as line_item_type,
    count(*) as rows_read,
    coalesce(sum(cost), 0) + coalesce(sum(gcp_credit_sum(credit_list)), 0) as delivered_cost,
    coalesce(sum(rest_cost), 0) + coalesce(sum(gcp_credit_rest(credit_list)), 0) as rounded_cost,
    delivered_cost as "raw: BilledCost",
    coalesce(sum(cost), 0) as "raw: Cost",
    coalesce(sum(gcp_credit_sum(credit_list)), 0) as "raw: Credits",
    count(*) filter (where cost is null and bad_cost is null) as "noted: empty cost read as 0",
    count(*) filter (
        where usage_start_time is null and bad_usage_start_time is null
    ) as "noted: empty usage start, the billing period's taken",
    count(customer_cost) as "noted: reseller's export, the cost to the reseller taken and not customer_cost",
    count(*) filter (where usage_end_time is null) as "noted: empty usage end, the billing period's taken",
    count(*) filter (where "invoice.month" is null) as "noted: empty invoice month, the month of the usage taken",
    count(*) filter (
        where "invoice.month" is not null and try_strptime("invoice.month", '%Y%m') is null
    ) as "noted: invoice month is no YYYYMM, the month of the usage taken",
    count(*) filter (
        where date_trunc('month', gcp_invoice_month("invoice.month", usage_start_time))
            <> getvariable('billing_month')
    ) as "noted: billing period other than that of the delivery",
    histogram(
        case when cost_type in ('regular', 'tax', 'adjustment', 'rounding_error', 'credit') then null else cost_type end
    ) as "noted: unknown cost type",
from lines
group by 1, 2, 3, 4, 5
