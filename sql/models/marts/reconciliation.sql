-- Proof that the tables tie: what each load delivered against what the marts hold.
-- grain: one row per load in force, provider, billing account and currency; a load without charges has one row
-- key: load_id, provider?, billing_account_id?, billing_currency?
-- materialized: full
with current_loads as (select * from ops.load where is_current),
load_totals as (select * from ops.load_total),
commitments as (select * from core.amortisation),
costs as (select * from marts.monthly_cost),
checks as (select * from marts.invoice_reconciliation where is_latest),
counts as (
    select load_counts.load_id,
        sum(case when load_counts.effect = 'dropped' then load_counts."rows" else 0 end) as rows_dropped,
        sum(case when load_counts.effect = 'added' then load_counts."rows" else 0 end) as rows_added
    from ops.load_count as load_counts group by load_counts.load_id
),
invoiced as (
    select checks.load_id, checks.billing_account_id, checks.billing_currency,
        sum(checks.invoiced_cost) as invoiced_cost, max(checks.checked_at) as invoices_checked_at,
        min(case when checks.outcome in ('ties', 'rounding') then 1 else 0 end) = 1 as invoices_tie
    from checks group by checks.load_id, checks.billing_account_id, checks.billing_currency
),
mart_totals as (
    select current_loads.load_id, costs.provider, costs.billing_account_id, costs.billing_currency,
        sum(costs.billed_cost) as mart_cost, sum(costs.charge_rows) as mart_rows
    from costs inner join current_loads
        on costs.source = current_loads.source and costs.billing_month = current_loads.billing_month
    group by current_loads.load_id, costs.provider, costs.billing_account_id, costs.billing_currency
),
totals as (
    select load_id, provider, billing_account_id, billing_currency from load_totals union
    select load_id, provider, billing_account_id, billing_currency from mart_totals
),
compared as (
    select totals.*, coalesce(load_totals.rows_loaded, 0) as rows_loaded,
        coalesce(load_totals.delivered_cost, 0) as delivered_cost, coalesce(load_totals.billed_cost, 0) as billed_cost,
        coalesce(load_totals.rounded_cost, 0) as rounded_cost, coalesce(mart_totals.mart_cost, 0) as mart_cost,
        coalesce(mart_totals.mart_cost, 0) = coalesce(load_totals.billed_cost, 0)
            and coalesce(mart_totals.mart_cost, 0) = coalesce(load_totals.delivered_cost, 0)
            and coalesce(mart_totals.mart_rows, 0) = coalesce(load_totals.rows_loaded, 0) as is_equal
    from totals
    left join load_totals
        on totals.load_id = load_totals.load_id and totals.provider is not distinct from load_totals.provider
        and totals.billing_account_id is not distinct from load_totals.billing_account_id
        and totals.billing_currency is not distinct from load_totals.billing_currency
    left join mart_totals
        on totals.load_id = mart_totals.load_id and totals.provider is not distinct from mart_totals.provider
        and totals.billing_account_id is not distinct from mart_totals.billing_account_id
        and totals.billing_currency is not distinct from mart_totals.billing_currency
)

select
    -- Load in force
    current_loads.load_id,
    current_loads.source, current_loads.billing_month, compared.provider,
    -- Payer: AWS management account, GCP billing account
    compared.billing_account_id,
    -- Rows in the files of the load as a whole, the same on each of its rows
    current_loads.rows_read as load_rows_read,
    -- Charges in the load as a whole
    current_loads.rows_loaded as load_rows_loaded,
    -- Rows of the load dropped by a named rule, see ops.load_count
    cast(coalesce(counts.rows_dropped, 0) as bigint) as load_rows_dropped,
    -- Rows of the load added by a named rule, see ops.load_count
    cast(coalesce(counts.rows_added, 0) as bigint) as load_rows_added,
    -- Charges loaded for this provider, billing account and currency
    coalesce(compared.rows_loaded, 0) as rows_loaded,
    compared.billing_currency,
    -- Sum of the delivered cost column, read apart from the load
    compared.delivered_cost,
    -- Sum of BilledCost as loaded
    compared.billed_cost,
    -- What rounding each row at 12 decimals took from the delivered costs
    compared.rounded_cost,
    -- Sum of billed_cost in marts.monthly_cost
    compared.mart_cost,
    -- Mart less delivered: zero where it ties
    compared.mart_cost - compared.delivered_cost as difference_cost,
    -- Whether delivered, loaded and mart totals are equal, and rows read less dropped plus added are the rows loaded
    coalesce(compared.is_equal, true) and current_loads.rows_loaded
        = current_loads.rows_read - coalesce(counts.rows_dropped, 0) + coalesce(counts.rows_added, 0) as ties,
    -- Savings Plans and reservations with charges; ops.load_commitment has each
    coalesce(commitments.commitment_count, 0) as commitment_count,
    -- What their effective costs miss, or have too much, against what they cost: absolute amounts added up
    coalesce(commitments.gap_cost, 0) as amortisation_gap_cost,
    -- proven: no commitment misses more than a cent; unproven: one does, or it cannot be checked; as delivered
    current_loads.effective_cost_state,
    -- Total of the invoices last compared with the account's load, tax included, of all providers; null without any
    invoiced.invoiced_cost,
    -- Whether they tied but for rounding; null where none were compared
    invoiced.invoices_tie,
    -- When they were compared, UTC
    invoiced.invoices_checked_at
from current_loads left join compared on current_loads.load_id = compared.load_id
left join counts on current_loads.load_id = counts.load_id
left join commitments
    on current_loads.load_id = commitments.load_id and compared.billing_account_id = commitments.billing_account_id
    and compared.billing_currency = commitments.billing_currency
left join invoiced
    on current_loads.load_id = invoiced.load_id and compared.billing_account_id = invoiced.billing_account_id
    and compared.billing_currency = invoiced.billing_currency
