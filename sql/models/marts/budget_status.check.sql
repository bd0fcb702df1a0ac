-- check: spend of a budget equals its daily spend in the period, through the night's day
select status.budget_id, status.period_start, status.spent_amount, sum(spend.spent_amount) as daily_amount
from marts.budget_status as status
cross join settings.night as night
left join core.budget_daily_spend as spend
    on status.budget_id = spend.budget_id
    and spend.charge_date >= status.period_start
    and spend.charge_date < status.period_end
    and spend.charge_date <= night.as_of
where status.state <> 'unknown'
group by status.budget_id, status.period_start, status.spent_amount
having status.spent_amount <> coalesce(sum(spend.spent_amount), 0)

-- check: every budget has a state
select budgets.budget_id
from settings.budget as budgets
cross join settings.night as night
left join marts.budget_status as status on budgets.budget_id = status.budget_id
where status.budget_id is null

-- warn: a budget whose charges are in another currency cannot be judged
select budget_id, reason from marts.budget_status where state = 'unknown'
