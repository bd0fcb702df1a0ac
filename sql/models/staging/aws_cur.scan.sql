-- Facts about a delivery of AWS's Cost and Usage Report that the load needs before it begins, and control totals.
-- grain: one row per billing account, currency, usage account, line item type and whether rows are split cost allocation
-- key: billing_account_id, billing_currency, sub_account_id, line_item_type, is_split
-- The loader adds to this SELECT one count per converted column of what did not convert, and sums the rows up to billing
-- account and currency. Columns named `raw: METRIC` are kept as they are, for the check against Cost Explorer.
with
    lines as (
        select
            *,
            coalesce(line_item_line_item_type, 'Usage') as item_type,
            focus.aws_is_split_row(line_item_operation) as is_split,
            focus.aws_is_purchase_refund(
                line_item_line_item_type,
                line_item_product_code,
                savings_plan_savings_plan_a_r_n,
                line_item_line_item_description
            ) as is_purchase_refund,
            -- Net, discounts are inside the rows, so rows that repeat them do not count.
            case
                when focus.aws_is_discount(line_item_line_item_type) then 0
                else coalesce(line_item_net_unblended_cost, line_item_unblended_cost)
            end as net_unblended_cost,
            case
                when focus.aws_is_discount(line_item_line_item_type) then 0
                else coalesce(rest_line_item_net_unblended_cost, rest_line_item_unblended_cost)
            end as net_rest,
        from landed
    ),

    facts as (
select
    coalesce(bill_payer_account_id, line_item_usage_account_id) as billing_account_id,
    coalesce(line_item_currency_code, getvariable('default_currency')) as billing_currency,
    line_item_usage_account_id as sub_account_id,
    item_type as line_item_type,
    is_split,
    count(*) as rows_read,
    count(line_item_net_unblended_cost) > 0 as is_net,
    coalesce(sum(line_item_unblended_cost), 0) as gross_cost,
    coalesce(sum(net_unblended_cost), 0) as net_cost,
    coalesce(
        sum(
            aws_amortised(
                item_type,
                line_item_unblended_cost,
                aws_covered(item_type, reservation_effective_cost, savings_plan_savings_plan_effective_cost),
                aws_unused(
                    item_type,
                    reservation_unused_amortized_upfront_fee_for_billing_period,
                    reservation_unused_recurring_fee,
                    savings_plan_total_commitment_to_date,
                    savings_plan_used_commitment
                ),
                reservation_reservation_a_r_n,
                is_purchase_refund,
                amortises_reservations,
                amortises_plans
            )
        ),
        0
    ) as gross_amortised,
    coalesce(
        sum(
            aws_amortised(
                item_type,
                net_unblended_cost,
                aws_covered(
                    item_type,
                    coalesce(reservation_net_effective_cost, reservation_effective_cost),
                    coalesce(savings_plan_net_savings_plan_effective_cost, savings_plan_savings_plan_effective_cost)
                ),
                aws_net_unused(
                    item_type,
                    coalesce(
                        reservation_net_unused_amortized_upfront_fee_for_billing_period,
                        reservation_unused_amortized_upfront_fee_for_billing_period
                    ),
                    coalesce(reservation_net_unused_recurring_fee, reservation_unused_recurring_fee),
                    savings_plan_total_commitment_to_date,
                    savings_plan_used_commitment,
                    savings_plan_net_recurring_commitment_for_billing_period,
                    savings_plan_net_amortized_upfront_commitment_for_billing_period
                ),
                reservation_reservation_a_r_n,
                is_purchase_refund,
                amortises_reservations,
                amortises_plans
            )
        ),
        0
    ) as net_amortised,
    coalesce(sum(rest_line_item_unblended_cost), 0) as gross_rest,
    coalesce(sum(net_rest), 0) as net_rest,
    case
        when item_type = 'SavingsPlanNegation' and not is_split then count(*)
    end as "dropped: Savings Plan negation, cancelled against the usage that it covers",
    case when is_split then count(*) end as "dropped: split cost allocation row, part of its parent's cost",
    count(*) filter (
        where is_split and (line_item_unblended_cost <> 0 or line_item_net_unblended_cost <> 0)
    ) as "noted: cost of its own on a split cost allocation row, not counted",
    count(*) filter (
        where line_item_unblended_cost is null and bad_line_item_unblended_cost is null and not is_split
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
    case
        when coalesce(line_item_type not in (
            'Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage', 'SavingsPlanNegation', 'RIFee',
            'SavingsPlanRecurringFee', 'SavingsPlanUpfrontFee', 'Fee', 'Tax', 'Credit', 'Refund',
            'OtherOutOfCycleCharges', 'FlatRateSubscription'
        ) and not focus.aws_is_discount(line_item_type), false) then map {item_type: count(*)}
    end as "noted: unknown line item type",
    case
        when item_type in ('DiscountedUsage', 'RIFee') then count(*) filter (where amortises_reservations is null)
    end as "noted: reservation without amortised costs, EffectiveCost is BilledCost",
    case
        when item_type in ('SavingsPlanCoveredUsage', 'SavingsPlanRecurringFee', 'SavingsPlanUpfrontFee')
        then count(*) filter (where amortises_plans is null)
    end as "noted: Savings Plan without amortised costs, EffectiveCost is BilledCost",
    case
        when item_type = 'RIFee'
        then
            count(*) filter (
                where amortises_reservations is not null
                    and reservation_unused_recurring_fee is null
                    and reservation_unused_amortized_upfront_fee_for_billing_period is null
            )
        when item_type = 'SavingsPlanRecurringFee'
        then count(*) filter (where amortises_plans is not null and savings_plan_total_commitment_to_date is null)
    end as "noted: recurring fee that does not tell what of it is unused",
    count(*) filter (where bill_payer_account_id is null) as "noted: no payer account, the usage account taken",
from lines
group by 1, 2, 3, 4, 5
    ),

    payers as (
        select
            * replace (bool_or(is_net and not is_split) over (partition by billing_account_id) as is_net),
            bool_or(focus.aws_is_discount(line_item_type)) over (partition by billing_account_id) as has_discounts,
            line_item_type in ('SavingsPlanCoveredUsage', 'SavingsPlanNegation') as is_cancelled,
        from facts
    ),

    -- Discounts inside net columns and discounts as rows come to one invoice: where an export has both, they are compared.
    compared as (
        select
            *,
            is_net
            and has_discounts
            and abs(
                sum(case when not is_split then gross_cost - net_cost end) over (
                    partition by billing_account_id, billing_currency
                )
            ) > 0.01 as is_contradictory,
        from payers
    )

select
    * exclude (gross_cost, net_cost, gross_amortised, net_amortised, gross_rest, net_rest, is_cancelled, is_split, has_discounts, is_contradictory),
    'AWS' as provider,
    case when not is_split then gross_cost end as "raw: UnblendedCost",
    case when not is_split and is_net then net_cost end as "raw: NetUnblendedCost",
    case when not is_split then gross_amortised end as "raw: AmortizedCost",
    case when not is_split and is_net then net_amortised end as "raw: NetAmortizedCost",
    case when is_split then 0 when is_net then net_cost else gross_cost end as delivered_cost,
    case when is_split then 0 when is_net then net_rest else gross_rest end as rounded_cost,
    -- What the negations of Savings Plans leave of the usage that they cancel.
    case when is_split or not is_cancelled then 0 when is_net then net_cost else gross_cost end as residual_cost,
    case
        when is_contradictory and focus.aws_is_discount(line_item_type) then rows_read
    end as "noted: discount row that net costs do not account for",
from compared
