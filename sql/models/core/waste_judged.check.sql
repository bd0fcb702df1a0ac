-- check: what counts as wasted in a source is not above what its charges come to, refunds apart
with wasted as (
    select source, billing_currency, min(window_start) as window_start, max(window_end) as window_end,
        sum(wasted_cost) as wasted_cost
    from core.waste_judged
    where is_counted
    group by source, billing_currency
),
spent as (
    select wasted.source, wasted.billing_currency, wasted.wasted_cost,
        sum(case when costs.cost_before_credits > 0 then costs.cost_before_credits else 0 end) as spent_cost
    from wasted
    left join core.charge_cube as costs
        on wasted.source = costs.source and wasted.billing_currency = costs.billing_currency
        and costs.charge_date >= wasted.window_start and costs.charge_date < wasted.window_end
    group by wasted.source, wasted.billing_currency, wasted.wasted_cost
)
select * from spent where wasted_cost > coalesce(spent_cost, 0)
