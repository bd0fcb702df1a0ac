-- check: what is unused of commitments equals the charges for it
select found.billing_currency, found.unused_cost, charged.unused_cost
from (
    select used.source, used.billing_month, used.billing_currency, sum(used.unused_cost) as unused_cost
    from core.commitments_used as used
    group by used.source, used.billing_month, used.billing_currency
) as found
full join (
    select charges.x_Source as source, charges.x_BillingMonth as billing_month,
        charges.BillingCurrency as billing_currency, sum(charges.EffectiveCost) as unused_cost
    from focus.cost_and_usage as charges
    where charges.ChargeCategory = 'Usage' and coalesce(charges.PricingCategory, '') <> 'Dynamic'
        and (charges.CommitmentDiscountStatus = 'Unused' or charges.x_RowNumber < 0)
    group by charges.x_Source, charges.x_BillingMonth, charges.BillingCurrency
) as charged
    on found.source = charged.source and found.billing_month = charged.billing_month
    and found.billing_currency is not distinct from charged.billing_currency
where coalesce(found.unused_cost, 0) <> coalesce(charged.unused_cost, 0)
