-- What finance has to know about months that were thought settled: a final month whose effective cost is not proven,
-- and a month that was final and is billed otherwise now.
-- grain: one row per kind of news, load in force and currency
-- key: news, load_id, billing_currency?
-- materialized: full
with months as (select * from marts.month_status),
reconciled as (select * from marts.reconciliation),
restated as (select * from marts.restatements),
loads as (select * from ops.load)

select
    -- unproven or restated
    'unproven' as news,
    -- Load in force
    reconciled.load_id,
    reconciled.source,
    reconciled.billing_month,
    reconciled.billing_currency,
    -- unproven: what effective costs of commitments miss against their fees; restated: the change of billed cost
    sum(reconciled.amortisation_gap_cost) as news_cost
from reconciled
inner join months on reconciled.source = months.source and reconciled.billing_month = months.billing_month
where reconciled.effective_cost_state = 'unproven' and months.status in ('final', 'restated')
group by reconciled.load_id, reconciled.source, reconciled.billing_month, reconciled.billing_currency
union all
select
    'restated' as news,
    restated.load_id,
    restated.source,
    restated.billing_month,
    restated.billing_currency,
    restated.change_cost as news_cost
from restated
inner join loads
    on restated.load_id = loads.load_id and restated.source = loads.source
    and restated.billing_month = loads.billing_month
where loads.is_current and restated.is_after_final and restated.change_cost <> 0
