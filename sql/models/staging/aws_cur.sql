-- AWS's Cost and Usage Report, legacy or 2.0, as the stored columns of a part.
-- grain: one row per delivered line, negations of Savings Plans apart, and one row per residual that they leave
-- key: x_RowNumber
-- Source: AWS CUR data dictionary, "Line item details"; FOCUS 1.2, BilledCost and EffectiveCost.
with
    lines as (
        select
            *,
            coalesce(line_item_line_item_type, 'Usage') as item_type,
            coalesce(bill_payer_account_id, line_item_usage_account_id) as payer,
            list_contains(
                getvariable('net_payers'), coalesce(bill_payer_account_id, line_item_usage_account_id)
            ) as is_net,
            -- Lines of capacity reservations name those in the reservation's column; other usage is under no commitment.
            case
                when line_item_line_item_type is distinct from 'Usage'
                    and not coalesce(contains(reservation_reservation_a_r_n, ':capacity-reservation/'), false)
                then coalesce(savings_plan_savings_plan_a_r_n, reservation_reservation_a_r_n)
            end as commitment,
        from landed
        where line_item_line_item_type is distinct from 'SavingsPlanNegation'
            and not focus.aws_is_split_row(line_item_operation)
    ),

    costed as (
        select
            *,
            case
                when is_net and focus.aws_is_discount(item_type) then 0
                when is_net then coalesce(line_item_net_unblended_cost, line_item_unblended_cost, 0)
                else coalesce(line_item_unblended_cost, 0)
            end as delivered_cost,
            case
                when is_net
                then
                    aws_covered(
                        item_type,
                        coalesce(reservation_net_effective_cost, reservation_effective_cost),
                        coalesce(savings_plan_net_savings_plan_effective_cost, savings_plan_savings_plan_effective_cost)
                    )
                else aws_covered(item_type, reservation_effective_cost, savings_plan_savings_plan_effective_cost)
            end as covered_cost,
            case
                when item_type not in ('RIFee', 'SavingsPlanRecurringFee') then null
                when is_net
                then
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
                    )
                else
                    aws_unused(
                        item_type,
                        reservation_unused_amortized_upfront_fee_for_billing_period,
                        reservation_unused_recurring_fee,
                        savings_plan_total_commitment_to_date,
                        savings_plan_used_commitment
                    )
            end as unused_cost,
        from lines
    ),

    charges as (
        select
            *,
            case when item_type = 'SavingsPlanCoveredUsage' then 0 else delivered_cost end as billed_cost,
            -- A fee's unused part becomes a charge of its own (aws_unused.sql): the fee keeps nothing of it.
            aws_amortised(
                item_type,
                delivered_cost,
                covered_cost,
                0,
                reservation_reservation_a_r_n,
                focus.aws_is_purchase_refund(
                    item_type,
                    line_item_product_code,
                    savings_plan_savings_plan_a_r_n,
                    line_item_line_item_description
                ),
                amortises_reservations,
                amortises_plans
            ) as effective_cost,
        from costed
    )

select
    row_number as "x_RowNumber",
    line_item_availability_zone as "AvailabilityZone",
    cast(billed_cost as decimal(38, 12)) as "BilledCost",
    payer as "BillingAccountId",
    bill_payer_account_name as "BillingAccountName",
    coalesce(line_item_currency_code, getvariable('default_currency')) as "BillingCurrency",
    coalesce(
        capacity_reservation_capacity_reservation_arn,
        case
            when contains(reservation_reservation_a_r_n, ':capacity-reservation/') then reservation_reservation_a_r_n
        end
    ) as "CapacityReservationId",
    coalesce(
        capacity_reservation_capacity_reservation_status,
        case
            when contains(reservation_reservation_a_r_n, ':capacity-reservation/')
            then case when contains(line_item_usage_type, 'Unused') then 'Unused' else 'Used' end
        end
    ) as "CapacityReservationStatus",
    case
        when bill_bill_type = 'Refund' or line_item_usage_start_date < getvariable('billing_month') then 'Correction'
    end as "ChargeClass",
    line_item_line_item_description as "ChargeDescription",
    coalesce(line_item_usage_end_date, getvariable('next_billing_month')) as "ChargePeriodEnd",
    coalesce(line_item_usage_start_date, getvariable('billing_month')) as "ChargePeriodStart",
    commitment as "CommitmentDiscountId",
    case
        when commitment is null then null
        when item_type = 'SavingsPlanCoveredUsage' then cast(savings_plan_savings_plan_effective_cost as double)
        when item_type = 'SavingsPlanRecurringFee'
        then cast(coalesce(savings_plan_recurring_commitment_for_billing_period, delivered_cost) as double)
        when item_type = 'RIFee' then coalesce(reservation_total_reserved_units, line_item_usage_amount)
        when item_type in ('DiscountedUsage', 'Fee') then line_item_usage_amount
        when item_type = 'SavingsPlanUpfrontFee' then cast(delivered_cost as double)
    end as "CommitmentDiscountQuantity",
    -- The on-demand price stands for the negotiated one under a commitment: its rate is no negotiated price.
    case
        when item_type in ('DiscountedUsage', 'SavingsPlanCoveredUsage')
        then coalesce(pricing_public_on_demand_cost, line_item_unblended_cost, 0)
        else billed_cost
    end as "ContractedCost",
    cast(effective_cost as decimal(38, 12)) as "EffectiveCost",
    bill_invoice_id as "InvoiceId",
    case
        when item_type in ('Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage')
        then coalesce(pricing_public_on_demand_cost, line_item_unblended_cost, 0)
        else billed_cost
    end as "ListCost",
    pricing_public_on_demand_rate as "ListUnitPrice",
    pricing_currency as "PricingCurrency",
    line_item_usage_amount as "PricingQuantity",
    pricing_unit as "PricingUnit",
    nullif(line_item_legal_entity, 'Amazon Web Services, Inc.') as "PublisherName",
    coalesce(
        nullif(product_region_code, 'global'),
        nullif(regexp_extract(line_item_availability_zone, '^([a-z]+(?:-[a-z]+)+-\d+)', 1), ''),
        aws_region_of_usage_type(line_item_usage_type)
    ) as "RegionId",
    private_resource(line_item_resource_id) as "ResourceId",
    case
        when line_item_product_code = 'AmazonEC2' and contains(line_item_usage_type, 'EBS:')
        then 'Amazon Elastic Block Store'
        when product_product_family = 'Data Transfer' then 'AWS Data Transfer'
        else coalesce(product_product_name, line_item_product_code, 'Unknown')
    end as "ServiceName",
    product_sku as "SkuId",
    case
        when product_instance_type is not null
        then
            cast(
                {
                    'InstanceType': product_instance_type,
                    'InstanceSeries': product_instance_family,
                    'OperatingSystem': product_operating_system,
                    'CoreCount': try_cast(product_vcpu as integer),
                    'MemorySize': product_memory,
                    'GpuCount': product_gpu
                }::json as varchar
            )
    end as "SkuPriceDetails",
    coalesce(pricing_rate_code, pricing_rate_id) as "SkuPriceId",
    line_item_usage_account_id as "SubAccountId",
    line_item_usage_account_name as "SubAccountName",
    private_tags(tags_text) as "Tags",
    -- Known from the combination of its tags, or worked out of their text; the texts go to a table of their own.
    coalesce(tag_set_id, tag_set_id(private_tags(tags_text), cost_categories_text)) as "x_TagSetId",
    item_type as "x_LineItemType",
    line_item_operation as "x_Operation",
    line_item_usage_type as "x_UsageType",
    line_item_product_code as "x_ServiceCode",
    bill_invoicing_entity as "x_InvoicingEntity",
    line_item_unblended_cost as "x_UnblendedCost",
    line_item_net_unblended_cost as "x_NetUnblendedCost",
    discounts_text as "x_Discounts",
    cost_categories_text as "x_CostCategories",
    -- For the unused part of a fee and for the amortisation identity; no column of FOCUS.
    cast(
        case
            when case when item_type = 'RIFee' then amortises_reservations else amortises_plans end is not null then unused_cost
        end as decimal(38, 12)
    ) as unused_cost,
    case
        when item_type = 'RIFee' then reservation_unused_quantity
        when item_type = 'SavingsPlanRecurringFee'
        then
            cast(savings_plan_total_commitment_to_date - coalesce(savings_plan_used_commitment, 0) as double)
    end as unused_quantity,
    case
        when item_type = 'RIFee' then least(reservation_end_time, getvariable('next_billing_month'))
    end as commitment_end,
    cast(
        case
            when item_type = 'RIFee' and is_net
            then
                coalesce(
                    reservation_net_amortized_upfront_fee_for_billing_period,
                    reservation_amortized_upfront_fee_for_billing_period
                )
            when item_type = 'RIFee' then reservation_amortized_upfront_fee_for_billing_period
            when item_type = 'SavingsPlanRecurringFee' and is_net
            then
                coalesce(
                    savings_plan_net_amortized_upfront_commitment_for_billing_period,
                    savings_plan_amortized_upfront_commitment_for_billing_period
                )
            when item_type = 'SavingsPlanRecurringFee'
            then savings_plan_amortized_upfront_commitment_for_billing_period
        end as decimal(38, 12)
    ) as amortised_upfront_cost,
    case
        when item_type in ('RIFee', 'SavingsPlanRecurringFee') then coalesce(savings_plan_start_time, reservation_start_time)
    end as term_start,
    case
        when item_type in ('RIFee', 'SavingsPlanRecurringFee') then coalesce(savings_plan_end_time, reservation_end_time)
    end as term_end,
from charges
