-- check: changes of a month add up to its last total less its first, per currency
with changes as (
    select source, billing_month, billing_currency, sum(change_cost) as change_cost
    from marts.restatements
    group by source, billing_month, billing_currency
),
spans as (
    select source, billing_month, min(sequence) as first_sequence, max(sequence) as last_sequence
    from ops.load
    group by source, billing_month
),
ends as (
    select
        spans.source,
        spans.billing_month,
        totals.billing_currency,
        sum(
            case
                when spans.first_sequence = spans.last_sequence then 0
                when loads.sequence = spans.last_sequence then totals.billed_cost
                else -totals.billed_cost
            end
        ) as change_cost
    from spans
    inner join ops.load as loads
        on spans.source = loads.source
        and spans.billing_month = loads.billing_month
        and (spans.first_sequence = loads.sequence or spans.last_sequence = loads.sequence)
    inner join ops.load_total as totals on loads.load_id = totals.load_id
    group by spans.source, spans.billing_month, totals.billing_currency
)
select ends.source, ends.billing_month, ends.change_cost, changes.change_cost as restated_cost
from ends
left join changes
    on ends.source = changes.source
    and ends.billing_month = changes.billing_month
    and ends.billing_currency = changes.billing_currency
where ends.change_cost <> coalesce(changes.change_cost, 0)

-- check: a load after a final one is marked, and no other
select restatements.source, restatements.billing_month, restatements.load_number, restatements.is_after_final
from marts.restatements as restatements
where restatements.is_after_final <> exists (
    select 1
    from core.loads_judged as earlier
    where earlier.source = restatements.source
        and earlier.billing_month = restatements.billing_month
        and earlier.sequence < restatements.load_number
        and earlier.status = 'final'
)

-- check: a month in force whose cost changed after it was final is restated
select restatements.source, restatements.billing_month, months.status
from marts.restatements as restatements
inner join marts.month_status as months
    on restatements.source = months.source and restatements.billing_month = months.billing_month
where restatements.is_after_final and restatements.change_cost <> 0
    and months.status not in ('restated', 'open', 'no data')
