-- Costs of a month by all that splits look at, and by day where a split goes by days. Empty where no split is in force.
-- grain: one row per combination of names, payer, service, kind of charge and currency
-- key: billing_month, group_number
with costs as (select * from core.costs_attributed),
splits as (select * from settings.split),
months as (
    select distinct costs.billing_month
    from costs
),
in_force as (
    select months.billing_month, max(case when splits.is_daily then 1 else 0 end) as goes_by_days
    from months
    inner join splits
        on (splits.from_month is null or splits.from_month <= months.billing_month)
        and (splits.until_month is null or months.billing_month < splits.until_month)
    group by months.billing_month
),
grouped as (
    select costs.billing_month, case when in_force.goes_by_days = 1 then costs.charge_date end as charge_date,
        costs.provider, costs.billing_account_id, costs.project, costs.team, costs.environment, costs.workload,
        costs.cost_centre, costs.gl_account, costs.service_name, costs.service_category, costs.charge_category,
        costs.commitment_discount_status, costs.billing_currency, sum(costs.billed_cost) as billed_cost,
        sum(costs.effective_cost) as effective_cost
    from costs
    inner join in_force on costs.billing_month = in_force.billing_month
    group by costs.billing_month, case when in_force.goes_by_days = 1 then costs.charge_date end, costs.provider,
        costs.billing_account_id, costs.project, costs.team, costs.environment, costs.workload, costs.cost_centre,
        costs.gl_account, costs.service_name, costs.service_category, costs.charge_category,
        costs.commitment_discount_status, costs.billing_currency
)

select
    grouped.billing_month,
    -- Number of the group within the month
    row_number() over (
        order by grouped.billing_currency, grouped.charge_date, grouped.provider, grouped.billing_account_id,
            grouped.project, grouped.team, grouped.environment, grouped.workload, grouped.cost_centre,
            grouped.gl_account, grouped.service_name, grouped.service_category, grouped.charge_category,
            grouped.commitment_discount_status
    ) as group_number,
    -- Day, UTC; null in a month in which no split goes by days
    grouped.charge_date, grouped.provider, grouped.billing_account_id, grouped.project, grouped.team,
    grouped.environment, grouped.workload, grouped.cost_centre, grouped.gl_account, grouped.service_name,
    grouped.service_category, grouped.charge_category, grouped.commitment_discount_status, grouped.billing_currency,
    grouped.billed_cost, grouped.effective_cost
from grouped
