-- What clusters cost on each day, by namespace or service, with what nothing used and what is told apart no further.
-- What splits give and take is not counted in.
-- grain: one row per day, payer, cluster, namespace, kind, project, team and currency
-- key: source, billing_month, charge_date, provider?, billing_account_id?, cluster_name?, namespace?, kind, project,
-- key: team, billing_currency
with costs as (select * from core.container_cost),
used as (
    select costs.*,
        cast(cast(costs.billed_cost as decimal(24, 12)) * costs.idle_share as decimal(38, 12)) as idle_billed,
        cast(cast(costs.effective_cost as decimal(24, 12)) * costs.idle_share as decimal(38, 12)) as idle_effective,
        cast(cast(costs.cost_before_credits as decimal(24, 12)) * costs.idle_share as decimal(38, 12)) as idle_gross,
        cast(cast(costs.list_cost as decimal(24, 12)) * costs.idle_share as decimal(38, 12)) as idle_list
    from costs
),
parted as (
    select used.source, used.billing_month, used.charge_date, used.provider, used.billing_account_id,
        used.cluster_name, used.namespace, used.kind, used.project, used.team, used.billing_currency,
        used.billed_cost - used.idle_billed as billed_cost, used.effective_cost - used.idle_effective as effective_cost,
        used.cost_before_credits - used.idle_gross as cost_before_credits,
        used.list_cost - used.idle_list as list_cost, used.charge_rows
    from used
    union all
    select used.source, used.billing_month, used.charge_date, used.provider, used.billing_account_id,
        used.cluster_name, used.namespace, 'idle' as kind, used.project, used.team, used.billing_currency,
        used.idle_billed as billed_cost, used.idle_effective as effective_cost, used.idle_gross as cost_before_credits,
        used.idle_list as list_cost, 0 as charge_rows
    from used
    where used.idle_share > 0
)

select parted.source, parted.billing_month, parted.charge_date, parted.provider, parted.billing_account_id,
    parted.cluster_name,
    -- Kubernetes namespace or ECS service that bears the cost; null where none does
    parted.namespace,
    -- namespace: used or reserved; idle: neither; overhead: of GKE's system; remainder: of machine or cluster, told
    -- apart no further
    parted.kind,
    parted.project, parted.team, parted.billing_currency, sum(parted.billed_cost) as billed_cost,
    sum(parted.effective_cost) as effective_cost, sum(parted.cost_before_credits) as cost_before_credits,
    sum(parted.list_cost) as list_cost, cast(sum(parted.charge_rows) as bigint) as charge_rows
from parted
group by parted.source, parted.billing_month, parted.charge_date, parted.provider, parted.billing_account_id,
    parted.cluster_name, parted.namespace, parted.kind, parted.project, parted.team, parted.billing_currency
