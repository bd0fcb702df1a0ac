-- Commitments by month: what they cost, how much of them was used, what they saved against public prices, their end.
-- grain: one row per source, month, billing account, commitment and currency
-- key: source, billing_month, billing_account_id?, commitment_discount_id?, billing_currency?
-- materialized: full
with used as (select * from core.commitments_used),
load_commitments as (select * from ops.load_commitment),
loads as (select * from ops.load),
night as (select * from settings.night),
-- A commitment that was changed ends when its last load says.
latest as (
    select loads.source, load_commitments.billing_account_id, load_commitments.commitment_discount_id,
        max(loads.billing_month) as billing_month
    from load_commitments
    inner join loads on load_commitments.load_id = loads.load_id
    where loads.is_current and load_commitments.ends_at is not null and load_commitments.commitment_discount_id <> ''
    group by loads.source, load_commitments.billing_account_id, load_commitments.commitment_discount_id
),
terms as (
    select latest.source, latest.billing_account_id, latest.commitment_discount_id,
        cast(min(load_commitments.starts_at) as date) as starts_on,
        cast(max(load_commitments.ends_at) as date) as ends_on
    from latest
    inner join loads on latest.source = loads.source and latest.billing_month = loads.billing_month
    inner join load_commitments
        on loads.load_id = load_commitments.load_id
        and latest.billing_account_id = load_commitments.billing_account_id
        and latest.commitment_discount_id = load_commitments.commitment_discount_id
    where loads.is_current
    group by latest.source, latest.billing_account_id, latest.commitment_discount_id
),
dated as (
    select used.*, terms.starts_on, terms.ends_on, date_diff('day', night.as_of, terms.ends_on) as days_left
    from used
    left join terms
        on used.source = terms.source and used.billing_account_id = terms.billing_account_id
        and used.commitment_discount_id = terms.commitment_discount_id
    left join night on true
)

select
    dated.source,
    -- First day of the invoice month
    dated.billing_month,
    -- Cloud provider
    dated.provider,
    -- Payer: AWS management account, GCP billing account
    dated.billing_account_id,
    -- Savings Plan, reservation or committed use discount; null for charges that name none
    nullif(dated.commitment_discount_id, '') as commitment_discount_id,
    dated.commitment_type,
    dated.commitment_category,
    dated.billing_currency,
    dated.purchase_cost,
    dated.used_cost,
    dated.unused_cost,
    -- Used cost of used and unused, [%]; null where it is not known what is unused
    case
        when dated.is_unused_known
        then cast(
            cast(100 * dated.used_cost as double) / nullif(cast(dated.used_cost + dated.unused_cost as double), 0)
            as decimal(12, 4)
        )
    end as utilisation_percent,
    dated.covered_list_cost,
    dated.eligible_list_cost,
    -- Covered of eligible usage, at public prices [%]; null where it covers none
    cast(
        cast(100 * dated.covered_list_cost as double) / nullif(cast(dated.eligible_list_cost as double), 0)
        as decimal(12, 4)
    ) as coverage_percent,
    -- What usage would have cost more at public prices, less what is unused: usage alone counts, no purchase
    dated.covered_list_cost - dated.used_cost - dated.unused_cost as savings_cost,
    dated.is_unused_known,
    dated.used_quantity,
    dated.unused_quantity,
    dated.commitment_unit,
    -- First day of its term; null where the export does not say
    dated.starts_on,
    -- Day on which it ends; null where the export does not say
    dated.ends_on,
    -- Days from the night's day until then; negative where it has ended
    dated.days_left,
    -- expired, within 7 days, within 30 days, within 60 days or later; null where the end is not known
    case
        when dated.days_left < 0 then 'expired'
        when dated.days_left <= 7 then 'within 7 days'
        when dated.days_left <= 30 then 'within 30 days'
        when dated.days_left <= 60 then 'within 60 days'
        when dated.days_left is not null then 'later'
    end as expiry
from dated
