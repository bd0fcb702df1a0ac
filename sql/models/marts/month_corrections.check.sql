-- check: closed figures and corrections come to what the month is now, by project, team and currency
with sides as (
    select source, billing_month, project, team, billing_currency,
        closed_billed_cost + accrued_billed_cost as billed_cost,
        closed_effective_cost + accrued_effective_cost as effective_cost
    from core.closing_compared
    union all
    select source, billing_month, project, team, billing_currency, billed_correction_cost, effective_correction_cost
    from marts.month_corrections
    union all
    select costs.source, costs.billing_month, costs.project, costs.team, costs.billing_currency,
        -costs.billed_cost, -costs.effective_cost
    from marts.monthly_cost as costs
    inner join settings.closed_month as closed_months on costs.billing_month = closed_months.billing_month
)
select source, billing_month, project, team, billing_currency, sum(billed_cost) as difference_cost
from sides
group by source, billing_month, project, team, billing_currency
having sum(billed_cost) <> 0 or sum(effective_cost) <> 0
