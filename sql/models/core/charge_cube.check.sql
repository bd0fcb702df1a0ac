-- check: attribution keeps every cost: money and charges equal those of focus.cost_and_usage, per currency
with built as (
    select
        billing_currency,
        sum(billed_cost) as billed_cost,
        sum(effective_cost) as effective_cost,
        sum(cost_before_credits) as cost_before_credits,
        sum(list_cost) as list_cost,
        sum(contracted_cost) as contracted_cost,
        sum(promotional_credit) as promotional_credit,
        sum(charge_rows) as charge_rows
    from core.charge_cube
    group by billing_currency
),
given as (
    select
        BillingCurrency as billing_currency,
        sum(BilledCost) as billed_cost,
        sum(EffectiveCost) as effective_cost,
        sum(EffectiveCost) - coalesce(sum(x_PromotionalCredit), 0) as cost_before_credits,
        sum(
            case when ChargeCategory = 'Purchase' and CommitmentDiscountId is not null then 0 else ListCost end
        ) as list_cost,
        sum(
            case when ChargeCategory = 'Purchase' and CommitmentDiscountId is not null then 0 else ContractedCost end
        ) as contracted_cost,
        coalesce(sum(x_PromotionalCredit), 0) as promotional_credit,
        count(*) as charge_rows
    from focus.cost_and_usage
    group by BillingCurrency
)
select * from built except select * from given
union all
(select * from given except select * from built)
