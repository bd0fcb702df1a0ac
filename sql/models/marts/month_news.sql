-- What finance has to know about months that were thought settled: a final month whose effective cost is not proven,
-- and a month that was final and is billed otherwise now.
-- grain: one row per kind of news, load in force and currency
-- key: news, load_id, billing_currency?
-- materialized: full
with months as (select * from marts.month_status),
reconciled as (select * from marts.reconciliation),
restating as (select * from core.loads_restating),
loads as (select * from ops.load),
load_totals as (select * from ops.load_total),
quiet_sources as (select * from settings.quiet_source),
changes as (
    select restating.load_id, load_totals.billing_currency, load_totals.billed_cost as change_cost
    from restating
    inner join load_totals on restating.load_id = load_totals.load_id
    union all
    select restating.load_id, load_totals.billing_currency, -load_totals.billed_cost as change_cost
    from restating
    inner join load_totals on restating.final_load_id = load_totals.load_id
)

select
    -- unproven or restated
    'unproven' as news,
    -- Load in force
    reconciled.load_id,
    -- The [[source]] of the configuration that delivered the month
    reconciled.source,
    reconciled.billing_month,
    reconciled.billing_currency,
    -- unproven: what effective costs of commitments miss against their fees; restated: billed cost less that when final
    sum(reconciled.amortisation_gap_cost) as news_cost
from reconciled
inner join months on reconciled.source = months.source and reconciled.billing_month = months.billing_month
left join quiet_sources on reconciled.source = quiet_sources.source
where reconciled.effective_cost_state = 'unproven' and months.status in ('final', 'restated')
    -- Google Cloud's exports never carry amortised costs, so that their absence is no news; a gap is.
    and (quiet_sources.source is null or reconciled.amortisation_gap_cost <> 0)
group by reconciled.load_id, reconciled.source, reconciled.billing_month, reconciled.billing_currency
union all
select
    'restated' as news,
    loads.load_id,
    loads.source,
    loads.billing_month,
    changes.billing_currency,
    sum(changes.change_cost) as news_cost
from changes
inner join loads on changes.load_id = loads.load_id
where loads.is_current
group by loads.load_id, loads.source, loads.billing_month, changes.billing_currency
having sum(changes.change_cost) <> 0
