-- What an AWS line costs once commitments are spread over the usage that they cover: covered usage its part of the
-- commitment, a recurring fee what of it no usage took, one-time fees and negations nothing, all else as delivered.
-- `delivered`, `covered` and `unused` are all gross or all net. A commitment whose amortised costs the export does not
-- carry (`amortises_reservations` or `amortises_plans` null) stays as billed.
-- Source: AWS CUR data dictionary, reservation and Savings Plan details; FOCUS 1.2, EffectiveCost.
create or replace temporary macro aws_amortised(
    item_type, delivered, covered, unused, reservation, is_purchase_refund, amortises_reservations, amortises_plans
) as
    case
        when item_type = 'Usage' then delivered
        when item_type = 'DiscountedUsage' then case when amortises_reservations is null then delivered else coalesce(covered, delivered) end
        when item_type = 'SavingsPlanCoveredUsage' then case when amortises_plans is null then 0 else coalesce(covered, delivered) end
        when item_type = 'SavingsPlanNegation' then 0
        when item_type = 'RIFee' then case when amortises_reservations is null then delivered else coalesce(unused, 0) end
        when item_type = 'SavingsPlanRecurringFee' then case when amortises_plans is null then delivered else coalesce(unused, 0) end
        when item_type = 'SavingsPlanUpfrontFee' then case when amortises_plans is null then delivered else 0 end
        when item_type = 'Fee' and reservation is not null and amortises_reservations is not null then 0
        when is_purchase_refund then 0
        else delivered
    end;

-- The part of a commitment that covered usage is charged; null for other lines.
create or replace temporary macro aws_covered(item_type, reservation_cost, plan_cost) as
    case
        when item_type = 'DiscountedUsage' then reservation_cost
        when item_type = 'SavingsPlanCoveredUsage' then plan_cost
    end;

-- What no usage took of the commitment that a recurring fee is for; null for other lines, and where it is unknown.
create or replace temporary macro aws_unused(item_type, unused_upfront, unused_recurring, plan_total, plan_used) as
    case
        when item_type = 'RIFee' then coalesce(unused_upfront + unused_recurring, unused_upfront, unused_recurring)
        when item_type = 'SavingsPlanRecurringFee' then plan_total - coalesce(plan_used, 0)
    end;

-- The same after negotiated discounts. No source publishes the net unused part of a Savings Plan: the share of the
-- commitment that no usage took, of what the commitment costs net. Worked out as DOUBLE, which 12 places round exactly.
create or replace temporary macro aws_net_unused(
    item_type, unused_upfront, unused_recurring, plan_total, plan_used, net_recurring, net_upfront
) as
    case
        when item_type <> 'SavingsPlanRecurringFee' or coalesce(net_recurring, net_upfront) is null or plan_total = 0
        then aws_unused(item_type, unused_upfront, unused_recurring, plan_total, plan_used)
        else try_cast(
            cast(coalesce(net_recurring, 0) + coalesce(net_upfront, 0) as double)
            * cast(plan_total - coalesce(plan_used, 0) as double) / cast(plan_total as double) as decimal(38, 12)
        )
    end
