-- Facts about a delivery of AWS's Cost and Usage Report that the load needs before it begins, and control totals.
-- grain: one row per billing account and currency
-- key: billing_account_id, billing_currency
-- The loader adds to this SELECT one count per converted column of what did not convert.
with
    facts as (
select
    coalesce(bill_payer_account_id, line_item_usage_account_id) as billing_account_id,
    coalesce(line_item_currency_code, getvariable('default_currency')) as billing_currency,
    count(*) as rows_read,
    count(line_item_net_unblended_cost) > 0 as is_net,
    -- Cost as delivered, gross: the bill of a payer without net columns.
    coalesce(sum(line_item_unblended_cost) filter (where not focus.aws_is_split_row(line_item_operation)), 0) as gross_cost,
    -- Cost as delivered, net: discounts are inside the rows, so rows that repeat them do not count.
    coalesce(
        sum(
            case
                when focus.aws_is_discount(line_item_line_item_type) then 0
                when focus.aws_is_split_row(line_item_operation) then 0
                else coalesce(line_item_net_unblended_cost, line_item_unblended_cost)
            end
        ),
        0
    ) as net_cost,
    coalesce(sum(rest_line_item_unblended_cost) filter (where not focus.aws_is_split_row(line_item_operation)), 0) as gross_rest,
    coalesce(
        sum(coalesce(rest_line_item_net_unblended_cost, rest_line_item_unblended_cost)) filter (
            where not focus.aws_is_split_row(line_item_operation)
        ),
        0
    ) as net_rest,
    -- What the negations of a Savings Plan leave of the usage that they cancel.
    coalesce(
        sum(line_item_unblended_cost) filter (
            where line_item_line_item_type in ('SavingsPlanCoveredUsage', 'SavingsPlanNegation')
                and not focus.aws_is_split_row(line_item_operation)
        ),
        0
    ) as gross_residual,
    coalesce(
        sum(coalesce(line_item_net_unblended_cost, line_item_unblended_cost)) filter (
            where line_item_line_item_type in ('SavingsPlanCoveredUsage', 'SavingsPlanNegation')
                and not focus.aws_is_split_row(line_item_operation)
        ),
        0
    ) as net_residual,
    count(*) filter (
        where line_item_line_item_type = 'SavingsPlanNegation' and not focus.aws_is_split_row(line_item_operation)
    ) as "dropped: Savings Plan negation, cancelled against the usage that it covers",
    count(*) filter (
        where focus.aws_is_split_row(line_item_operation)
    ) as "dropped: split cost allocation row, part of its parent's cost",
    count(*) filter (
        where focus.aws_is_split_row(line_item_operation)
            and (line_item_unblended_cost <> 0 or line_item_net_unblended_cost <> 0)
    ) as "noted: cost of its own on a split cost allocation row, not counted",
    count(*) filter (
        where line_item_unblended_cost is null and bad_line_item_unblended_cost is null
            and not focus.aws_is_split_row(line_item_operation)
    ) as "noted: empty cost read as 0",
    count(*) filter (
        where line_item_usage_start_date is null and bad_line_item_usage_start_date is null
    ) as "noted: empty usage start, the billing period's taken",
    count(*) filter (
        where line_item_usage_end_date is null
    ) as "noted: empty usage end, the billing period's taken",
    count(*) filter (
        where line_item_line_item_type is null
    ) as "noted: empty line item type read as Usage",
    count(*) filter (
        where date_trunc('month', coalesce(bill_billing_period_start_date, line_item_usage_start_date))
            <> getvariable('billing_month')
    ) as "noted: billing period other than that of the delivery",
    histogram(
        case
            when line_item_line_item_type in (
                'Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage', 'SavingsPlanNegation', 'RIFee',
                'SavingsPlanRecurringFee', 'SavingsPlanUpfrontFee', 'Fee', 'Tax', 'Credit', 'Refund',
                'OtherOutOfCycleCharges', 'FlatRateSubscription'
            ) or focus.aws_is_discount(line_item_line_item_type) then null
            else line_item_line_item_type
        end
    ) as "noted: unknown line item type",
from landed
group by 1, 2
    )

select
    * exclude (is_net, gross_cost, net_cost, gross_residual, net_residual, gross_rest, net_rest),
    'AWS' as provider,
    bool_or(is_net) over payer as is_net,
    case when bool_or(is_net) over payer then net_cost else gross_cost end as delivered_cost,
    case when bool_or(is_net) over payer then net_rest else gross_rest end as rounded_cost,
    case when bool_or(is_net) over payer then net_residual else gross_residual end as residual_cost,
from facts
window payer as (partition by billing_account_id)
