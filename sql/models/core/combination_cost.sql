-- What each combination of core.combination costs in a month, which is what attribution has to explain.
-- grain: one row per combination, provider and currency
-- key: source, billing_month, combination_number, provider?, billing_currency
with charges as (select * from core.charge_cube)

select
    charges.source,
    charges.billing_month,
    charges.combination_number,
    charges.provider,
    charges.billing_currency,
    sum(charges.effective_cost) as effective_cost,
    cast(sum(charges.charge_rows) as bigint) as charge_rows
from charges
group by
    charges.source,
    charges.billing_month,
    charges.combination_number,
    charges.provider,
    charges.billing_currency
