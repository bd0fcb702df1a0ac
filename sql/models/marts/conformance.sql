-- Where charges break rules of FOCUS 1.2, with how many do; nothing where all hold. What would make numbers wrong is
-- refused by the load; the rest is loaded as it was delivered and shown here.
-- grain: one row per source, month and rule that is broken
-- key: source, billing_month, rule
-- materialized: full
with values_broken as (select * from core.values_broken),
prices_broken as (select * from core.prices_broken),
names_broken as (select * from core.names_broken),
services_named as (select * from core.services_named),
commitments_broken as (select * from core.commitments_broken),
loads as (select * from ops.load),
services_broken as (
    select services_named.source, services_named.billing_month, 'service_category_allowed' as rule,
        'ServiceCategory is one of the 19 of FOCUS' as requirement, services_named.charge_rows as violating_rows
    from services_named
    where not services_named.is_category_known
    union all
    select services_named.source, services_named.billing_month, 'service_subcategory_allowed',
        'ServiceSubcategory is one of its ServiceCategory', services_named.charge_rows
    from services_named
    where not services_named.is_subcategory_known
    union all
    select services_named.source, services_named.billing_month, 'service_one_category',
        'a ServiceName has one ServiceCategory', services_named.charge_rows
    from services_named
    where services_named.is_category_divided
),
broken as (
    select * from values_broken
    union all
    select * from prices_broken
    union all
    select * from names_broken
    union all
    select * from services_broken
    union all
    select * from commitments_broken
),
totals as (
    select broken.source, broken.billing_month, broken.rule, broken.requirement,
        sum(broken.violating_rows) as violating_rows
    from broken
    group by broken.source, broken.billing_month, broken.rule, broken.requirement
)

select
    -- Source that delivered the charges
    totals.source,
    -- First day of the invoice month
    totals.billing_month,
    -- Short name of the rule
    totals.rule,
    -- What it asks
    totals.requirement,
    -- Charges that break it; commitments where the rule is about those (commitment_..._conserved)
    cast(totals.violating_rows as bigint) as violating_rows,
    -- Charges of the source and month
    loads.rows_loaded as charge_rows
from totals
inner join loads on totals.source = loads.source and totals.billing_month = loads.billing_month
where loads.is_current
