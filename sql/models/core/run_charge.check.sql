-- check: no charge stands under more than one kind of evidence and none costs more than its month
select costs.source, costs.billing_month, costs.billing_currency, costs.cost_before_credits
from (
    select source, billing_month, billing_currency, count(*) as rows_of_costs,
        sum(cost_before_credits) as cost_before_credits
    from core.run_charge
    group by source, billing_month, billing_currency
) as costs
left join (
    select x_Source as source, x_BillingMonth as billing_month, BillingCurrency as billing_currency,
        sum(abs(EffectiveCost - coalesce(x_PromotionalCredit, 0))) as cost_at_most
    from focus.cost_and_usage
    group by x_Source, x_BillingMonth, BillingCurrency
) as months
    on costs.source = months.source and costs.billing_month = months.billing_month
    and costs.billing_currency = months.billing_currency
where months.cost_at_most is null or abs(costs.cost_before_credits) > months.cost_at_most
