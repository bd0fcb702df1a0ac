-- Hours of GPUs, TPU chips and other accelerators in the bill, and what they cost. Machines that containers share are
-- shared as their cost is; what splits give and take is not counted in.
-- grain: one row per day, provider, project, team, environment, workload, accelerator, pricing, measure and currency
-- key: source, billing_month, charge_date, provider?, project, team, environment, workload, accelerator_kind,
-- key: accelerator, pricing, measured_by, billing_currency
with costs as (select * from core.accelerator_cost),
usages as (select * from core.accelerator_usage),
shares as (select * from core.split_share),
attribution as (select * from core.attribution),
used as (select * from core.inputs_used),
bearers as (
    select shares.source, shares.billing_month, shares.charge_date, shares.billing_currency,
        shares.parent_resource_id, shares.resource_id, shares.tag_set_id, shares.sub_account_id, shares.share_from,
        shares.share_until, true as is_container
    from shares
    union all
    select shares.source, shares.billing_month, shares.charge_date, shares.billing_currency,
        shares.parent_resource_id, null as resource_id, null as tag_set_id, null as sub_account_id,
        max(shares.share_until) as share_from, cast(1 as decimal(13, 12)) as share_until, false as is_container
    from shares
    group by shares.source, shares.billing_month, shares.charge_date, shares.billing_currency,
        shares.parent_resource_id having max(shares.share_until) < 1
),
-- A machine without containers bears all: from 0 to 1.
borne as (
    select costs.source, costs.billing_month, costs.charge_date, costs.provider, costs.billing_account_id,
        costs.region_id, costs.service_name, costs.charge_category, usages.accelerator_kind,
        usages.accelerator, costs.pricing, costs.billing_currency,
        cast(costs.hours * usages.accelerator_count as decimal(24, 9)) as accelerator_hours,
        cast(costs.billed_cost as decimal(24, 12)) as billed_cost,
        cast(costs.effective_cost as decimal(24, 12)) as effective_cost,
        cast(costs.cost_before_credits as decimal(24, 12)) as cost_before_credits,
        cast(costs.list_cost as decimal(24, 12)) as list_cost,
        coalesce(bearers.resource_id, costs.resource_id) as resource_id,
        case when bearers.is_container then bearers.tag_set_id else costs.tag_set_id end as tag_set_id,
        case when bearers.is_container then bearers.sub_account_id else costs.sub_account_id end as sub_account_id,
        coalesce(bearers.share_from, cast(0 as decimal(13, 12))) as share_from,
        coalesce(bearers.share_until, cast(1 as decimal(13, 12))) as share_until
    from costs
    inner join usages
        on costs.source = usages.source and costs.billing_month = usages.billing_month
        and costs.usage_type = usages.usage_type and costs.provider is not distinct from usages.provider
        and costs.service_code is not distinct from usages.service_code
    left join bearers
        on costs.source = bearers.source and costs.billing_month = bearers.billing_month
        and costs.charge_date = bearers.charge_date and costs.billing_currency = bearers.billing_currency
        and costs.resource_id = bearers.parent_resource_id
),
-- What lies between the bounds of a bearer is its own, so that rounded parts add up.
parted as (
    select borne.*,
        cast(borne.accelerator_hours * borne.share_until as decimal(38, 9))
        - cast(borne.accelerator_hours * borne.share_from as decimal(38, 9)) as hours,
        cast(borne.billed_cost * borne.share_until as decimal(38, 12))
        - cast(borne.billed_cost * borne.share_from as decimal(38, 12)) as billed,
        cast(borne.effective_cost * borne.share_until as decimal(38, 12))
        - cast(borne.effective_cost * borne.share_from as decimal(38, 12)) as effective,
        cast(borne.cost_before_credits * borne.share_until as decimal(38, 12))
        - cast(borne.cost_before_credits * borne.share_from as decimal(38, 12)) as gross,
        cast(borne.list_cost * borne.share_until as decimal(38, 12))
        - cast(borne.list_cost * borne.share_from as decimal(38, 12)) as listed
    from borne
)

select parted.source, parted.billing_month, parted.charge_date, parted.provider, attribution.project, attribution.team,
    attribution.environment, attribution.workload, parted.accelerator_kind, parted.accelerator, parted.pricing,
    parted.billing_currency,
    -- bill: hours charged for
    'bill' as measured_by,
    -- Hours charged for times accelerators (chips of TPUs); null where unknown, 0 for unused reservations
    cast(case when parted.pricing = 'unused reservation' then 0
        when count(parted.hours) = count(*) then sum(parted.hours) end as decimal(38, 9)) as gpu_hours,
    -- The same of reserved capacity that no machine ran on
    cast(case when parted.pricing <> 'unused reservation' then 0
        when count(parted.hours) = count(*) then sum(parted.hours) end as decimal(38, 9)) as unused_gpu_hours,
    -- Hours in which they computed: null, since no bill tells
    cast(null as decimal(38, 9)) as utilised_gpu_hours,
    -- As billed: of whole machines on AWS, of GPU and TPU lines alone on Google Cloud; no disks, traffic, fees, tax
    sum(parted.billed) as billed_cost,
    -- The same with commitments spread over the usage that they cover, without what is unused of them
    sum(parted.effective) as effective_cost,
    -- Effective cost before promotional credits
    sum(parted.gross) as cost_before_credits,
    -- The same at public prices
    sum(parted.listed) as list_cost
from parted
inner join used on parted.billing_month = used.billing_month
inner join attribution
    on parted.source = attribution.source and parted.billing_month = attribution.billing_month
    and parted.tag_set_id is not distinct from attribution.tag_set_id
    and parted.sub_account_id is not distinct from attribution.sub_account_id
    and attribution.provider is not distinct from case when used.uses_provider then parted.provider end
    and attribution.billing_account_id is not distinct from parted.billing_account_id
    and attribution.region_id is not distinct from parted.region_id
    and attribution.service_name is not distinct from parted.service_name
    and attribution.charge_category is not distinct from parted.charge_category
    and attribution.resource_id is not distinct from case when used.uses_resource then parted.resource_id end
group by parted.source, parted.billing_month, parted.charge_date, parted.provider, attribution.project,
    attribution.team, attribution.environment, attribution.workload, parted.accelerator_kind, parted.accelerator,
    parted.pricing, parted.billing_currency
