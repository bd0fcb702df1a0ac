-- check: sums keep every cost: money and charges equal those of focus.cost_and_usage, per currency
with built as (
    select
        kinds.billing_currency,
        sum(sums.billed_cost) as billed_cost,
        sum(sums.effective_cost) as effective_cost,
        sum(sums.effective_cost - sums.promotional_credit) as cost_before_credits,
        sum(sums.list_cost) as list_cost,
        sum(sums.contracted_cost) as contracted_cost,
        sum(sums.promotional_credit) as promotional_credit,
        sum(sums.charge_rows) as charge_rows
    from core.charge_sum as sums
    left join core.charge_kind as kinds
        on sums.billing_month = kinds.billing_month and sums.kind_number = kinds.kind_number
    group by kinds.billing_currency
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
