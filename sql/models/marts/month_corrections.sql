-- What closed months have come to since: the difference between now and the closed figures, by project and cause.
-- grain: one row per source, closed month, project, team, currency and cause with a difference
-- key: source, billing_month, project, team, billing_currency, cause
-- materialized: full
with compared as (select * from core.closing_compared),
closed_months as (select * from settings.closed_month),
closed_loads as (select * from settings.closed_load),
loads as (select * from ops.load),
restating as (select * from core.loads_restating),
in_force as (select * from loads where is_current),
judged as (
    select
        compared.*,
        closed_months.closed_at,
        -- The version is the hash of the files: the same charges, whatever loaded them again.
        in_force.load_id is not null and in_force.version is not distinct from closed_loads.version as is_same_load,
        case
            when in_force.load_id is null and closed_loads.source is not null then 'source dropped'
            when coalesce(closed_loads.status, 'no data') in ('final', 'restated') or restating.load_id is not null
                then 'restatement'
            else 'late charge'
        end as data_cause
    from compared
    inner join closed_months on compared.billing_month = closed_months.billing_month
    left join closed_loads
        on compared.billing_month = closed_loads.billing_month and compared.source = closed_loads.source
    left join in_force on compared.billing_month = in_force.billing_month and compared.source = in_force.source
    left join restating on in_force.load_id = restating.load_id
),
corrections as (
    select
        judged.source, judged.billing_month, judged.project, judged.team, judged.data_cause as cause,
        judged.billing_currency, judged.closed_at,
        case when judged.is_same_load then 0 else judged.then_billed_cost - judged.closed_billed_cost end
        - judged.accrued_billed_cost as billed_correction_cost,
        case when judged.is_same_load then 0 else judged.then_effective_cost - judged.closed_effective_cost end
        - judged.accrued_effective_cost as effective_correction_cost
    from judged
    union all
    select
        judged.source, judged.billing_month, judged.project, judged.team, 'rule change' as cause,
        judged.billing_currency, judged.closed_at,
        judged.now_billed_cost
        - case when judged.is_same_load then judged.closed_billed_cost else judged.then_billed_cost end
            as billed_correction_cost,
        judged.now_effective_cost
        - case when judged.is_same_load then judged.closed_effective_cost else judged.then_effective_cost end
            as effective_correction_cost
    from judged
)

select
    -- Source of the charges
    corrections.source,
    -- First day of the closed invoice month
    corrections.billing_month,
    -- Project that pays, as now; for what was closed, as then
    corrections.project,
    -- Team that answers, likewise
    corrections.team,
    -- late charge: delivered after the closing, or accrued and not delivered; restatement: the same where the month was
    -- final; rule change: the same charges attributed, shared or converted otherwise; source dropped: nothing of the
    -- source is loaded any more
    corrections.cause,
    -- ISO 4217 code of every amount on the row
    corrections.billing_currency,
    -- Billed cost of now less that of the closing
    corrections.billed_correction_cost,
    -- Effective cost of now less that of the closing
    corrections.effective_correction_cost,
    -- When the month was closed, UTC
    corrections.closed_at
from corrections
where corrections.billed_correction_cost <> 0 or corrections.effective_correction_cost <> 0
