-- check: hours and costs in the bill equal those of core.gpu_hours_billed, per month and currency
select built.source, built.billing_month, built.gpu_hours, given.gpu_hours
from (
    select source, billing_month, billing_currency, sum(gpu_hours) as gpu_hours, sum(billed_cost) as billed_cost
    from marts.gpu_hours
    where measured_by = 'bill'
    group by source, billing_month, billing_currency
) as built
full join (
    select source, billing_month, billing_currency, sum(gpu_hours) as gpu_hours, sum(billed_cost) as billed_cost
    from core.gpu_hours_billed
    group by source, billing_month, billing_currency
) as given
    on built.source = given.source and built.billing_month = given.billing_month
    and built.billing_currency is not distinct from given.billing_currency
where built.gpu_hours is distinct from given.gpu_hours or built.billed_cost is distinct from given.billed_cost
-- check: hours that runs held equal those of marts.run_daily_use where they are known
select built.source, built.charge_date, built.gpu_hours, given.gpu_hours
from (
    select source, charge_date, count(*) as hour_rows, count(gpu_hours) as known_rows, sum(gpu_hours) as gpu_hours
    from marts.gpu_hours
    where measured_by = 'run'
    group by source, charge_date
) as built
full join (
    select source, charge_date, count(*) as hour_rows, count(gpu_hours) as known_rows, sum(gpu_hours) as gpu_hours
    from marts.run_daily_use
    where gpu_hours is null or gpu_hours > 0
    group by source, charge_date
) as given
    on built.source = given.source and built.charge_date = given.charge_date
where (given.hour_rows = given.known_rows and built.gpu_hours is distinct from given.gpu_hours)
    or (built.hour_rows is null) <> (given.hour_rows is null)
